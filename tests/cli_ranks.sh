#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes that the program starts itself, --ranks and --gpus: the same answers,
# reports and statuses as under mpirun; one that dies or hangs ends the others,
# an interrupt reaches all, and nothing is left behind.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
mark=$(basename "$work") # of the processes of this test
# What the kernel has of others' memory comes and goes; ours is called tacit-...
# files of processes that are no more: others are of tests that run beside this one
in_shm() {
    find /dev/shm -name 'tacit-*' -user "$(id -u)" 2>/dev/null | sort | while read -r file; do
        owner=${file#*/tacit-}
        [ -d "/proc/${owner%%-*}" ] || echo "$file"
    done
}
before=$(in_shm)

# The names in a report, in their order.
# names; and the values of decisions, which --deterministic takes from no clock
fields() {
    grep -o '"[a-z0-9_]*":' "$1"
    grep -E '"(what|outcome|products|cost|gain)":' "$1"
}

# the same bits as ranks of MPI that share memory, and the same report
for n in 1 2 3 4; do
    accepted solve poisson3d:17 --ranks $n --rtol 1e-9 --deterministic -o own.mtx --json own.json
    valid_json own.json
    grep -q "\"ranks\":[[:space:]]*$n," own.json || complain "$n ranks: not in the report"
    grep -q '"outcome":' own.json || complain "$n ranks: nothing was decided"
    [ -n "$MPIRUN" ] || continue
    comm=shm
    [ $n -gt 1 ] || comm=auto
    run $n solve poisson3d:17 --comm $comm --rtol 1e-9 --deterministic -o mpi.mtx --json mpi.json
    [ $status = 0 ] || complain "mpirun, $n ranks: status $status"
    cmp -s own.mtx mpi.mtx || complain "$n ranks: not the bits of MPI"
    fields own.json >own.fields
    fields mpi.json >mpi.fields
    cmp -s own.fields mpi.fields || complain "$n ranks: not the report of MPI"
done

# files are read and dealt out, rows come back in order
accepted convert tet3d:6,1 tet.mtx
accepted solve tet.mtx --rhs ones --rtol 1e-10 -o one.mtx
accepted solve tet.mtx --rhs ones --rtol 1e-10 -o three.mtx --ranks 3
paste one.mtx three.mtx | awk 'NR > 2 && NF == 2 && ($1 - $2 > 1e-8 || $2 - $1 > 1e-8) \
    { bad = 1 } END { exit bad }' || complain 'another solution on 3 ranks'
"$TACIT" solve - --ranks 3 --rhs ones -q -o - <tet.mtx >piped.mtx || complain 'from a pipe'
[ "$(wc -l <piped.mtx)" = "$(wc -l <one.mtx)" ] || complain 'a pipe: other rows'

# what rank 0 says is said once, wherever the others are
accepted solve poisson2d:20 --ranks 3 --json -
valid_json out
for command in 'compare poisson2d:20 --repeat 1' 'bench reduce --repeat 3' \
    'bench exchange poisson2d:30 --repeat 3'; do
    # shellcheck disable=SC2086 # words
    accepted $command --ranks 3
    [ "$(grep -c '	shm\|^shm	' out)" -gt 0 ] || complain "$command: no link shm"
done

# statuses, with one line
said() { # STATUS TEXT ARGUMENTS...
    want=$1
    text=$2
    shift 2
    run 1 "$@"
    [ $status = "$want" ] || complain "tacit $*: status $status, not $want"
    [ "$(complaints | wc -l)" = 1 ] || complain "tacit $*: not one line"
    has err "$text"
}
said 2 'cannot be opened' solve nosuch.mtx --ranks 3
said 3 'not converged' solve poisson3d:10 --ranks 3 --max-iterations 2 -q
said 4 'breakdown' solve poisson3d:10 --ranks 3 --shift -5 -q
said 1 '--ranks' solve poisson3d:4 --ranks 0
said 1 'give one of them' solve poisson3d:4 --ranks 2 --gpus 2
[ -z "$MPIRUN" ] ||
    said 1 '--comm mpi is not for --ranks 3' solve poisson3d:4 --ranks 3 --comm mpi
said 1 '--comm self is not for --ranks 3' solve poisson3d:4 --ranks 3 --comm self
said 1 '--gpus is for --device cuda' solve poisson3d:4 --gpus 3 --device host
said 1 "unknown option '--ranks'" info poisson3d:4 --ranks 2
said 1 'of 3 processes' trsv poisson3d:4 --ranks 3 --grid 1x1x2
said 1 'power of two' trsv poisson3d:4 --ranks 3 --grid 1x1x3
said 1 'has 1 leaf' trsv poisson3d:4 --ranks 2 --grid 1x1x2 --leaves 1
said 1 'of one grid' trsv poisson3d:4 --ranks 2 --grid 1x1x2 --scheme 2d
accepted solve --ranks 3 --help
[ "$(grep -c '^usage' out)" = 1 ] || complain 'help: not once'
if [ -n "$MPIRUN" ]; then
    run 2 solve poisson3d:4 --ranks 2
    [ $status = 1 ] || complain "--ranks under mpirun: status $status"
    [ "$(complaints | wc -l)" = 1 ] || complain '--ranks under mpirun: not one line'
    has err 'leave it out under mpirun, which has started 2'
fi

# without a GPU, and with more ranks than there are
if ! "$TACIT" devices | grep -q '^device	cuda	yes	'; then
    run 1 solve poisson3d:4 --gpus 2
    [ $status = 1 ] || [ $status = 5 ] || complain "--gpus without one: status $status"
    [ "$(complaints | wc -l)" = 1 ] || complain '--gpus without one: not one line'
    has err "cuda"
else
    said 5 'say --oversubscribe' solve poisson3d:4 --gpus 40
    has err '40 ranks and '
fi

# gone WHAT: soon nothing is left of what was started
gone() {
    none_left "$mark.mtx" "$1"
    [ "$(in_shm)" = "$before" ] || complain "$1: left in /dev/shm: $(in_shm)"
}

# a rank that is lost: killed at once, silent when the others have lost patience
export TACIT_PATIENCE=2
for who in 0 2; do
    for how in '' ,600; do
        label="lose($who,$((200 + who))$how)"
        run 1 solve poisson3d:30 --ranks 4 --rtol 1e-10 -o "$mark.mtx" --decorate "$label"
        [ $status = 5 ] || complain "$label: status $status, not 5"
        # by one rank; two, where the first is slow to end the others
        said="rank $who was killed by signal 9"
        [ -z "$how" ] || said="rank $who has not answered for 2 s"
        has err "$said"
        [ "$(complaints | grep -vcF "$said")" = 0 ] || complain "$label: something else is said"
        [ ! -e "$mark.mtx" ] || complain "$label: there is a solution"
        gone "$label"
    done
done
unset TACIT_PATIENCE

endless="solve poisson1d:400000 --rtol 1e-9 --max-iterations 100000000 -v --ranks 3 -o $mark.mtx"

# each of the ranks, from outside; the program is the parent of all
for nth in 1 3; do
    rm -f err
    # shellcheck disable=SC2086 # words
    "$TACIT" $endless >out 2>err &
    under_way
    kill -9 "$(ps -o pid= --ppid $! | sed -n "${nth}p")"
    start=$(now_ms)
    wait $!
    status=$?
    elapsed=$(($(now_ms) - start))
    [ $status = 5 ] || complain "rank $((nth - 1)) killed: status $status"
    has err "rank $((nth - 1)) was killed by signal 9"
    [ $elapsed -lt 40000 ] || complain "rank $((nth - 1)) killed: $elapsed ms"
    gone "rank $((nth - 1)) killed"
done

# an interrupt: report and outputs are of the best iterate
for signal in INT TERM; do
    rm -f err
    # shellcheck disable=SC2086 # words
    "$TACIT" $endless --json r.json >out 2>err &
    under_way
    kill -$signal $!
    wait $!
    status=$?
    [ $status = 3 ] || complain "$signal: status $status, not 3"
    [ "$(grep -c 'tacit: interrupted after' err)" = 1 ] || complain "$signal: not one line"
    has out 'interrupted'
    has r.json '"interrupted"'
    [ -s "$mark.mtx" ] || complain "$signal: no solution"
    gone "$signal"
    rm -f r.json "$mark.mtx"
done

# what cannot be passed on ends all the same
rm -f err
# shellcheck disable=SC2086 # words
"$TACIT" $endless >out 2>err &
under_way
kill -9 $!
wait $! 2>/dev/null
gone 'the program is killed'
[ ! -e "$mark.mtx" ] || complain 'the program is killed: there is a solution'
finish

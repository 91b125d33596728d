#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is silent, or dies, in the midst of a solve: the job ends, soon,
# says whom it misses, and leaves no process behind.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
[ -n "$MPIRUN" ] || finish
mark=$(basename "$work") # of the processes of this test
patience=2
export TACIT_PATIENCE=$patience

# lost COMM DECORATOR METHOD: leaves $status; 124 if it takes a minute
lost() {
    label="comm $1, $2, $3"
    run 3 solve poisson3d:30 --comm "$1" --decorate "$2" --method "$3" \
        --rtol 1e-10 -o "$mark.mtx"
    echo "$label: status $status: $(complaints)"
    none_left "$mark.mtx" "$label"
    [ ! -e "$mark.mtx" ] || complain "$label: there is a solution"
}

for comm in shm mpi; do
    for who in 0 2; do # in a sum and in an exchange, or the other way round
        lost $comm "lose($who,$((200 + who)),600)" cg
        [ $status = 5 ] || complain "$label: status $status, not 5"
        # by one rank; two, where the first is slow to end the job
        said=": rank $who has not answered for $patience s"
        has err "$said"
        [ "$(complaints | grep -vcF "$said")" = 0 ] ||
            complain "$label: something else is said"
    done
    # a sum that goes on behind other work: mpi cannot tell who is missing
    lost $comm 'lose(1,200,600)' pipelined
    [ $status = 5 ] || complain "$label: status $status, not 5"
    has err ' has not answered for'
    lost $comm 'lose(1,200)' cg
    [ $status != 0 ] && [ $status != 124 ] || complain "$label: status $status"
done

# a rank that is stopped between two runs, or in one; each rank writes down its number
cat >"$mark-rank" <<'EOF'
#!/bin/sh
echo $$ >"pid.$OMPI_COMM_WORLD_RANK"
exec "$TACIT" "$@"
EOF
chmod 755 "$mark-rank"
# worked FILE: processor time, in hundredths of a second, of the process of that number.
# Ranks that wait for each other take some: a second of it is not spent by starting.
worked() {
    [ -s "$1" ] && sed 's/.*) //' "/proc/$(cat "$1")/stat" 2>/dev/null |
        awk '{print $12 + $13; some = 1} END {exit !some}' || echo 0
}

while read -r words; do
    rm -f pid.*
    # shellcheck disable=SC2086 # words
    timeout 90 $MPIRUN -np 3 "./$mark-rank" $words --repeat 1000000 -q >out 2>err </dev/null &
    for _ in $(seq 300); do
        [ "$(worked pid.2)" -lt 100 ] || break
        sleep 0.1
    done
    kill -STOP "$(cat pid.2)" || complain "$words: over too soon"
    wait $!
    status=$?
    kill -KILL "$(cat pid.2)" 2>/dev/null
    [ $status = 5 ] || complain "$words, rank 2 stopped: status $status, not 5"
    has err "has not answered for $patience s"
done <<'EOF'
trsv poisson2d:4
trsv poisson2d:20
trsv poisson2d:60
bench spmv poisson2d:10
bench reduce
compare poisson1d:3
EOF

# who comes in time is waited for
run 3 solve poisson3d:12 --decorate 'lose(1,30,1)'
[ $status = 0 ] || complain "a late rank: status $status"
TACIT_PATIENCE=long
refused 1 'TACIT_PATIENCE' solve poisson3d:4
finish

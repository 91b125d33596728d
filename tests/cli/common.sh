# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/cli/common.sh - what the tests of the program share: they run $TACIT,
# alone and, where $MPIRUN is set, under it, and compare exit status, messages
# and files. Sourced by tests/cli_*.sh.
: "${TACIT:?set it to the program}"
MPIRUN=${MPIRUN-}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMP_NUM_THREADS=${OMP_NUM_THREADS-1}
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
failures=0
slowest=0

# A format that this build may lack.
npz=$("$TACIT" devices | sed -n 's/^file	\(npz\)	yes	.*/\1/p')

complain() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    sed 's/^/    | /' "$work/err" 2>/dev/null | head -5
}

# Milliseconds of processor time that programs run so far have taken, in $spent:
# on a busy machine the time of the clock says little. Not in a subshell, which
# starts from 0.
count_time() {
    times >"$work/times"
    spent=$(awk 'END {
        for (i = 1; i <= 2; i++) { split($i, t, "m"); s += 60000 * t[1] + 1000 * t[2] }
        printf "%d", s }' "$work/times")
}

# counted ARGUMENTS...: run on one rank; what it took is in $spent.
counted() {
    count_time
    before=$spent
    run 1 "$@"
    count_time
    spent=$((spent - before))
}

# run RANKS ARGUMENTS...: leaves $status, $work/out, $work/err; 124 is a hang
run() {
    ranks=$1
    shift
    if [ "$ranks" = 1 ]; then
        timeout 120 "$TACIT" "$@" >"$work/out" 2>"$work/err"
    else
        # shellcheck disable=SC2086 # $MPIRUN is a command and its options
        timeout 120 $MPIRUN -np "$ranks" "$TACIT" "$@" >"$work/out" 2>"$work/err"
    fi
    status=$?
}

# The lines of complaint, warnings left out (a launcher adds lines of its own).
complaints() { grep '^tacit: ' "$work/err" | grep -v '^tacit: warning: '; }

# refused STATUS TEXT ARGUMENTS...: on 1 and on 4 ranks the program ends with
# STATUS, and with one line that has TEXT in it; with less than a second of
# processor time on one rank. Once in a while a system needs that long to load a
# program it has not seen yet: who is slow may try again.
refused() {
    want=$1
    text=$2
    shift 2
    for np in 1 ${MPIRUN:+4}; do
        label="tacit $* (on $np)"
        if [ "$np" = 1 ]; then
            counted "$@"
            [ $spent -lt 1000 ] || counted "$@"
            [ $spent -le $slowest ] || slowest=$spent
            [ $spent -lt 1000 ] || complain "$label: $spent ms of processor time"
        else
            run "$np" "$@"
        fi
        [ $status = "$want" ] || complain "$label: status $status, not $want"
        [ "$(complaints | wc -l)" = 1 ] || complain "$label: not one line"
        complaints | grep -qF -- "$text" || complain "$label: no '$text'"
    done
}

# told STATUS TEXT ARGUMENTS...: of one process
told() {
    want=$1
    text=$2
    shift 2
    run 1 "$@"
    [ $status = "$want" ] || complain "tacit $*: status $status, not $want"
    [ "$(complaints | wc -l)" = 1 ] || complain "tacit $*: not one line"
    complaints | grep -qF -- "$text" || complain "tacit $*: no '$text'"
}

# solved ARGUMENTS...: on one rank
accepted() {
    run 1 "$@"
    [ $status = 0 ] || complain "tacit $*: status $status"
}

has() { # FILE TEXT
    grep -qF -- "$2" "$work/$1" || complain "$1: no '$2'"
}

# Wait until a solve is under way: -v shows its progress.
under_way() {
    for _ in $(seq 1200); do
        grep -qs 'iteration' err && return
        sleep 0.1
    done
    complain 'no progress is shown'
}

# none_left MARK LABEL: in the end no process is left whose command has MARK in it.
none_left() {
    for _ in $(seq 600); do # what was killed may take a moment to go
        left=$(pgrep -cf "$1")
        [ "$left" = 0 ] && return
        sleep 0.1
    done
    complain "$2: $left processes are left"
}

# valid_json FILE: a skipped check says so
valid_json() {
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$1" >/dev/null || complain "$1: not JSON"
    else
        echo "skipped: python3 is missing, JSON is not parsed"
    fi
}

finish() {
    [ $slowest = 0 ] || echo "slowest refusal on one rank: $slowest ms of processor time"
    [ -n "$MPIRUN" ] || echo "skipped: no MPIRUN, one rank only"
    [ $failures = 0 ] && echo "passed" && exit 0
    echo "$failures failures"
    exit 1
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ctrl-C during a solve: report so far, status 3, outputs written. A rank that
# dies ends the others.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
endless='solve poisson1d:1000000 --rtol 1e-9 --max-iterations 100000000 -v'

# What is left of the solve before would look like progress of the next.
forget() { rm -f err; }

for signal in INT TERM; do
    forget
    # shellcheck disable=SC2086 # words
    "$TACIT" $endless -o x.mtx --json r.json --history h.tsv \
        >out 2>err &
    under_way
    kill -$signal $!
    wait $!
    status=$?
    [ $status = 3 ] || complain "$signal: status $status, not 3"
    has err 'tacit: interrupted after'
    has out 'interrupted'
    has r.json '"interrupted"'
    valid_json r.json
    [ -s x.mtx ] || complain "$signal: no solution"
    [ -s h.tsv ] || complain "$signal: no history"
    rm -f x.mtx r.json h.tsv
done
[ "$(echo *)" = 'err out' ] || complain "files are left: $(echo *)"

# At any other time a signal kills: also while METIS, which would catch it, orders.
"$TACIT" factor poisson3d:100 -v >out 2>err &
for _ in $(seq 600); do
    grep -q 'ordered by METIS' err && break
    sleep 0.1
done
start=$(now_ms)
kill -TERM $!
wait $!
status=$?
[ $status = 143 ] || complain "a signal to METIS: status $status, not 143"
has err '1000000 rows are ordered by METIS'
has err 'as an estimate from 50000 of 1000000 rows'
[ $(($(now_ms) - start)) -lt 5000 ] || complain 'a signal to METIS: it went on'

if [ -n "$MPIRUN" ]; then
    # mpirun answers with a status of its own; the report comes all the same
    forget
    # shellcheck disable=SC2086 # words
    $MPIRUN -np 4 "$TACIT" $endless --json r.json \
        >out 2>err &
    under_way
    kill -INT $!
    wait $!
    has err 'tacit: interrupted after'
    [ "$(grep -c '^tacit: ' err)" = 1 ] || complain 'MPI: not one line'
    has r.json '"interrupted"'

    # a rank that dies
    forget
    # shellcheck disable=SC2086 # words
    $MPIRUN -np 4 "$TACIT" $endless >out 2>err &
    launcher=$!
    under_way
    victim=$(ps -o pid= --ppid $launcher | tail -1)
    if [ -z "$victim" ]; then
        complain 'found no rank to kill'
        kill "$launcher"
    else
        kill -9 "$victim"
    fi
    start=$(now_ms)
    wait $launcher
    status=$?
    elapsed=$(($(now_ms) - start))
    [ $status != 0 ] || complain 'a dead rank goes unnoticed'
    [ $elapsed -lt 40000 ] || complain "the others lived $elapsed ms"
fi
finish

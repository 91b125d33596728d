#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tacit pingpong: a row a size, in both modes, by ranks of its own and under MPI;
# what is wrong is one line before anything starts.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

for mode in fused send ready; do
    accepted pingpong --ranks 2 --min 3000 --max 20000 --trials 1 --mode $mode
    [ "$(awk -F'\t' -v mode=$mode 'NR > 1 && NF == 8 && $2 == mode && $4 > 0 && $8 > 0' out |
        wc -l)" = 3 ] ||
        complain "$mode: $(cat out)"
    [ "$(awk -F'\t' 'NR > 1 { print $1 }' out | tr '\n' ' ')" = \
        '3000 6000 12000 ' ] || complain "$mode: other sizes"
done
accepted pingpong --ranks 2 --min 2K --max 8K --trials 1 --mode ready
[ "$(awk -F'\t' 'NR > 1 { print $1 }' out | tr '\n' ' ')" = '2048 4096 8192 ' ] ||
    complain "sizes with K: $(cat out)"
run 1 pingpong --ranks 4 --min 64 --max 64 --trials 1 --mode fences -q
[ "$status" = 0 ] || complain "4 ranks: status $status"
[ -s out ] && complain '-q prints'
# --min and --max have defaults: the first size is one byte, the last 1G
accepted pingpong --ranks 2 --max 8 --trials 1 --mode send
[ "$(awk -F'\t' 'NR > 1 { print $1 }' out | tr '\n' ' ')" = '1 2 4 8 ' ] ||
    complain "without --min: $(cat out)"
run 1 pingpong --ranks 2 --min 1G --trials 1 --json nowhere/r.json
{ [ "$status" = 2 ] && has err nowhere/r.json; } || complain "without --max: status $status"
if [ -n "$MPIRUN" ]; then
    run 2 pingpong --min 1024 --max 1024 --trials 1
    [ "$status" = 0 ] && [ "$(cut -f 2 out | tr '\n' ' ')" = 'mode mpi fences fused send ready ' ] ||
        complain "under MPI: status $status, $(cat out)"
fi
accepted pingpong -n 2 --min 32 --max 40 --trials 2 --mode fused --json -
python3 - <<'END' || complain 'JSON'
import json
r = json.load(open("out"))
rows = r["results"]
assert [(x["mode"], x["bytes"]) for x in rows] == [
    (m, b) for m in ("fused",) for b in (32,)]
assert all(x["one_way_median"] * 2 == x["round_trip_median"] > 0 for x in rows)
assert all(x["round_trip_interval"] >= 0 and x["trips"] >= 1 for x in rows)
assert r["trials"] == 2 and r["paper"] is False and r["device"] == "host"
END

# alone TEXT ARGUMENTS...: refused where no launcher has started ranks
alone() {
    text=$1
    shift
    run 1 "$@"
    { [ "$status" = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && has err "$text"; } ||
        complain "tacit $*: status $status, no '$text'"
}
alone 'between two processes, and here are 1' pingpong
alone 'between two processes, and here are 3' pingpong --ranks 3
alone 'no size is left' pingpong --ranks 2 --min 4 --max 2
for size in 2G 64Q 1.5M K; do
    alone "or with K, M or G" pingpong --ranks 2 --max $size
done
alone 'needs --device cuda' pingpong --ranks 2 --loop graph
alone "unknown loop 'late'" pingpong --ranks 2 --loop late
alone "--mode mpi" pingpong --ranks 2 --mode mpi
alone "unknown mode 'buffered'" pingpong --ranks 2 --mode buffered
alone 'trials' pingpong --ranks 2 --trials 0
finish

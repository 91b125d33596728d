#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tacit life: gliders and random fields are right by each mode, for blocks of
# one cell, uneven ones and a block that is its own neighbour; what is wrong is
# one line before anything starts.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

# right ROWS: so many rows, of which no cell is wrong
right() {
    [ "$(awk -F'\t' 'NR > 1 && $6 > 0 && $10 == 0 && $11 == 0' out | wc -l)" = "$1" ] ||
        complain "not $1 right rows: $(cat out)"
}
for steps in 1 2 3 102; do
    for ranks in 1 2 3 4; do
        accepted life 40 --steps $steps --trials 1 -n $ranks
        right 4
    done
done
accepted life 8 --steps 70 --trials 2 --ranks 8
right 4
accepted life --edges 16,32,64 --steps 20 --trials 1 -n 2 --mode ready
right 3
accepted life 64 --steps 10 --trials 2 -n 4 --json j.json --png p.png
python3 - <<'END' || complain 'JSON'
import json
r = json.load(open("j.json"))
rows = r["results"]
assert r["ranks"] == 4 and r["steps"] == 10 and len(rows) == 4
assert [x["mode"] for x in rows] == ["fences", "fused", "send", "ready"]
assert all(x["wrong"] == 0 and x["step_median"] > 0 for x in rows)
assert rows[0]["gain"] is None and rows[0]["blocks"] == [2, 2]
assert open("p.png", "rb").read(4)[1:] == b"PNG"
END
accepted life 16 --steps 4 --trials 1 --check none
[ "$(awk -F'\t' 'NR > 1 && $10 == "-" && $11 == "-"' out | wc -l)" = 4 ] ||
    complain '--check none compares'
if [ -n "$MPIRUN" ]; then
    run 2 life 48 --steps 33 --trials 1
    right 5
fi

told 1 'a multiple of 8' life 12
told 1 'N or --edges' life
told 1 'N or --edges' life 8 --edges 8
told 1 'do not fit' life 8 --ranks 128
told 5 'take a smaller field' life 1048576
told 1 'needs --device cuda' life 8 --loop graph --device host
told 1 'unknown mode' life 8 --mode late
if [ "$("$TACIT" devices | awk -F'\t' '$1 == "comm" && $2 == "mpi" { print $3 }')" = yes ]; then
    told 1 'use mpirun' life 8 --mode mpi
fi
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Method direct: a factor, a solve, steps of refinement, and what it has no use for.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

field() { # FILE EXPRESSION: of the report r
    python3 -c "import json; r = json.load(open('$1')); print($2)"
}
reports() { # TEXT: the report has it
    grep -qF -- "$1" out || complain "no '$1' in the report"
}

accepted solve poisson2d:20 --method direct --rtol 1e-13 -o x.mtx --history h.tsv --json r.json
reports "L L', "
reports 'converged: solved with the factor, and 0 steps of refinement'
valid_json r.json
[ "$(wc -l <h.tsv)" = 3 ] || complain 'the history is not of one step'
accepted solve poisson2d:20 --rtol 1e-13 -o cg.mtx
grep -v '^%' x.mtx >one
grep -v '^%' cg.mtx | paste one - |
    awk 'NR > 1 && ($1 - $2 > 1e-11 || $2 - $1 > 1e-11) { bad = 1 } END { exit bad || NR != 401 }' ||
    complain 'another solution than that of cg'

# kinds, by the matrix and by name; orders
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 1 2' '2 2 3' '3 3 1' '1 2 1' '3 1 4' >lu.mtx
printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '3 3 4' '1 1 2' '2 2 -3' '3 3 1' '2 1 1' >ldlt.mtx
accepted solve lu.mtx --method direct --rtol 1e-14
reports 'L U, '
accepted solve ldlt.mtx --method direct --rtol 1e-14
reports "L D L', "
accepted solve poisson2d:9 --method direct --kind lu --order natural
reports 'order natural'
reports 'L U, '
accepted solve poisson2d:9 --precond direct --kind ldlt

# pivots: a circuit and a saddle point, symmetric; rows in another order
printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '4 4 6' '1 1 1' '2 1 -1' '2 2 1.5' '3 2 -0.5' '3 3 0.5' '4 1 1' >mna.mtx
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 3 2' '2 1 3' '3 2 1' '1 2 1' '3 1 4' >rows.mtx
for m in mna rows; do
    how='L U of permuted rows, '
    [ $m = rows ] || how="L D L', scaled, "
    accepted solve $m.mtx --method direct --rtol 1e-14
    reports "$how"
    accepted factor $m.mtx --kind lu --json r.json
    reports 'trial'
    valid_json r.json
    grep -q '"trials"' r.json || complain "$m: no trials in the report"
    told 1 'a factor in files has no scales' factor $m.mtx --kind lu -o L.mtx
    for n in 2 3; do
        accepted solve $m.mtx --method direct --rtol 1e-14 --ranks $n --device host
        reports "$how"
    done
    for grid in 2x1x1 1x2x1 1x1x2; do
        accepted trsv $m.mtx --kind lu --grid $grid --ranks 2 --device host
    done
done
accepted factor mna.mtx --kind ldlt --json r.json
reports '3 positive, 1 negative'
grep -q '"negative":[[:space:]]*1$' r.json || complain 'mna: no inertia in the report'
told 1 'no pivots of 2 x 2' factor mna.mtx --kind ldlt -o L.mtx
accepted trsv mna.mtx --kind ldlt --grid 1x1x2 --ranks 2 --device host
printf '%s\n' '%%MatrixMarket matrix array real general' '3 1' 3 3 5 >b.mtx
accepted factor rows.mtx --kind lu --solve b.mtx -o x.mtx
[ "$(grep -v '^%' x.mtx | tr '\n' ' ')" = '3 1 1 1 1 ' ] || complain "rows: x is not 1 1 1"

# several right-hand sides, a first guess, no tolerance that can be met
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 81, 35
    for (i = 0; i < 81 * 35; i++) print i * 7919 % 101 - 50 }' >B.mtx
accepted solve poisson2d:9 B.mtx --method direct --rtol 1e-12 -o X.mtx --json r.json
reports '35 right-hand sides: 35 converged; 1 iteration each'
accepted solve poisson2d:9 B.mtx --method direct --rtol 1e-12 --x0 X.mtx
reports '0 iterations each'
run 1 solve poisson2d:20 --method direct --rtol 1e-30 --json r.json
[ $status = 3 ] || complain "rtol 1e-30: status $status"
has err 'no further progress'
if command -v python3 >/dev/null; then
    [ "$(field r.json "r['result']['stop'], r['factor']['kind'], r['factor']['nonzeros'] > 400, r['path']['method']")" = \
        'stagnation llt True direct' ] || complain 'report: not of a direct solve'
fi

accepted compare poisson2d:9 --json c.json
awk -F'\t' '$1 == "direct" && $8 == "none" { found = 1 } END { exit !found }' out || complain 'compare: no row'
accepted compare poisson2d:9 --method direct --html c.html
accepted compare lu.mtx --method direct --device host --repeat 1

told 1 'no use for --precond' solve poisson2d:9 --method direct --precond amg
told 1 "unknown kind of a direct solve's factor 'ic0'" solve poisson2d:9 --method direct --kind ic0
told 1 'kind belongs to --method direct' solve poisson2d:9 --kind lu
told 1 'steps belongs' solve poisson2d:9 --method direct --steps 4

# over ranks: one factor, dealt out; the same iterations with ic0, the same bits twice
accepted solve poisson3d:12 --precond ic0 --grid 1x1x1 --leaves 4 --device host
iterations=$(grep -o 'after [0-9]* iterations' out)
[ -n "$iterations" ] || complain 'ic0 over a grid of one: no iterations'
for n in 2 3 4; do
    accepted solve poisson2d:20 --method direct --rtol 1e-12 --ranks $n --device host -o y.mtx --json r.json
    reports 'over a grid of 1x1x'
    reports 'converged: solved with the factor, and 0 steps of refinement'
    valid_json r.json
    grep -q '"messages"' r.json || complain 'report: no messages'
    grep -v '^%' y.mtx | paste one - |
        awk 'NR > 1 && ($1 - $2 > 1e-11 || $2 - $1 > 1e-11) { bad = 1 } END { exit bad || NR != 401 }' ||
        complain "$n ranks: another solution than that of one"
    accepted solve poisson3d:12 --precond ic0 --grid auto --leaves 4 --ranks $n --device host -o y.mtx
    reports "$iterations"
    cp y.mtx first.mtx
    accepted solve poisson3d:12 --precond ic0 --grid auto --leaves 4 --ranks $n --device host -o y.mtx
    cmp -s first.mtx y.mtx || complain "$n ranks: other bits in another run"
done
accepted solve ldlt.mtx --method direct --rtol 1e-14 --ranks 2 --device host
reports "L D L', "
accepted compare poisson2d:9 --ranks 2
awk -F'\t' '$1 == "direct" { found = 1 } END { exit !found }' out || complain 'compare of 2 ranks: no row'
told 2 'row 2 comes to the pivot' solve ldlt.mtx --precond direct --ranks 3 --device host
told 1 'grid 1x1x2 is not of 3 processes' solve poisson2d:9 --method direct --grid 1x1x2 --ranks 3 --device host
told 1 'here grids are 1x1xPz' solve poisson2d:9 --precond ic0 --grid 2x1x1 --ranks 2 --device host
told 1 'must be a power of two' solve poisson2d:9 --precond ic0 --grid 1x1x3 --ranks 3 --device host
told 1 '2 grids, and leaves=1' solve poisson2d:9 --precond ic0 --grid 1x1x2 --leaves 1 --ranks 2 --device host
told 1 "--grid '2'" solve poisson2d:9 --precond ic0 --grid 2 --ranks 2 --device host
told 1 'grid belongs to' solve poisson2d:9 --grid auto
told 5 'rank 1' solve poisson3d:20 --precond ic0 --grid auto --rtol 1e-13 --ranks 3 --device host --decorate 'lose(1,20)'
finish

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

# several right-hand sides, a first guess, no tolerance that can be met
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 81, 35
    for (i = 0; i < 81 * 35; i++) print i * 7919 % 101 - 50 }' >B.mtx
accepted solve poisson2d:9 B.mtx --method direct --rtol 1e-12 -o X.mtx --json r.json
reports '35 right-hand sides: 35 converged; 1 to 1 iterations'
accepted solve poisson2d:9 B.mtx --method direct --rtol 1e-12 --x0 X.mtx
reports '0 to 0 iterations'
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

told 1 'no use for --precond' solve poisson2d:9 --method direct --precond amg
told 1 "unknown kind of a direct solve's factor 'ic0'" solve poisson2d:9 --method direct --kind ic0
told 1 'kind belongs to --method direct' solve poisson2d:9 --kind lu
told 1 'steps belongs' solve poisson2d:9 --method direct --steps 4
told 1 'of one process, and here are 2' solve poisson2d:9 --method direct --ranks 2
accepted compare poisson2d:9 --ranks 2
has out 'of one process, and here are 2'
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Advice and limits in reports are of what the program can do.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
value() { sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" "$1" | head -1; }
lacks() { # FILE TEXT
    ! grep -qF -- "$2" "$1" || complain "$1: has '$2'"
}

# hilbert N: a matrix of condition e^(3.5 N)
hilbert() {
    awk -v n="$1" 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n * (n + 1) / 2
        for (i = 1; i <= n; i++) for (j = 1; j <= i; j++) printf "%d %d %.17g\n", i, j, 1 / (i + j - 1) }'
}
# path N SHIFT: a path without an end that is held
path() {
    awk -v n="$1" -v s="$2" 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
        for (i = 1; i <= n; i++) printf "%d %d %.17g\n", i, i, (i == 1 || i == n ? 1 : 2) + s
        for (i = 2; i <= n; i++) print i, i - 1, -1 }'
}
hilbert 12 >hilbert12.mtx
hilbert 14 >hilbert14.mtx

# no tolerance that rounding does not allow, and not the method that ran
accepted solve hilbert14.mtx --method direct
has out 'x is wrong though b - A x met the tolerance: A'
has out 'no tolerance mends that'
lacks out 'take --rtol'
lacks out 'or --method direct'
accepted solve hilbert12.mtx --rtol 1e-14 # direct may, by the condition that cg saw
has out ' mends that'
lacks out 'take --rtol'
accepted solve jump3d:12,1e8,1 --rtol 1e-2
has out 'take --rtol 1e-04 or less, or --method direct'

# x is large beside b: b - A x is, too, and says little of the error
path 31 1e-12 >near.mtx
awk 'BEGIN { for (i = 1; i <= 31; i++) print i % 5 }' >near.txt
accepted solve near.mtx near.txt --rtol 0
has out 'as far as rounding allows after'
lacks out 'take --rtol'
lacks out 'x may be wrong by 1e'

# the limit of iterations comes after that of rounding
accepted solve hilbert12.mtx --rhs ones --rtol 0 --json r.json
has out 'as far as rounding allows after'
[ "$(value r.json converged)" = true ] || complain 'rtol 0: not converged'
lacks out 'hint '
told 3 '; rounding allows about' solve hilbert12.mtx --rhs ones --rtol 1e-30 --max-iterations 2000
told 3 'not converged after 3 iterations' solve hilbert12.mtx --rhs ones --rtol 0 --max-iterations 3

# a singular matrix of scaled rows: trials end far from b, and x = 0 is the best
awk -v n=31 'function d(i) { return 10 ^ ((i * 7 % 11 - 5) / 2.5) }
    BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) printf "%d %d %.17g\n", i, i, (i == 1 || i == n ? 1 : 2) * d(i) * d(i)
    for (i = 2; i <= n; i++) printf "%d %d %.17g\n", i, i - 1, -d(i) * d(i - 1) }' >scaled.mtx
awk 'BEGIN { for (i = 1; i <= 31; i++) print i % 5 - 1.5 }' >scaled.txt
told 3 '||b - A x|| / ||b|| is 1, that of the first guess, wanted' solve scaled.mtx scaled.txt --precond auto \
    --json r.json -o x.mtx
value r.json true_relative_residual | awk '{ exit $1 != 1 }' || complain 'auto: not the best x'
awk '!/^%/ && n++ && $1 != 0 { bad = 1 } END { exit bad }' x.mtx || complain 'auto: another x'

# rows of sizes far apart: |A| |x| is of the largest, and x of the others
awk -v n=33 'function d(i) { return 10 ^ ((i - 17) / 2) }
    BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) printf "%d %d %.17g\n", i, i, 3 * d(i) * d(i)
    for (i = 2; i <= n; i++) printf "%d %d %.17g\n", i, i - 1, -d(i) * d(i - 1) }' >far.mtx
run 1 solve far.mtx --rhs ones --precond jacobi --rtol 0 --json r.json
value r.json attainable | awk '{ exit !($1 > 0 && $1 < 1) }' || complain "attainable: $(value r.json attainable)"
told 3 'b - A x in norm residual is' solve near.mtx near.txt --relative-to r0
grep -q 'rounding allows about' err && complain 'a limit of another norm'

# a regular matrix, where minres comes to an end before cg does
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 1e-300\n' >two.mtx
told 3 'or it is ill-conditioned, and methods cg and direct may go on' solve two.mtx --rhs ones --method minres
accepted solve two.mtx --rhs ones --method cg

# entries that are doubles though their norm is none
path 31 1 >held.mtx
awk 'BEGIN { for (i = 1; i <= 31; i++) print "1e308" }' >huge.txt
for how in '1 cg' '1 direct' ${MPIRUN:+'3 cg'}; do
    np=${how% *}
    run "$np" solve held.mtx huge.txt --method "${how#* }" -o huge.mtx --json r.json
    [ $status = 0 ] || complain "a norm of 5e308, $how: status $status"
    awk '!/^%/ && n++ && !($1 > 0.99e308 && $1 < 1.01e308) { bad = 1 } END { exit bad || n != 32 }' huge.mtx ||
        complain "a norm of 5e308, $how: another x"
    rm -f huge.mtx
done
path 31 1e-4 >weak.mtx
for method in cg direct; do
    told 4 'the solution is beyond the range of doubles' solve weak.mtx huge.txt --method $method
done

finish

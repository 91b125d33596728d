#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reports at the end of a solve, and their status.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
value() { sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" "$1" | head -1; }

# a fixed number of iterations
accepted solve poisson2d:20 --iterations 500 --json r.json
has out 'ended as asked for after 500 iterations'
[ "$(value r.json stop)$(value r.json iterations)" = '"iterations"500' ] || complain '500 iterations'

# as far as rounding allows
accepted solve jump3d:8,1e4,1 --rtol 0 --json r.json
has out 'as far as rounding allows after'
has out 'backward error'
[ "$(value r.json converged)" = true ] || complain 'rtol 0: not converged'
[ "$(value r.json backward_error)" != null ] || complain 'no backward error'
value r.json componentwise_backward_error | awk '{ exit !($1 > 0 && $1 < 1e-13) }' || complain 'no error row by row'
run 1 solve jump3d:8,1e4,1 --rtol 1e-30
[ $status = 3 ] || complain "rtol 1e-30: status $status"
has err 'as far as rounding allows, after'

# the condition, of A or of the preconditioned matrix; a small residual that says little
accepted solve poisson2d:20 --rtol 1e-10 --json r.json
has out ', of A; in'
[ "$(value r.json condition)" != null ] || complain 'no condition'
accepted solve poisson2d:20 --precond amg
has out 'says nothing of A'
accepted solve jump3d:12,1e8,1 --rtol 1e-2 --json r.json
has out 'x is wrong though'
[ "$(sed -n 's/.*number is at least \([^;]*\);.*/\1/p' out)" = "$(sed -n 's/^condition at least \([^,]*\),.*/\1/p' out)" ] ||
    complain 'two bounds of the condition'

# a penalty of 1e10 in one row: the Euclidean norm looks at nothing else
awk 'BEGIN { n = 60; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, i == 1 ? 1e10 : 2
    for (i = 2; i <= n; i++) print i, i - 1, -1 }' >held.mtx
awk 'BEGIN { print 1e10; for (i = 2; i <= 60; i++) print i % 7 - 3.5 }' >held.txt
accepted solve held.mtx held.txt --precond jacobi
has out 'after 1 iteration '
has err '1 of its entries is more than 1e8 times the 59 others, and it alone decides'
accepted compare held.mtx --rhs held.txt --precond jacobi,none --method cg --repeat 1
[ "$(grep -c 'column 1 of the right-hand side' err)" = 1 ] || complain 'compare: not one warning'
accepted compare held.mtx --rhs held.txt --precond jacobi --method cg --repeat 1 --norm scaled
grep -q 'alone decides\{0,1\} when' err && complain 'compare: a warning without need'
for norm in residual backward; do
    accepted solve held.mtx held.txt --precond jacobi --norm $norm
    has err 'it alone decides'
done
accepted solve held.mtx held.txt --precond jacobi --norm preconditioned
grep -q 'alone decides\{0,1\} when' err && complain 'norm preconditioned: a warning without need'
for np in 1 ${MPIRUN:+3}; do # of 1e12, in its norm
    for file in held.mtx held.txt; do sed -E 's/\b(1e\+10|10000000000)$/1e12/' $file >12$file; done
    run "$np" solve 12held.mtx 12held.txt --precond jacobi --norm preconditioned
    has err '1 of its entries is more than 1e+05 times the 59 others in the norm of the preconditioner, and it alone decides'
    [ "$(grep -c '^tacit: ' err)" = 1 ] || complain "norm preconditioned, $np ranks: not one line"
done
accepted solve 12held.mtx 12held.txt --precond jacobi --norm preconditioned --rtol 1e-12
grep -q 'alone decides\{0,1\} when' err && complain 'norm preconditioned, 1e-12: a warning without need'
accepted solve held.mtx held.txt --precond jacobi --norm scaled --rtol 1e-8 --json r.json
grep -q 'alone decides\{0,1\} when' err && complain 'a warning without need'
has out 'in norm scaled'
[ "$(value r.json norm)" = '"scaled"' ] || complain 'report: norm'
accepted solve held.mtx held.txt --relative-to r0
has err '1 of the first residual: 1 of its entries is more'
awk 'BEGIN { print 1; for (i = 2; i <= 60; i++) print 0 }' >first.txt # solves row 1
accepted solve held.mtx held.txt --precond jacobi --relative-to r0 --x0 first.txt
[ -s err ] && complain 'a good first guess: a warning without need'
has out 'in norm residual'
accepted solve held.mtx held.txt --precond jacobi --x0 first.txt
has err 'it alone decides'
awk 'BEGIN { print 1, 0; for (i = 2; i <= 60; i++) print 0, 0 }' >guesses.txt
awk '{ print $1, $1 }' held.txt >twice.txt
two=${MPIRUN:+2}
run "${two:-1}" solve held.mtx twice.txt --precond jacobi --relative-to r0 --x0 guesses.txt
has err 'column 2 of the first residual: 1 of its entries is more'
# a factor overlooks no row unless the first guess is far, and takes no norm
accepted solve held.mtx held.txt --method direct
[ -s err ] && complain 'method direct: a warning without need'
awk 'BEGIN { for (i = 1; i <= 60; i++) print 1e9 / i }' >guess.txt
accepted solve held.mtx held.txt --method direct --x0 guess.txt
has err '--rtol 0 refines all rows'
accepted solve held.mtx held.txt --method direct --x0 guess.txt --rtol 0
[ -s err ] && complain 'method direct, refined: a warning without need'
# minres takes rows of 1e-10 of |A| for no null vectors
awk 'BEGIN { print 0; for (i = 2; i <= 60; i++) print i % 7 - 3.5 }' >free.txt
for b in free.txt ones; do
    accepted solve held.mtx $b --method minres
    has out 'converged after'
done
accepted solve held.mtx held.txt --method minres --norm scaled --rtol 1e-8
accepted solve poisson2d:8 --rhs ones
grep -q 'alone decides\{0,1\} when' err && complain 'a warning without need'

# what a first solve is told; a slow one; a full disk
accepted convert poisson2d:90 A.mtx
accepted solve A.mtx --rtol 1e-12
has out 'b is made up'
has out 'a digit of the residual took'
accepted solve A.mtx ones --precond jacobi
grep -q 'made up' out && complain 'a notice without need'
accepted solve poisson2d:5 --precond amg
has out 'one level is no multigrid'

# coefficients that alternate between 1 and 1e8: b - A x grows at first, and is above that of x = 0
awk 'BEGIN { n = 2000; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) printf "%d %d %.17g\n", i, i, 1e8 + 1
    for (i = 2; i <= n; i++) printf "%d %d %d\n", i, i - 1, i % 2 ? -1 : -1e8 }' >stripes.mtx
told 3 'x.mtx holds the last iterate' solve stripes.mtx ones --max-iterations 350 -o x.mtx --json r.json
value r.json true_relative_residual | awk '{ exit !($1 > 1) }' || complain "stripes: $(value r.json true_relative_residual)"
has out 'hint     b - A x is no smaller than b after 350 iterations ('
told 3 'holds the best iterate' solve poisson2d:9 --max-iterations 5 -o x.mtx
run 1 solve poisson2d:9 --max-iterations 1
has err 'not converged after 1 iteration: '

# a warning that cannot look at the diagonal ends nothing: 1 / 1e-310 is infinite
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1e-310\n2 2 2\n3 3 2\n3 2 -1\n' >tiny.mtx
printf '0\n1\n1\n' >tiny.txt
accepted solve tiny.mtx tiny.txt --norm residual -o x.mtx
accepted compare tiny.mtx --rhs tiny.txt --method cg --precond none --repeat 1

# amg of rows in blocks, of nodes that nobody described; and of rows that are not
blocks() { # ROWS-OF-A-NODE: a chain of nodes, each with all of its neighbours' rows
    awk -v b="$1" 'BEGIN { n = 300; print "%%MatrixMarket matrix coordinate real symmetric"
        print n * b, n * b, n * b * (b + 1) / 2 + (n - 1) * b * b
        for (i = 0; i < n; i++) for (r = 1; r <= b; r++) for (c = 1; c <= r; c++)
            print i * b + r, i * b + c, r == c ? 3 : 0.5
        for (i = 1; i < n; i++) for (r = 1; r <= b; r++) for (c = 1; c <= b; c++)
            print i * b + r, (i - 1) * b + c, r == c ? -1 : -0.1 }'
}
for rows in 1 2 3; do
    blocks $rows >chain.mtx
    accepted solve chain.mtx ones --precond amg
    if [ $rows = 1 ]; then grep -q '^hint' out && complain 'a hint without need'
    else has out "rows come in dense blocks of $rows: of an elastic body"; fi
done
awk 'BEGIN { for (i = 0; i < 300; i++) print i, 0, 0 }' >points.txt
accepted solve chain.mtx ones --precond 'amg(coordinates=points.txt)'
grep -q '^hint' out && complain 'a hint with coordinates'

# what auto tried of a matrix that no preconditioner makes definite
awk 'NR == 3 { print 1, 1, -9; next } { print }' held.mtx >odd.mtx
run 1 solve odd.mtx ones --precond auto
[ $status = 4 ] || complain "auto, not definite: status $status"
has out 'amg: not tried: the matrix is not positive definite'
grep -q 'taken' out && complain 'auto, not definite: one is taken'
has err '1 negative diagonals, the first in row 1; --method minres'

# a norm that is no number, a first guess that no double holds, vectors that the host may not touch
printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '2 2 2' '1 1 1' '2 2 -0.5' >pair.mtx
told 4 'breakdown' solve pair.mtx ones --precond 'direct(kind=ldlt)' --norm preconditioned
has out 'in norm preconditioned -  '
printf '1e300\n1e300\n' >far.txt
told 4 'of sizes too far apart' solve pair.mtx ones --x0 far.txt
grep -q -e '--method minres' err && complain 'advice that does not help'
for entry in 1e-310 1e308; do
    printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '2 2 2' "1 1 $entry" "2 2 $entry" >$entry.mtx
done
told 2 'entries below 5.56e-309' solve 1e-310.mtx ones
told 4 'scale the matrix or the right-hand side; standard output holds' solve 1e308.mtx ones -o -
accepted solve poisson3d:4 --device host --decorate memcheck:
has out 'backward error'

# names as they may be, and files that are not
odd=$(printf 'a\033[1m\tb.mtx')
cp held.mtx "$odd"
accepted info "$odd"
has out 'name	a?[1m b.mtx'
accepted solve "$odd" ones --precond jacobi
has out 'matrix   a?[1m b.mtx: 60 rows'
told 3 'a?[1m b.npy holds the best iterate' solve poisson2d:9 --max-iterations 1 -o "${odd%mtx}npy"
LC_ALL=C grep -q "$(printf '\033')" out err && complain 'a control character'

# a build without GPUs says so of the ways that are named after theirs
accepted devices
if grep -q '^device	cuda	yes' out; then want=0; else want=1; fi
[ "$(grep -c '^way	p2p	.*; only on the CPU (cuda: ' out)" = $want ] || complain 'devices: ways'
finish

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
accepted solve jump3d:12,1e8,1 --rtol 1e-2
has out 'x is wrong though'

# a penalty of 1e10 in one row: the Euclidean norm looks at nothing else
awk 'BEGIN { n = 60; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, i == 1 ? 1e10 : 2
    for (i = 2; i <= n; i++) print i, i - 1, -1 }' >held.mtx
awk 'BEGIN { print 1e10; for (i = 2; i <= 60; i++) print i % 7 - 3.5 }' >held.txt
accepted solve held.mtx held.txt --precond jacobi
has err 'they alone decide'
has out 'after 1 iteration '
accepted solve held.mtx held.txt --precond jacobi --norm scaled --rtol 1e-8 --json r.json
grep -q 'they alone decide' err && complain 'a warning without need'
has out 'in norm scaled'
[ "$(value r.json norm)" = '"scaled"' ] || complain 'report: norm'
accepted solve held.mtx held.txt --relative-to r0
accepted solve poisson2d:8 --rhs ones
grep -q 'they alone decide' err && complain 'a warning without need'

# what a first solve is told; a slow one; a full disk
accepted convert poisson2d:90 A.mtx
accepted solve A.mtx --rtol 1e-12
has out 'b is made up'
has out 'a digit of the residual took'
accepted solve A.mtx ones --precond jacobi
grep -q 'made up' out && complain 'a notice without need'
accepted solve poisson2d:5 --precond amg
has out 'one level is no multigrid'
finish

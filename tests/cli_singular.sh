#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Singular systems, and faults and warnings that are one line each.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
value() { sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" "$1" | head -1; }
lines() { grep -c '^tacit: ' err; }

# a path of 40 points without an end that is held; b in its range, and not
awk -v n=40 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, i == 1 || i == n ? 1 : 2
    for (i = 2; i <= n; i++) print i, i - 1, -1 }' >free.mtx
awk 'BEGIN { for (i = 1; i <= 40; i++) print i - 20.5 }' >in.txt
awk 'BEGIN { for (i = 1; i <= 40; i++) print i - 19.5 }' >out.txt
for how in '--precond none' '--precond jacobi' '--precond ic0' '--precond amg' '--precond auto' '--method direct' \
    '--method minres'; do
    # shellcheck disable=SC2086
    accepted solve free.mtx in.txt $how
    has out 'singular 1 null vector'
    # shellcheck disable=SC2086
    told 3 'singular: b has a part of 0.086 outside its range' solve free.mtx out.txt $how
    has err 'x solves A x = P b'
    has err 'or in C or Python declare the null space'
done
told 3 'of it after 1 iteration: ' solve free.mtx out.txt --method direct
# many iterations beyond rounding: what is left along the null vector does not grow
for how in '--precond none' '--precond ic0' '--method single' '--method pipe-pr' '--method sstep'; do
    # shellcheck disable=SC2086
    accepted solve free.mtx in.txt $how --rtol 0
    has out 'as far as rounding allows'
    for b in in out; do
        # shellcheck disable=SC2086
        accepted solve free.mtx $b.txt $how --iterations 200 --json r.json
        has out 'after 200 iterations'
        value r.json true_relative_residual | awk '{ exit !($1 < 1e-9) }' || complain "$how, $b: $(value r.json true_relative_residual)"
    done
done
# a first guess far along the null vector
awk 'BEGIN { for (i = 1; i <= 40; i++) print 1e20 }' >far.txt
for how in '--method cg' '--method direct'; do
    # shellcheck disable=SC2086
    accepted solve free.mtx in.txt --x0 far.txt $how
done
# residuals are labelled by what A x is compared with: P b, b without its part along null vectors
for how in '--method cg' '--method direct' '--method minres'; do
    # shellcheck disable=SC2086 # words
    run 1 solve free.mtx out.txt $how --json p.json
    has out '||P b - A x|| / ||b||'
    has out 'b has a part of 8.6e-02 along it, P b and x none'
    grep -qF '||b - A x|| / ||b||' out && complain "$how: not the residual of b"
    [ "$(value p.json residual_of)" = '"P b"' ] || complain "$how: $(value p.json residual_of)"
done
accepted solve poisson2d:9 --json p.json
has out '||b - A x|| / ||b||'
[ "$(value p.json residual_of)" = '"b"' ] || complain "regular: $(value p.json residual_of)"
told 3 '||b without that part - A x|| / ||b|| is' solve free.mtx out.txt --max-iterations 3
paste -d ' ' in.txt out.txt >both.txt
run 1 solve free.mtx both.txt
has out 'column	iterations	||r|| / ||b||	||P b - A x|| / ||b||	stop	b outside'
grep -q '^2	.*	singular	8\.6' out || complain "columns: $(cat out)"
has out 'singular 1 null vector of the matrix; P b is b without its part along it'
run 1 compare free.mtx --rhs out.txt --format csr
[ "$(awk -F'\t' '/^cg\t|^minres\t/ && $11 > 0.08 && $11 < 0.09' out | wc -l)" -ge 2 ] ||
    complain "compare: $(grep '^cg' out)"
refused 3 'singular: b has a part of 0.086 outside its range' solve free.mtx out.txt --precond ic0
run 1 solve free.mtx out.txt --json r.json -o x.mtx
[ "$(value r.json stop)$(value r.json null_vectors)" = '"singular"1' ] || complain 'report: singular'
[ "$(value r.json outside | cut -c1-5)" = 0.086 ] || complain 'report: outside'
awk '!/^%/ && NR > 2 { s += $1; n++ } END { exit !(n >= 39 && s < 1e-9 && s > -1e-9) }' x.mtx || complain 'x has a part'

# a chain of points with two coupled unknowns each, rows dealt by turns: two translations
awk -v n=30 'function add(i, j, v) { if (j <= i) print i, j, v }
    BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 2 * n, 2 * n, 3 * n + 4 * (n - 1)
    for (p = 0; p < n; p++) for (s = 1; s <= 2; s++) for (t = 1; t <= 2; t++) { k = s == t ? 2 : 1
        add(2 * p + s, 2 * p + t, (p > 0 && p < n - 1 ? 2 : 1) * k)
        if (p > 0) add(2 * p + s, 2 * p - 2 + t, -k) } }' >body.mtx
awk 'BEGIN { for (i = 0; i < 60; i++) print int(i / 4) % 2 }' >dealt.txt
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 2 ? 1 : (i < 30 ? 1 : -1) }' >force.txt
for np in 1 ${MPIRUN:+2}; do
    dealt=
    [ "$np" = 1 ] || dealt='--partition dealt.txt'
    # shellcheck disable=SC2086 # two words
    run "$np" solve body.mtx force.txt --precond jacobi $dealt
    has err 'b has a part of 0.71 outside its range, along 2 null vectors'
done

# a truss that floats, and hardly resists a rotation, which is no null vector: the line has all that is known, in one
# limit, and advice that the program takes or says where it is taken
awk -v n=8 'function x(i, j) { return i + 0.1 * ((i * 7 + j * 3) % 5) }
    function y(i, j) { return j + 0.1 * ((i * 3 + j * 5) % 4) }
    function bar(i, j, k, l,   d, s, t, r, c) {
        if (k < 0 || k >= n || l >= n) return
        d[1] = x(k, l) - x(i, j); d[2] = y(k, l) - y(i, j)
        for (s = 1; s <= 2; s++) for (t = 1; t <= 2; t++) { r = 2 * (i * n + j); c = 2 * (k * n + l)
            a[r + s, r + t] += d[s] * d[t]; a[c + s, c + t] += d[s] * d[t]
            a[r + s, c + t] -= d[s] * d[t]; a[c + s, r + t] -= d[s] * d[t] } }
    BEGIN { for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
            bar(i, j, i + 1, j); bar(i, j, i, j + 1); bar(i, j, i + 1, j + 1); bar(i, j, i - 1, j + 1) }
        for (s = 1; s <= 2; s++) { c = 2 * n * n - 2 + s
            a[s, s] += 1e-12; a[c, c] += 1e-12; a[s, c] -= 1e-12; a[c, s] -= 1e-12 }
        for (e in a) { split(e, at, SUBSEP); if (at[2] <= at[1]) line[m++] = sprintf("%d %d %.17g", at[1], at[2], a[e]) }
        print "%%MatrixMarket matrix coordinate real symmetric"; print 2 * n * n, 2 * n * n, m
        for (e = 0; e < m; e++) print line[e] }' >truss.mtx
awk 'BEGIN { for (i = 1; i <= 128; i++) print i % 5 + i % 3 }' >load.txt
for how in '--method direct' '--precond jacobi'; do
    # shellcheck disable=SC2086
    told 3 'singular: b has a part of 0.88 outside its range, along 2 null vectors' solve truss.mtx load.txt $how --json r.json
    limit=$(sed -n 's/.*rounding allows about \([^;]*\).*/\1/p' err)
    # shellcheck disable=SC2046,SC2059 # a number and its form
    [ "$(printf '%.1e' $(value r.json attainable))" = "$limit" ] || complain "$how: '$limit' and $(value r.json attainable)"
    has out "rounding allows      $limit"
done
told 3 'singular: b has a part of 0.88 outside its range' solve truss.mtx load.txt --precond auto
has err 'of all trials'

# rows of zeros, not stored at all
awk -v n=40 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 3
    for (i = 1; i < n; i++) print i, i, 2
    for (i = 2; i < n; i++) print i, i - 1, -1 }' >zero.mtx
awk 'BEGIN { for (i = 1; i <= 40; i++) print i % 40 }' >zero.txt
for how in none jacobi ic0 ic1 amg direct auto; do
    accepted solve zero.mtx zero.txt --precond "$how"
done
[ -s err ] && complain 'rows of zeros that are solved: a warning'
told 3 'singular: b has a part of' solve zero.mtx ones
[ "$(lines)" = 1 ] || complain "rows of zeros: $(lines) lines"

# the null vector is no constant: nothing is projected
awk -v n=40 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) { d[i] = 1 + i % 3; print i, i, (i == 1 || i == n ? 1 : 2) * d[i] * d[i] }
    for (i = 2; i <= n; i++) print i, i - 1, -d[i] * d[i - 1] }' >scaled.mtx
told 3 'numerically singular' solve scaled.mtx out.txt
has err 'another solution'

# one fault, one line, on any number of ranks
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 3, 3, 4
    print 1, 1, 2; print 2, 2, 0; print 3, 3, 2; print 2, 1, 1 }' >diagonal.mtx
for np in 1 ${MPIRUN:+4}; do
    for how in none ic0; do
        run "$np" solve diagonal.mtx ones --precond $how
        [ "$(lines)" = 1 ] || complain "$np ranks, $how: $(lines) lines"
    done
done
told 4 '1 zero and 0 negative diagonals, the first in row 2' solve diagonal.mtx ones
has err -- '--method direct'
told 2 'which changes the solution' solve diagonal.mtx ones --precond ic0
told 2 'row 2 has 0 on the diagonal, which cannot be divided by: take another preconditioner' \
    solve diagonal.mtx ones --precond jacobi
for np in 1 ${MPIRUN:+2}; do
    run "$np" solve diagonal.mtx ones --method minres --norm scaled
    has err 'norm scaled divides by the diagonal: preconditioner jacobi: row'
    has err 'has 0 on the diagonal, which cannot be divided by: take another norm'
done

# one warning for eight columns, repeated solves and any number of ranks
awk 'BEGIN { for (i = 1; i <= 40; i++) { for (j = 1; j <= 8; j++) printf "%g ", i == 1 ? 1e12 : j; print "" } }' >eight.txt
for np in 1 ${MPIRUN:+4}; do
    run "$np" solve poisson1d:40 eight.txt --repeat 3
    [ "$(lines)" = 1 ] || complain "eight columns, $np ranks: $(lines) lines"
    has err 'and so of 7 others'
done

# a weak pivot: of a factor a warning, of method direct, which refines, only the residual
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1e-7\n1 2 1\n2 1 1\n2 2 0.7\n' >weak.mtx
accepted factor weak.mtx --kind lu
has err 'the pivot of row 1 is 1 / 1.0e+07'
[ "$(lines)" = 1 ] || complain "factor lu: $(lines) lines"
accepted solve weak.mtx --method direct --rtol 1e-12
[ -s err ] && complain 'method direct: of a solve without refinement'
has out 'b is made up'
grep -q 'no preconditioner' out && complain 'method direct: preconditioners'

# a penalty of 1e10 on the diagonal of two rows of 40
awk -v n=40 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, i == 1 || i == n ? 1e10 : 2
    for (i = 2; i <= n; i++) print i, i - 1, -1 }' >held.mtx
accepted solve held.mtx ones --precond jacobi
has err '2 diagonal entries are more than 1e8 times the 38 others'
[ "$(lines)" = 1 ] || complain "held: $(lines) lines"
accepted solve held.mtx ones --precond jacobi --norm scaled
[ -s err ] && complain 'a warning without need'

# a permutation that is not whole
accepted factor poisson2d:4 -o L.mtx
awk '/^%/ || NF != 1 { print; next } { print $1 == 3 ? "3.000000000001" : $1 }' L.perm >off.perm
told 2 'is 3.0000000000010001, which is not whole' factor L.mtx --given --permutation off.perm

# what a file holds stands in no sentence as it is
printf '\033[2Jb\377\n' >part.txt
told 2 "'?[2Jb?' is not a part number" solve poisson2d:4 --ranks 2 --partition part.txt

# values that were single precision
awk -v n=9 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print n, n, 3 * n - 2
    for (i = 1; i <= n; i++) print i, i, 2
    for (i = 2; i <= n; i++) { print i, i - 1, "-0.99999994"; print i - 1, i, -1 } }' >single.mtx
accepted solve single.mtx ones
has err 'symmetric in single precision only'
has err 'such pairs differ by at most 3.0e-08 of the larger one or of the diagonal'
[ "$(lines)" = 1 ] || complain "single: $(lines) lines"
finish

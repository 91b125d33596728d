#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Factors in files: what -o writes is a triangle whose square is the matrix, it is
# read again, also as others would have written it, and what is wrong is told.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

# The largest |x - y| of two files of numbers.
apart() {
    grep -v '^%' "$1" >one
    grep -v '^%' "$2" | paste one - | awk '
        NR > 1 { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d }
        END { printf "%.17g\n", NR > 1 ? most : 1 }'
}
near() { # X Y LABEL
    apart "$1" "$2" | awk '{ exit !($1 <= 1e-12) }' || complain "$3: $(apart "$1" "$2")"
}

"$TACIT" convert -q poisson2d:9x8 a.mtx
awk 'BEGIN { for (i = 1; i <= 72; i++) print i % 7 - 3 }' >b.txt
accepted factor a.mtx --solve b.txt -o x.mtx
has out 'solved 1 right-hand side in'
accepted factor a.mtx -o L.mtx --leaves 4
[ -s L.mtx ] && [ -s L.perm ] || complain 'no L.mtx or L.perm'

# L L', from outside: entry by entry that of A
awk 'FILENAME == "L.perm" { p[++n] = $1; next }
     /^%/ { next }
     FILENAME != last { last = FILENAME; next }
     FILENAME == "L.mtx" { if ($1 < $2) bad = 1; k = ++count[$2]; row[$2, k] = $1; val[$2, k] = $3; next }
     { A[$1, $2] = $3; A[$2, $1] = $3 }
     END {
         for (j = 1; j <= n; j++)
             for (k = 1; k <= count[j]; k++)
                 for (l = 1; l <= count[j]; l++)
                     A[p[row[j, k]], p[row[j, l]]] -= val[j, k] * val[j, l]
         for (e in A) if (A[e] > 1e-12 || A[e] < -1e-12) bad = 1
         exit bad || n != 72
     }' L.perm L.mtx a.mtx || complain "L L' is not A"

# read again; numbers from 0; L D L' and L U of the same
accepted factor L.mtx --given --permutation L.perm --solve b.txt -o y.mtx --json r.json
near x.mtx y.mtx 'L.mtx'
valid_json r.json
awk '{ print $1 - 1 }' L.perm >zero.perm
accepted factor L.mtx --given --permutation zero.perm --solve b.txt -o y.mtx
near x.mtx y.mtx 'a permutation from 0'
awk '/^%/ { print; next } !n { n = $1; print; next } $1 == $2 { d[$1] = $3 }
     { print $1, $2, $3 / d[$2] }
     END { for (i = 1; i <= n; i++) printf "%.17g\n", d[i] ^ 2 >"D.txt" }' OFMT=%.17g CONVFMT=%.17g L.mtx >unit.mtx
accepted factor unit.mtx --given --diagonal D.txt --permutation L.perm --solve b.txt -o y.mtx
near x.mtx y.mtx "L D L'"
awk '/^%/ || !n { if (!/^%/) n = 1; print; next } { print $2, $1, $3 }' L.mtx >U.mtx
accepted factor L.mtx --given --upper U.mtx --permutation L.perm --solve b.txt -o y.mtx
near x.mtx y.mtx 'L U'
accepted factor L.mtx --given --upper U.mtx -o again.mtx.gz
[ -s again.upper.mtx.gz ] && [ -s again.perm ] || complain 'no again.upper.mtx.gz'

# In each phase as many messages as foreseen.
foreseen() {
    tr -d ',\t' <"$1" | awk -F: '$1 == "\"messages\"" { made = $2 }
        $1 == "\"messages_foreseen\"" { n++; if ($2 != made) bad = 1 }
        END { exit bad || n != 3 }'
}
# trsv takes them, on any grid: the error is that of the solution, b = A x of L L'
for ranks in 1 4; do
    accepted trsv L.mtx b.txt --given --permutation L.perm --ranks $ranks --leaves 4 -o y.mtx --json t.json
    near x.mtx y.mtx "trsv L.mtx on $ranks"
    foreseen t.json || complain "trsv on $ranks: other messages than foreseen"
done
valid_json t.json
grep -q '"given":	"L.mtx"' t.json || complain 'trsv: no given'
has out "of the factor's product"
accepted trsv unit.mtx --given --diagonal D.txt --permutation L.perm --rhs-columns 3 --ranks 2
awk '/^error/ { exit !($2 < 1e-12) }' out || complain "trsv: L D L' has an error"
accepted trsv L.mtx --given --upper U.mtx --permutation L.perm
awk '/^error/ { exit !($2 < 1e-12) }' out || complain 'trsv: L U has an error'
for kind in llt ldlt lu; do
    accepted trsv a.mtx b.txt --kind $kind --order natural --ranks 2 -o y.mtx
    near x.mtx y.mtx "trsv --kind $kind"
done
accepted trsv a.mtx --kind ilu0
has out "of the factor's product"

# a pattern and values that are not symmetric: L U of all of it, or where A has entries
awk 'BEGIN {
    n = 60
    print "%%MatrixMarket matrix coordinate real general" >"s.mtx"
    for (i = 1; i <= n; i++) {
        line[++k] = i " " i " " (9 + i % 4)
        if (i > 1) line[++k] = i " " (i - 1) " " (-2 - i % 3)
        if (i + 7 <= n) line[++k] = i " " (i + 7) " 1.5"
        if (i > 11 && i % 2) line[++k] = i " " (i - 11) " -0.5"
    }
    print n, n, k >"s.mtx"
    for (e = 1; e <= k; e++) print line[e] >"s.mtx"
    for (i = 1; i <= n; i++) print i % 7 - 3 >"c.txt" }'
for kind in lu ilu0; do
    accepted factor s.mtx --kind $kind -v -o S.mtx
    has err 'S.upper.mtx: U'
    awk -v kind=$kind '
        FILENAME == "S.perm" { p[++n] = $1; next }
        /^%/ { next }
        FILENAME != last { last = FILENAME; next }
        FILENAME == "s.mtx" { A[$1, $2] = $3; A[$2, $1] += 0; next }
        FILENAME == "S.mtx" { L[$1, $2] = $3; next }
        { U[$1, $2] = $3 }
        END {
            for (i = 1; i <= n; i++)
                for (j = 1; j <= n; j++) {
                    here = (p[i], p[j]) in A
                    for (k = s = 0; k++ < n;) s += L[i, k] * U[k, j]
                    d = s - A[p[i], p[j]]
                    if ((kind == "lu" || here) && (d > 1e-12 || d < -1e-12)) bad = 1
                    if (kind == "ilu0" && !here && (L[i, j] != 0 || U[i, j] != 0)) bad = 1
                }
            exit bad || n != 60
        }' S.perm s.mtx S.mtx S.upper.mtx || complain "$kind: L U is not A"
done
accepted factor s.mtx --kind lu --solve c.txt -o x.mtx
accepted trsv s.mtx c.txt --kind lu --ranks 2 --leaves 2 -o y.mtx
near x.mtx y.mtx 'trsv --kind lu of what is not symmetric'
told 1 'holds no right-hand side' trsv L.mtx file --given
told 1 'add --given' trsv L.mtx --permutation L.perm

told 2 'a.mtx: row 1, column 2 is above the diagonal: the lower triangle' factor a.mtx --given
told 2 'column 1 is below the diagonal: the upper triangle is wanted' factor L.mtx --given --upper L.mtx
told 2 'row 1, column 1 is 2' factor L.mtx --given --diagonal b.txt
sed 's/^1$/73/' L.perm >bad.perm
told 2 'is 73: row numbers from 1 to 72' factor L.mtx --given --permutation bad.perm
sed '3s/.*/0/' D.txt >bad.txt
told 2 'bad.txt: row 3 is 0' factor unit.mtx --given --diagonal bad.txt
told 1 'add --given' factor L.mtx --upper U.mtx
told 1 'needs a file of its own' factor a.mtx -o -

# what no double holds is told, and not written; what is small has a residual, too
column() {
    printf '%%%%MatrixMarket matrix array real general\n72 1\n'
    yes "$1" | head -72
}
column 1e308 >huge.mtx
column 1e-318 >tiny.mtx
told 4 'column 1 of the solution has' factor a.mtx --solve huge.mtx -o no.mtx
for ranks in 1 2; do
    told 4 'column 1 of the solution has' trsv a.mtx huge.mtx --ranks $ranks --device host -o no.mtx
    accepted trsv a.mtx tiny.mtx --ranks $ranks --device host
    awk '/^residual/ { exit !($2 > 0 && $2 < 0.1) }' out || complain 'trsv of 1e-318: no residual'
done
[ -e no.mtx ] && complain 'no.mtx was written'
# a solution in the range of doubles, by sums that would leave it: x = 1e308 for A = I + a path
awk -v n=72 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, i == 1 || i == n ? 2 : 3
    for (i = 2; i <= n; i++) print i, i - 1, -1 }' >path.mtx
for how in 'factor path.mtx --solve huge.mtx' 'trsv path.mtx huge.mtx --device host' \
    'trsv path.mtx huge.mtx --ranks 2 --device host'; do
    # shellcheck disable=SC2086 # words
    accepted $how -o big.mtx
    awk '!/^%/ && NF == 1 && $1 > 9.99e307 && $1 < 1.01e308 { n++ } END { exit n != 72 }' big.mtx ||
        complain "$how: $(tail -1 big.mtx)"
    grep -qi 'residual.*\(nan\|inf\)' out && complain "$how: $(cat out)"
done
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-200\n2 2 1e-200\n' >small.mtx
for how in '--method direct' '--method direct --kind lu' '--precond direct'; do
    # shellcheck disable=SC2086 # words
    accepted solve small.mtx --rhs ones $how --device host --json small.json
    grep -qi nan out small.json && complain "small.mtx, $how: nan"
    awk '/"true_relative_residual"/ { exit !($2 + 0 < 1e-15) }' small.json || complain "small.mtx, $how"
done
column 1e200 | sed '2s/72/2/; 5,$d' >two.mtx
refused 4 'the solution is beyond the range of doubles' solve small.mtx two.mtx --method direct --device host
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1e200\n2 2 1e200\n2 1 3e200\n1 2 3e200\n' >indefinite.mtx
told 2 'comes to the pivot -8e+200' solve indefinite.mtx --precond direct --device host
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 2\n2 1 0\n' >zero.mtx
told 2 'leave zeros out (drop zeros)' factor zero.mtx
accepted factor zero.mtx --drop-zeros
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 -1\n' >count.mtx
told 2 'count.mtx:2: -1 entries' info count.mtx
# a path without an end that is held: no advice of a kind that fails, too
awk -v n=31 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) printf "%d %d %.17g\n", i, i, (i > 1 ? sqrt(i) : 0) + (i < n ? sqrt(i + 1) : 0)
    for (i = 2; i <= n; i++) printf "%d %d %.17g\n", i, i - 1, -sqrt(i) }' >free.mtx
for kind in llt ldlt lu; do
    told 2 'methods cg and minres solve' factor free.mtx --kind $kind -o no.mtx
    grep -q 'kind ldlt' err && complain "$kind: advice of a kind that fails"
done
awk -v n=14 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n * (n + 1) / 2
    for (i = 1; i <= n; i++) for (j = 1; j <= i; j++) printf "%d %d %.17g\n", i, j, 1 / (i + j - 1) }' >hilbert.mtx
told 2 'method direct has other pivots' solve hilbert.mtx --precond direct
accepted solve hilbert.mtx --method direct

finish

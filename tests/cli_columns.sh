#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A right-hand side with several columns: as many systems, in every format, on
# any number of ranks, each with an end of its own.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
values() { sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" "$1" | tr '\n' ' '; }
array='%%MatrixMarket matrix array real general'

# column K FILE: of an array file of 150 rows, as a file of one column
column() {
    echo "$array"
    echo '150 1'
    grep -v '^%' "$2" | tail -n +2 | sed -n "$((150 * ($1 - 1) + 1)),$((150 * $1))p"
}

# The largest ||b - A x|| / ||b|| of the columns of B and X, from outside.
residual() { # A.mtx B.mtx X.mtx, all columns general
    awk '
    FNR == 1 { part++; sizes = 0 }
    /^%/ { next }
    !sizes { sizes = 1; rows = $1; if (part > 1) cols = $2; k[part] = 0; next }
    part == 1 { i[k[1]] = $1; j[k[1]] = $2; a[k[1]++] = $3 }
    part == 2 { b[k[2]++] = $1 }
    part == 3 { x[k[3]++] = $1 }
    END {
        if (k[2] != rows * cols || k[3] != k[2]) { print 1e9; exit }
        for (c = 0; c < cols; c++) {
            rr = bb = 0
            for (r = 0; r < rows; r++) y[r] = b[c * rows + r]
            for (e = 0; e < k[1]; e++) y[i[e] - 1] -= a[e] * x[c * rows + j[e] - 1]
            for (r = 0; r < rows; r++) { rr += y[r] ^ 2; bb += b[c * rows + r] ^ 2 }
            rel = bb > 0 ? sqrt(rr / bb) : sqrt(rr)
            if (rel > worst) worst = rel
        }
        printf "%.17g\n", worst
    }' "$1" "$2" "$3"
}
met() { # TOLERANCE A B X LABEL
    residual "$2" "$3" "$4" | awk -v most="$1" '{ exit !($1 <= most) }' ||
        complain "$5: residual $(residual "$2" "$3" "$4")"
}

# a general matrix of 150 rows, and four columns: the second zeros, the last of
# one vector of low energy
"$TACIT" convert -q random:150,5,3 a.mtx
grep -q symmetric a.mtx && {
    awk '/^%/ { sub("symmetric", "general"); print; next }
         !n { n = 1; rows = $1; next }
         { e[m++] = $0; if ($1 != $2) e[m++] = $2 " " $1 " " $3 }
         END { print rows, rows, m; for (k = 0; k < m; k++) print e[k] }' a.mtx >g.mtx
    mv g.mtx a.mtx
}
awk -v head="$array" 'BEGIN {
    srand(7); print head; print 150, 4
    for (c = 0; c < 4; c++) for (r = 0; r < 150; r++)
        printf "%.17g\n", c == 1 ? 0 : c == 3 ? 1 : 2 * rand() - 1 }' >b.mtx

# one line a column; the report has results; a history by columns
accepted solve a.mtx b.mtx --rtol 1e-10 --precond direct -o x.mtx
met 1.0000001e-10 a.mtx b.mtx x.mtx 'x.mtx of --precond direct'
has out '4 columns in step'
accepted solve a.mtx b.mtx --rtol 1e-10 -o x.mtx --json r.json --history h.tsv
met 1.0000001e-10 a.mtx b.mtx x.mtx 'x.mtx'
has out 'result   4 right-hand sides: 4 converged'
has out 'column	iterations	||r|| / ||b||	||b - A x|| / ||b||	stop'
[ "$(grep -c '^[1-4]	[0-9]*	[0-9.e+-]*	[0-9.e+-]*	rtol$' out)" = 4 ] ||
    complain "report: $(cat out)"
valid_json r.json
has r.json '"results":	['
grep -q '"result":' r.json && complain 'JSON: result beside results'
[ "$(values r.json converged)" = 'true true true true ' ] || complain 'JSON: converged'
for field in tacit matrix path method loop time solve all_solves operations spmv rate memory \
    true_relative_residual error_2norm norm_b breakdown; do
    grep -q "\"$field\":" r.json || complain "report: no $field"
done
[ "$(head -1 h.tsv)" = 'column	iteration	relative_residual' ] || complain 'history: head'
c=0
for k in $(values r.json iterations); do
    c=$((c + 1))
    want=$((k + 1))
    [ "$c" != 2 ] || want=0 # a column of zeros is solved without a look
    [ "$(grep -c "^$c	" h.tsv)" = $want ] || complain "history: column $c"
    column $c b.mtx >one.mtx
    accepted solve a.mtx one.mtx --rtol 1e-10 --json one.json
    grep -q '"results":' one.json && complain 'JSON: results of one column'
    [ "$(values one.json iterations)" = "$k " ] || complain "column $c alone: other iterations"
done
[ "$(cut -f1 h.tsv | uniq | tr '\n' ' ')" = 'column 1 3 4 ' ] || complain 'history: order'

# a picture of it: a curve and a label a column, as long as its iterations
plot() { python3 "$source/scripts/plot-history" -o h.svg "$@" >plot.out 2>&1; }
if command -v python3 >/dev/null; then
    accepted solve a.mtx one.mtx --history lone.tsv
    plot lone.tsv h.tsv || complain "plot-history: $(cat plot.out)"
    for c in 1 3 4; do
        points=$(awk -v c=$c '$1 == c { k++ } END { print k }' h.tsv)
        [ "$(grep -c ">h, column $c<" h.svg)" = 1 ] || complain "plot-history: label $c"
        grep 'stroke-width="1.8"' h.svg | tr -cd 'L\n' | awk '{ print length + 1 }' |
            grep -qx "$points" || complain "plot-history: column $c has other points"
    done
    [ "$(grep -c 'stroke-width="1.8"' h.svg)" = 4 ] || complain 'plot-history: curves'
    grep -q '>lone<' h.svg || complain 'plot-history: label of one column'
    rm h.svg
    printf '3\t7\n' >>h.tsv
    plot h.tsv && complain 'plot-history: a line of two words'
    grep -q "^plot-history: h.tsv:[0-9]*: '3	7' is no line" plot.out ||
        complain "plot-history: $(cat plot.out)"
    plot a.mtx && complain 'plot-history: no history'
    [ ! -e h.svg ] || complain 'plot-history: a picture in spite of an error'
else
    echo 'skipped: python3 is missing, no history is drawn'
fi

# every format, on one rank and on several, with rows that move and that do not
for np in 1 ${MPIRUN:+2 3 4}; do
    case $np in
        1 | 3) endings='mtx mtx.gz npy tacit' ;;
        *) endings=tacit ;;
    esac
    for ending in $endings; do
        run "$np" solve a.mtx b.mtx --rtol 1e-10 -q -o y.$ending
        [ $status = 0 ] || complain "$ending on $np: status $status"
        # what was written is a right-hand side, and a first guess
        run 1 solve a.mtx b.mtx --rtol 1e-9 -q --x0 y.$ending -o z.mtx --json z.json
        [ "$(values z.json iterations)" = '0 0 0 0 ' ] || complain "$ending on $np: x0"
        met 1.0000001e-10 a.mtx b.mtx z.mtx "$ending on $np"
        run "$np" solve a.mtx y.$ending --rtol 1e-10 -q -o w.mtx
        [ $status = 0 ] || complain "$ending on $np as right-hand side: status $status"
        met 1.0000001e-10 a.mtx z.mtx w.mtx "$ending on $np as right-hand side"
    done
    [ "$np" = 1 ] || [ "$np" = 3 ] || continue
    for words in '--partitioner contiguous' '--reorder rcm' '--method pipelined --precond jacobi' \
        '--profile' '--decorate chaos(3): --repeat 3 --warmup 1' '--format csr --threads 1'; do
        case $np,$words in 1,--partitioner*) continue ;; esac # of several
        # shellcheck disable=SC2086 # words
        run "$np" solve a.mtx b.mtx --rtol 1e-10 --device host $words -o y.mtx --json y.json
        [ $status = 0 ] || complain "$words on $np: status $status"
        met 1.0000001e-10 a.mtx b.mtx y.mtx "$words on $np"
        valid_json y.json
    done
done

# one first guess for all; several for one column are refused, as is another number
column 1 x.mtx >x1.mtx
accepted solve a.mtx b.mtx --rtol 1e-9 --x0 x1.mtx --json y.json
values y.json iterations | grep -q '^0 0 [1-9]' || complain "x0 for all: $(values y.json iterations)"
column 1 b.mtx >b1.mtx
refused 2 'x.mtx: has 4 columns, and the right-hand side has 1' solve a.mtx b1.mtx --x0 x.mtx

# the worst column's status, and one line that names it
run 1 solve a.mtx b.mtx --max-iterations 2 --json r.json -o y.mtx
[ $status = 3 ] || complain "two iterations: status $status"
[ "$(complaints | wc -l)" = 1 ] || complain 'two iterations: not one line'
has err 'column 1: not converged after 2 iterations'
has err '2 of 4 columns are not solved; y.mtx holds the best iterate'
has out '4 right-hand sides: 2 converged, 2 not converged; 0 to 2 iterations'
[ "$(values r.json stop)" = '"max_iterations" "rtol" "max_iterations" "rtol" ' ] ||
    complain "two iterations: $(values r.json stop)"
{
    echo '%%MatrixMarket matrix coordinate real symmetric'
    printf '%s\n' '3 3 3' '1 1 2' '2 2 3' '3 3 -1'
} >indefinite.mtx
printf '%s\n' "$array" '3 3' 1 0 0 1 1 0 0 0 1 >e.mtx
refused 4 'column 3: breakdown' solve indefinite.mtx e.mtx --max-iterations 1 -q
run 1 solve indefinite.mtx e.mtx --max-iterations 1 --json r.json
has out '1 converged, 1 not converged, 1 broke down'
[ "$(values r.json converged)" = 'true false false ' ] || complain 'three ends'
[ "$(values r.json quantity)" = "\"p'Ap\" " ] || complain 'the quantity'

# many columns: the first ones, and those that are not solved
accepted solve a.mtx a.mtx --json r.json
has out '150 right-hand sides: 150 converged'
has out 'note     138 columns more'
[ "$(grep -c '"converged":	true' r.json)" = 150 ] || complain 'JSON: not 150 columns'
valid_json r.json

# right-hand sides in the matrix's own file, and progress by column
{
    printf '%-72s%-8s\n' title key
    printf '%14d%14d%14d%14d%14d\n' 8 1 1 1 4
    printf '%-14s%14d%14d%14d%14d\n' RSA 2 2 2 0
    printf '%-16s%-16s%-20s%-20s\n' '(3I2)' '(2I2)' '(2F6.1)' '(2F6.1)'
    printf '%-14s%14d%14d\n' FG 2 0
    printf '%s\n' ' 1 2 3' ' 1 2' '   2.0   4.0' '   6.0   4.0' '   2.0   0.0' \
        '   3.0   1.0' '   1.0   0.0'
} >own.rsa
accepted solve own.rsa file -o own.mtx --rtol 1e-12 -v
[ "$(tail -n 4 own.mtx | tr '\n' ' ')" = '3 1 1 0 ' ] || complain "own: $(cat own.mtx)"
accepted solve own.rsa file --x0 file --json own.json
[ "$(values own.json iterations)" = '0 0 ' ] || complain 'own: x0 file'
accepted compare own.rsa --rhs file --repeat 1 --method cg
[ "$(grep -c 'the first of its 2 columns is used' err)" = 1 ] || complain 'compare: columns, not said once'
# shellcheck disable=SC2002 # a pipe is meant
cat b.mtx | "$TACIT" solve a.mtx - -q --rtol 1e-10 -o - >piped.mtx 2>err
met 1.0000001e-10 a.mtx b.mtx piped.mtx 'a pipe'
accepted solve poisson1d:300000 --rhs ones -q --max-iterations 1 --rtol 1
awk -v head="$array" 'BEGIN { print head; print 200000, 2; for (r = 0; r < 400000; r++) print 1 }' >ones.mtx
run 1 solve poisson1d:200000 ones.mtx --threads 1 --max-iterations 1500 -v
has err 'column 1  iteration'

# residuals of which squares are no doubles
{ echo '%%MatrixMarket matrix coordinate real symmetric' && echo 5 5 5 && for i in 1 2 3 4 5; do echo $i $i $((2 * i + 1)); done; } >five.mtx
{ echo "$array" && echo 5 2 && for i in 1 2 3 4 5 6 7 8 9 10; do [ $((i % 5)) = 1 ] && echo 1 || echo 1e-150; done; } >small.mtx
accepted solve five.mtx small.mtx --precond none --reorder none --format csr -q

# what cannot be
printf '%s\n' "$array" '150 0' >none.mtx
refused 2 'none.mtx' solve a.mtx none.mtx
printf '%s\n' "$array" '2 2' 1 2 3 4 >short.mtx
refused 2 'short.mtx: has 2 columns of 2 values, but 150 rows are wanted' solve a.mtx short.mtx
refused 1 'y.petsc: a file of format' solve a.mtx b.mtx -o y.petsc
[ -e y.petsc ] && complain 'a file in spite of an error'
accepted solve a.mtx b1.mtx -q -o y.petsc
sed '3s/.*/nan/' b.mtx >nan.mtx
refused 2 'nan.mtx:3' solve a.mtx nan.mtx
finish

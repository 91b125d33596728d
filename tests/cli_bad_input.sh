#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad input gives one line and the right status, alone and under MPI.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
head='%%MatrixMarket matrix coordinate real general'
shead='%%MatrixMarket matrix coordinate real symmetric'
mm() { # NAME LINES...
    name=$1
    shift
    printf '%s\n' "$@" >"$name"
}

# files that are none
refused 2 'missing.mtx' solve missing.mtx
mkdir folder
refused 2 'folder' solve folder
: >empty.mtx
refused 2 'empty.mtx' solve empty.mtx
mm words.mtx 'this is no matrix'
refused 2 'words.mtx' solve words.mtx

# Matrix Market
mm head.mtx '%%MatrixMarket matrix coord'
refused 2 'head.mtx' solve head.mtx
mm nosize.mtx "$head" '% a comment'
refused 2 'nosize.mtx' solve nosize.mtx
mm short.mtx "$head" '3 3 3' '1 1 2' '2 2 2'
refused 2 'short.mtx' solve short.mtx
mm long.mtx "$head" '2 2 2' '1 1 2' '2 2 2' '1 2 1'
refused 2 'long.mtx' solve long.mtx
mm zero.mtx "$head" '2 2 2' '0 1 2' '2 2 2'
refused 2 'zero.mtx:3' solve zero.mtx
mm negative.mtx "$head" '2 2 2' '1 1 2' '2 -2 2'
refused 2 'negative.mtx:4' solve negative.mtx
mm beyond.mtx "$head" '2 2 2' '1 1 2' '2 3 2'
refused 2 'beyond.mtx:4' solve beyond.mtx
mm nan.mtx "$head" '2 2 2' '1 1 nan' '2 2 2'
refused 2 'nan.mtx:3' solve nan.mtx
mm inf.mtx "$head" '2 2 2' '1 1 2' '2 2 inf'
refused 2 'inf.mtx:4' solve inf.mtx
mm token.mtx "$head" '2 2 2' '1 1 2' '2 2 two'
refused 2 'token.mtx:4:5' solve token.mtx
mm complex.mtx '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 2 0'
refused 2 'complex' solve complex.mtx
mm skew.mtx '%%MatrixMarket matrix coordinate real skew-symmetric' '2 2 1' '2 1 1'
refused 2 'skew' solve skew.mtx
mm tall.mtx "$head" '3 2 2' '1 1 2' '3 2 2'
refused 2 '3 x 2' solve tall.mtx
mm huge.mtx "$head" '99999999999999999999 99999999999999999999 1' '1 1 1'
refused 2 'huge.mtx' solve huge.mtx
mm much.mtx "$head" '9 9 9000000000000000' '1 1 1'
refused 2 'much.mtx' solve much.mtx

# symmetry
mm pattern.mtx "$head" '2 2 3' '1 1 2' '2 2 2' '1 2 1'
refused 2 'row 1, column 2' solve pattern.mtx
mm pivot.mtx "$head" '2 2 3' '1 1 1' '1 2 3' '2 2 0'
run 1 factor pivot.mtx --kind lu --order natural # which is of one process
[ $status = 2 ] || complain "factor lu: status $status"
has err 'row 2 comes to the pivot 0'
run 1 factor pivot.mtx --kind ldlt
[ $status = 2 ] || complain "factor ldlt: status $status"
has err 'row 1, column 2'
mm values.mtx "$head" '2 2 4' '1 1 2' '2 2 2' '1 2 1' '2 1 1.5'
refused 2 'not symmetric' solve values.mtx

# not positive definite
mm zerodiag.mtx "$shead" '2 2 2' '1 1 1' '2 1 1'
refused 4 "breakdown" solve zerodiag.mtx
has err '1 zero and 0 negative'
refused 2 'has 0 on the diagonal' solve zerodiag.mtx --precond amg
run 1 solve zerodiag.mtx --precond direct # which is of one process
[ $status = 2 ] || complain "direct: status $status"
has err 'row 2 comes to the pivot'
mm indefinite.mtx "$shead" '2 2 2' '1 1 1' '2 2 -1'
refused 4 "p'Ap" solve indefinite.mtx --rhs ones --max-iterations 50
has err '0 zero and 1 negative'

refused 4 "p'Ap" solve indefinite.mtx --rhs ones --max-iterations 50 --precond auto
mm diagonal.mtx "$shead" '3 3 3' '1 1 2' '2 2 3' '3 3 1'
accepted solve diagonal.mtx --precond amg

# a preconditioner that varies, for methods that need it linear
for method in cg single pipelined pipe-pr sstep; do
    refused 1 'give --method flexible' solve poisson3d:4 --precond amg --cycle k --method $method
done
refused 1 'which method cg needs' solve poisson3d:4 --precond amg --cycle k
accepted solve poisson3d:12 --precond 'amg(cycle=auto)' --method pipelined
refused 1 'give --method flexible' compare poisson3d:4 --precond amg --cycle k --method cg
accepted solve poisson3d:12 --precond amg --cycle k --method flexible

# what no factor is made of: the row is the matrix's, in whatever order it is factored
mm npd.mtx "$shead" '3 3 5' '1 1 4' '2 1 2' '2 2 0.5' '3 2 1' '3 3 5'
for how in 'factor' 'trsv' 'solve --precond direct' 'solve --method direct --kind llt'; do
    # shellcheck disable=SC2086 # words
    for order in nd natural; do
        told 2 'not positive definite: its row 2 comes to the pivot -' $how npd.mtx --order $order -o no.mtx
    done
done
accepted solve npd.mtx --method direct # by L D L'
mm rounding.mtx "$shead" '3 3 5' '1 1 1' '2 2 3' '3 3 2' '2 1 -1' '3 2 -2'
told 2 'but rounding beside its diagonal' factor rounding.mtx -o no.mtx
accepted solve rounding.mtx --method direct # constants are its null vectors
has out 'singular 1 null vector'
mm singular.mtx "$shead" '3 3 6' '1 1 1' '2 1 1' '2 2 1' '3 1 2' '3 2 2' '3 3 4'
for kind in ldlt lu ilu0; do
    told 2 'comes to the pivot 0: the matrix is singular' factor singular.mtx --kind $kind
done
mm row.mtx "$head" '3 3 3' '1 1 1' '2 2 1' '1 3 2'
mm column.mtx "$head" '3 3 3' '1 1 1' '2 2 1' '3 1 2'
for kind in lu ilu0; do
    told 2 'row 3 of the matrix has no entries' factor row.mtx --kind $kind
    told 2 'column 3 of the matrix has no entries' factor column.mtx --kind $kind
done
told 2 'row 3 of the matrix has no entries' solve row.mtx --method direct
mm structure.mtx "$shead" '3 3 3' '1 1 1' '2 1 1' '3 1 1'
told 2 'comes to the pivot 0' factor structure.mtx
for kind in ldlt lu; do
    told 2 'comes to the pivot 0: the matrix is singular' factor structure.mtx --kind $kind
done
mm subnormal.mtx "$shead" '2 2 2' '1 1 1e-310' '2 2 1'
told 2 'row 1 comes to the pivot 1e-310: the matrix is singular' factor subnormal.mtx --kind ilu0
mm subnormals.mtx "$shead" '2 2 2' '1 1 1e-310' '2 2 1e-310'
for kind in ldlt lu; do # 1 / 1e-310 is beyond the range of doubles
    for name in subnormal subnormals; do
        told 2 'comes to the pivot 1e-310: row 1 has entries below 2.2e-308' factor $name.mtx --kind $kind
        has err 'lose their digits: scale the matrix'
    done
done
told 2 'a factor is of a square matrix' factor tall.mtx
told 2 'not square' trsv tall.mtx
told 2 'not symmetric' trsv values.mtx
accepted trsv values.mtx --kind lu

# too large a factor is foreseen, by counting its entries: all below the diagonal
awk 'BEGIN {
    n = 1000000
    print "%%MatrixMarket matrix coordinate real symmetric"
    print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) print i, i, 4
    for (i = 2; i <= n; i++) print i, 1, 1e-9 }' >arrow.mtx
for how in 'factor --width 65536' 'solve --method direct' 'trsv --width 65536'; do
    # shellcheck disable=SC2086 # words
    told 5 '500000500000 entries of L' $how arrow.mtx --order natural -o no.mtx
    complaints | grep -q 'an incomplete one (ic0, ilu0) takes about 0.136 GiB' ||
        complain "$how: not what would fit"
done

# what is no factor, though it is said to be one
mm upper.mtx "$head" '3 3 5' '1 1 2' '2 2 2' '3 3 2' '1 2 1' '2 3 1'
mm lower.mtx "$head" '3 3 4' '1 1 2' '2 2 2' '3 3 2' '3 1 1'
mm outside.mtx "$head" '3 3 4' '1 1 2' '2 2 2' '3 3 2' '4 1 1'
mm zeropivot.mtx "$head" '3 3 4' '1 1 2' '2 2 0' '3 3 2' '3 1 1'
mm nopivot.mtx "$head" '3 3 3' '1 1 2' '3 3 2' '3 1 1'
mm infpivot.mtx "$head" '3 3 4' '1 1 2' '2 2 inf' '3 3 2' '3 1 1'
mm few.txt 1 2
mm twice.txt 1 1 2
mm negative.txt 1 2 4
for how in factor trsv; do
    told 2 'upper.mtx: row 1, column 2 is above the diagonal: the lower triangle' $how upper.mtx --given
    told 2 'lower.mtx: row 3, column 1 is below the diagonal: the upper triangle' $how lower.mtx --given --upper lower.mtx
    told 2 'outside.mtx:6:1: row 4 is outside 1 to 3' $how outside.mtx --given
    told 2 'zeropivot.mtx: row 2, column 2 is 0, on the diagonal' $how zeropivot.mtx --given
    told 2 'nopivot.mtx: row 2, column 2: the diagonal is missing' $how nopivot.mtx --given
    told 2 'infpivot.mtx:4:5: the value inf is not finite' $how infpivot.mtx --given
    told 2 'tall.mtx: a triangle is square' $how tall.mtx --given
    told 2 'few.txt: has 2 values' $how lower.mtx --given --permutation few.txt
    told 2 'twice.txt: number 2 is 1' $how lower.mtx --given --permutation twice.txt
    told 2 'is 4: row numbers from 1 to 3' $how lower.mtx --given --permutation negative.txt
    told 2 'row 1, column 1 is 2, and of L D L' $how lower.mtx --given --diagonal negative.txt
    told 2 'missing.mtx' $how missing.mtx --given
done

# grids that cannot be, said before anything is read
told 1 'grid 3x1x1 is not of 4 processes: its numbers must multiply' trsv missing.mtx --ranks 4 --grid 3x1x1
told 1 'must be a power of two' trsv missing.mtx --ranks 3 --grid 1x1x3
told 1 '4 grids, and leaves=2 makes a tree that has 2 leaves' trsv missing.mtx --ranks 4 --grid 1x1x4 --leaves 2
told 1 'expected a power of two up to 4096, got 3' trsv poisson2d:9 --leaves 3
told 1 'scheme 2d is of one grid' trsv missing.mtx --ranks 2 --grid 1x1x2 --scheme 2d
[ ! -e no.mtx ] || complain 'a factor that is none is written'
mkdir old.upper.mtx old.diagonal # none of the files is written, if not all can be
for kind in lu ldlt; do
    refused 2 'is a folder' factor poisson2d:3 --kind $kind -o old.mtx
done
[ ! -e old.perm ] || complain 'an order is written beside no factor'
find . -name 'no*' ! -name 'nopivot.mtx' ! -name 'nosize.mtx' | grep . && complain 'files are left'

# compressed files cut short
mm good.mtx "$shead" '2 2 2' '1 1 2' '2 2 3'
"$TACIT" convert -q poisson2d:30 full.mtx
for pack in gzip xz; do
    command -v $pack >/dev/null || continue
    $pack -c full.mtx | head -c 900 >cut.$pack
    refused 2 "cut.$pack" solve cut.$pack
done

# vectors and partitions
mm rhs.mtx '%%MatrixMarket matrix array real general' '3 1' 1 2 3
refused 2 '3' solve good.mtx rhs.mtx
refused 2 'nowhere.mtx' solve good.mtx --x0 nowhere.mtx
yes 7 | head -900 >out_of_range.part
told 2 'out_of_range.part:1' solve poisson2d:30 --ranks 2 --partition out_of_range.part
yes 0 | head -899 >few.part
told 2 'few.part' solve poisson2d:30 --ranks 2 --partition few.part
if [ -n "$MPIRUN" ]; then
    yes 0 | head -900 >one.part
    run 4 solve poisson2d:30 --partition one.part
    [ $status = 2 ] || complain "empty part: status $status"
    has err 'one.part'
fi

# points of as many coordinates as they should have: the fault is the value
seq 18 | sed 's/$/ 1/; 3s/.*/3 nan/' >nan2.txt
seq 12 | sed 's/$/ 1 2/; 5s/.*/5 1 nan/' >nan3.txt
for points in nan2.txt:3 nan3.txt:5; do
    refused 2 "$points" solve poisson2d:6 --precond "amg(coordinates=${points%:*})"
done
for points in nan2.txt:2x18 nan3.txt:3x12; do
    accepted jacobi "star2d1r:${points#*:}" --x0 "${points%:*}" --coefficients 1,0 --steps 1 -o nan.npy
    refused 2 'is nan: all values must be finite' solve poisson2d:6 --precond 'amg(coordinates=nan.npy)'
    grep -q 'is wanted' err && complain "$points: another shape is asked for"
done
seq 17 | sed 's/$/ 1/' >few2.txt
refused 2 'a point a line is wanted' solve poisson2d:6 --precond 'amg(coordinates=few2.txt)'

# sizes
refused 5 'memory' solve poisson3d:90000

# outputs are asked for before the solve, and none is left half-written
refused 2 'cannot be written' solve poisson3d:8 -o nowhere/x.mtx
refused 2 'cannot be written' solve poisson3d:8 --json nowhere/r.json
refused 2 'folder' solve poisson3d:8 --history folder
refused 2 'cannot be written' convert poisson3d:8 nowhere/m.mtx
refused 2 'cannot be written' partition poisson3d:8 -n 2 -o nowhere/p

# a limit on the size of files is a full disk: status 5, one line, no file
for output in '-o x.mtx' '--json x.json' '--history x.tsv'; do
    (
        ulimit -f 1 # 512 bytes, or 1024
        # shellcheck disable=SC2086 # words
        "$TACIT" solve -q poisson3d:8 --rtol 1e-12 $output 2>limited
        echo $? >code
    )
    [ "$(cat code)" = 5 ] || complain "ulimit, $output: status $(cat code)"
    grep -q '^tacit: x.*File too large' limited ||
        complain "ulimit, $output: $(cat limited)"
done
(
    ulimit -f 1
    "$TACIT" info gallery >gallery 2>limited
    echo $? >code
)
[ "$(cat code)" = 5 ] || complain "ulimit, standard output: status $(cat code)"
grep -q '^tacit: standard output: cannot be written: File too large' limited ||
    complain "ulimit, standard output: $(cat limited)"
find . -name 'x*' | grep . && complain 'files are left'
finish

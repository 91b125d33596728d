#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No file is written over what is read or over what else is written, whatever
# the names are; what is no file may be named as it makes sense.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
"$TACIT" convert -q poisson2d:5 a.mtx
"$TACIT" solve -q a.mtx -o b.mtx
yes 0 | head -25 >parts
cp a.mtx original.mtx
cp b.mtx original_b.mtx
mkdir sub
ln -s a.mtx link.mtx
ln a.mtx hard.mtx
ln -s new.mtx dangling.mtx
ln -s ../sub/../new.mtx sub/dangling.mtx
mkfifo pipe

# outputs over inputs
for name in a.mtx ./a.mtx sub/../a.mtx "$work/a.mtx" link.mtx hard.mtx; do
    refused 1 'over MATRIX a.mtx' solve a.mtx -o $name
    refused 1 'over MATRIX a.mtx' solve a.mtx --json $name
done
refused 1 'over MATRIX link.mtx' solve link.mtx --history a.mtx
refused 1 'over MATRIX a.mtx' compare a.mtx --html hard.mtx
refused 1 'over MATRIX a.mtx' info a.mtx --json a.mtx
refused 1 'over MATRIX a.mtx' partition a.mtx -n 2 -o a.mtx
refused 1 'over IN a.mtx' convert a.mtx ./a.mtx
refused 1 'over RHS b.mtx' solve a.mtx b.mtx -o b.mtx
refused 1 'over --rhs b.mtx' solve a.mtx --rhs b.mtx -o ./b.mtx
refused 1 'over --x0 b.mtx' solve a.mtx --x0 b.mtx -o b.mtx
told 1 'over --partition parts' solve a.mtx --ranks 2 --partition parts --json parts

# ... and what a factor has beside it
cp a.mtx L.upper.mtx
"$TACIT" factor -q a.mtx --kind ldlt -o M.mtx
for kind in lu ilu0; do
    refused 1 'U beside -o L.upper.mtx would be written over MATRIX' factor L.upper.mtx --kind $kind -o L.mtx
done
refused 1 'D beside -o M.diagonal would be written over --diagonal' \
    factor M.mtx --given --diagonal M.diagonal -o M.mtx.gz
refused 1 'beside -o M.perm would be written over --permutation' \
    factor M.mtx --given --permutation M.perm -o M.mtx.gz
refused 1 'are one file' factor a.mtx --json new.perm -o new.mtx
cmp L.upper.mtx original.mtx || complain 'a factor was written over its matrix'
accepted factor L.upper.mtx -o L.mtx

# outputs over outputs
refused 1 'are one file' solve a.mtx -o new.mtx --json new.mtx
refused 1 'are one file' solve a.mtx -o new.mtx --history ./new.mtx
refused 1 'are one file' solve a.mtx --json "$work/sub/../new" --history new
refused 1 'are one file' solve a.mtx -o dangling.mtx --json new.mtx
refused 1 'are one file' solve a.mtx -o dangling.mtx --json sub/dangling.mtx
refused 1 'are one file' compare a.mtx --json page --html page
refused 1 'are one file' partition a.mtx -n 2 --json new -o new
refused 1 'only one of them can be standard output' solve a.mtx --json - -o -
refused 1 'are one pipe' solve a.mtx --json pipe --history pipe

# ... and over standard output, where that is a file
"$TACIT" solve a.mtx >>a.mtx 2>err && complain 'a report in the matrix'
has err 'the report on standard output would be written over MATRIX a.mtx'
"$TACIT" solve a.mtx --json log >>log 2>err && complain 'two reports in a file'
has err 'are one file'
accepted solve -q a.mtx --json log
valid_json log

cmp a.mtx original.mtx || complain 'the matrix was changed'
cmp b.mtx original_b.mtx || complain 'the vector was changed'
[ "$(find . -name 'new*')" = '' ] || complain 'a file in spite of an error'

# one name twice where that does no harm; names that only look alike
accepted solve a.mtx -o /dev/null --json /dev/null --history /dev/null
accepted solve a.mtx b.mtx --x0 b.mtx --json sub/a.mtx -o sub/b.mtx
accepted solve poisson2d:5 --json poisson2d:5
valid_json poisson2d:5
rm -r poisson2d:5

# standard output by its names: written to, not replaced, and nothing else
for name in - /dev/stdout /dev/fd/1; do
    accepted solve a.mtx --json $name
    valid_json out
    accepted solve a.mtx -o $name
    cmp out b.mtx || complain "-o $name"
    accepted convert a.mtx $name
    cmp out a.mtx || complain "convert a.mtx $name"
    accepted partition a.mtx -n 2 -o $name
    [ "$(wc -l <out)" = 25 ] || complain "partition -o $name"
    accepted solve a.mtx --history $name
    [ "$(head -c 9 out)" = iteration ] || complain "--history $name"
done
# standard input in place of a file, of any format, by a pipe or from a file
cp a.mtx in.mtx
for ending in tacit petsc $npz mtx.gz; do
    accepted convert a.mtx in.$ending
done
for name in in.mtx in.tacit in.petsc ${npz:+in.npz} in.mtx.gz; do
    # shellcheck disable=SC2002 # a pipe is what is tried
    cat $name | "$TACIT" convert - - >out 2>err || complain "a pipe: $name"
    cmp out a.mtx || complain "a pipe: $name"
    "$TACIT" convert - - <$name >out 2>err || complain "<$name"
    cmp out a.mtx || complain "<$name"
done
seq 25 >numbers
accepted solve a.mtx numbers -o -
cp out from_numbers
"$TACIT" solve a.mtx - -o - <numbers >out 2>err || complain 'RHS -'
cmp out from_numbers || complain 'RHS -'
"$TACIT" solve --rhs numbers -o - - <a.mtx >out 2>err || complain 'MATRIX -'
cmp out from_numbers || complain 'MATRIX -'
"$TACIT" solve a.mtx --x0 - --json - <b.mtx >out 2>err || complain '--x0 -'
"$TACIT" solve - <a.mtx >out 2>err || complain 'MATRIX -'
has out 'matrix   standard input: 25 rows'
echo '1 2 x' | "$TACIT" solve a.mtx - >out 2>err && complain 'bad numbers'
has err 'standard input:1:5'
"$TACIT" solve - </dev/null >out 2>err && complain 'nothing to read'
has err 'standard input: is empty'
refused 1 'only one of them can be standard input' solve - -
refused 1 'only one of them can be standard input' solve a.mtx - --x0 -
refused 1 'once more' solve --rhs file - </dev/null
cp a.mtx both
"$TACIT" solve - -o both <both >out 2>err && complain 'over standard input'
has err 'over MATRIX standard input'
if [ -n "$MPIRUN" ]; then
    # shellcheck disable=SC2086 # a command and its options
    $MPIRUN -np 3 "$TACIT" solve - --rhs ones -q -o three.mtx <a.mtx 2>err ||
        complain 'MATRIX - on 3'
    accepted solve a.mtx --rhs ones -q -o one.mtx
    paste three.mtx one.mtx | awk 'NR > 2 && ($1 - $2) ^ 2 > 1e-10 { bad = 1 }
        END { exit bad }' || complain '3 ranks: another solution'
    # shellcheck disable=SC2086 # a command and its options
    $MPIRUN -np 3 "$TACIT" solve a.mtx - -q -o three.mtx <numbers 2>err ||
        complain 'RHS - on 3'
    run 3 solve a.mtx numbers -q -o one.mtx
    cmp three.mtx one.mtx || complain 'RHS - on 3'
    # shellcheck disable=SC2086 # a command and its options
    $MPIRUN -np 3 "$TACIT" solve - <in.tacit >out 2>err && complain 'a shared pipe'
    has err 'every rank reads its own part'
fi
"$TACIT" solve a.mtx --json /dev/fd/3 3>three >out || complain '/dev/fd/3'
valid_json three
has out 'converged'
finish

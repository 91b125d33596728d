#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Outputs of one command: all or none, whatever ends it.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

# left NAMES: the files in folder made/, "" for none
left() {
    found=$(cd made && echo .[!.]* * | sed 's/\.\[!\.\]\* //; s/^\*$//')
    [ "$found" = "$1" ] || complain "left: '$found', not '$1'"
    rm -rf made && mkdir made
}
mkdir made

accepted factor poisson2d:30 -o made/L.mtx
left 'L.mtx L.perm'
accepted factor poisson2d:30 --kind 'ldlt(order=natural)' -o made/L.mtx
left 'L.diagonal L.mtx L.perm'
# L is larger than the limit of 16 blocks of 512 bytes, L.perm smaller
(MPIRUN= && ulimit -f 16 && refused 5 'cannot be written: File too large' factor poisson2d:30 -o made/L.mtx &&
    exit "$failures") || complain 'factor -o under a limit'
left ''
(ulimit -f 1 && told 5 'File too large: raise the limit of file sizes (ulimit -f)' solve poisson2d:20 --ranks 2 \
    --device host && exit "$failures") || complain '--ranks under a limit'
[ -w /dev/full ] && {
    refused 5 'No space left on device' solve poisson2d:9 -o made/x.mtx --history made/h --json /dev/full
    left ''
    run 1 solve poisson2d:9 --ranks 2 --device host -o made/x.npy --json /dev/full
    [ $status = 5 ] || complain "--ranks 2: status $status"
    left ''
    refused 5 'No space left on device' compare poisson2d:4 --method cg --repeat 1 --html made/c.html --json /dev/full
    left ''
    refused 5 'No space left on device' partition poisson2d:9 -n 3 -o made/p --json /dev/full
    left ''
    refused 5 'No space left on device' trsv poisson2d:9 --device host -o made/x.mtx --json /dev/full
    left ''
}
# an outcome is no error: what was reached is there
run 1 solve poisson2d:20 -q -o made/x.mtx --json made/y.json --max-iterations 3
[ $status = 3 ] || complain "status $status"
left 'x.mtx y.json'

# right-hand sides are read before a factor is made: here none can be
run 1 factor poisson2d:9 --shift -5 --solve nothere.txt
has err 'nothere.txt: cannot be opened'
run 1 factor poisson2d:9 --shift -5
has err 'not positive definite'

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line: what is wrong is said with the nearest known word, status 1.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

refused 1 "did you mean 'solve'" slove poisson3d:4
refused 1 'tacit help' frobnicate
refused 1 "did you mean '--method'" solve poisson3d:4 --metod cg
refused 1 "unknown option '-x'" solve poisson3d:4 -x
refused 1 "did you mean 'pipelined'" solve poisson3d:4 --method pipelind
refused 1 "did you mean 'csr'" solve poisson3d:4 --format=cs
refused 1 "did you mean 'poisson3d'" solve poison3d:4
refused 1 "did you mean 'jacobi'" solve poisson3d:4 --precond jakobi
refused 1 '1 to 16' solve poisson3d:4 --method sstep --steps 17
refused 1 '1 to 16' solve poisson3d:4 --method sstep --steps few
refused 1 "did you mean 'newton'" solve poisson3d:4 --method sstep --basis nowton
accepted solve poisson3d:4 --method sstep --steps auto --basis newton
refused 1 'belongs to' solve poisson3d:4 --steps 4
refused 1 'degree belongs to --precond amg' solve poisson3d:4 --degree 3
seq 1 64 | sed 's/.*/0/' >parts.txt
told 1 'partition belongs to several processes' solve poisson3d:4 --partition parts.txt
told 1 'oversubscribe belongs to several processes' jacobi star2d1r:9x9 --oversubscribe
told 1 'oversubscribe belongs to processes that share a GPU' solve poisson3d:4 --ranks 2 --device host --oversubscribe
for tolerance in rtol atol max-iterations; do
    refused 1 "--$tolerance belongs to solves that a tolerance ends" solve poisson3d:4 --iterations 3 --$tolerance 1
done
accepted solve poisson3d:4 --iterations 3 --rtol 0 --atol 0
refused 1 'norm-every belongs to runs of as many --steps' jacobi star2d1r:9x9 --steps 3 --norm-every 5
accepted solve poisson3d:4 --amortize 3
refused 1 'decides by time' solve poisson3d:4 --precond auto --deterministic
accepted solve poisson3d:4 --deterministic
refused 1 'compare has a row for each' compare poisson3d:4 --precond auto
refused 1 'from 1 to' solve poisson3d:4 --precond auto --amortize 0
accepted solve poisson3d:4 --precond auto --amortize 3 --smoother jacobi
refused 1 'near-null belongs to --precond amg' solve poisson3d:4 --near-null x.mtx
refused 1 'give one of them' solve poisson3d:4 --precond amg --near-null x.mtx --coordinates y.mtx
refused 1 'not a multiple of 3' solve poisson3d:4 --precond amg --node-rows 3
printf '%%%%MatrixMarket matrix array real general\n8 3\n0\n1\n0\n1\n0\n1\n0\n1
0\n0\n1\n1\n0\n0\n1\n1\n0\n0\n0\n0\n1\n1\n1\n1\n' >points.mtx
accepted solve elasticity3d:2 --precond amg --coordinates points.mtx
refused 2 'a point a line is wanted, for each 3 of 81 rows' solve elasticity3d:3 --precond amg --coordinates points.mtx
{ printf '%%%%MatrixMarket matrix array real general\n24 1\n' && yes 1 | head -n 24; } >ones.mtx
accepted solve elasticity3d:2 --precond amg --near-null ones.mtx
refused 2 'but 64 rows are wanted' solve poisson3d:4 --precond amg --near-null ones.mtx
refused 1 "did you mean 'float'" solve poisson3d:4 --precond amg --precond-precision flaot
refused 1 'precond-precision belongs to' solve poisson3d:4 --precond-precision float
refused 1 "did you mean 'chebyshev'" solve poisson3d:4 --precond amg --smoother chebychev
refused 1 "did you mean 'cuda'" solve poisson3d:4 --device cuba
refused 1 'needs --device cuda' solve poisson3d:4 --device host --loop graph
refused 1 'needs --device cuda' solve poisson3d:4 --device host --precision mixed
refused 1 'sell' solve poisson3d:4 --device host --format sell32
refused 1 'GPU only' solve poisson3d:4 --device host --format sell/f64
refused 1 "unknown order 'foo' (available: none, rcm, metis, auto)" \
    solve poisson3d:4 --reorder foo
refused 1 "did you mean 'metis'" bench spmv poisson3d:4 --reorder mets
refused 1 "unknown order 'foo': auto, none, rcm or metis" \
    solve poisson3d:4 --format sell@foo
refused 1 'says the order: leave out --reorder none' \
    solve poisson3d:4 --format sell@rcm --reorder none
refused 1 "unknown option '--reorder'" convert poisson3d:4 m.mtx --reorder rcm
refused 1 "did you mean 'graph'" solve poisson3d:4 --loop grahp
refused 1 'not a number' solve poisson3d:4 --rtol abc
refused 1 'finite' solve poisson3d:4 --rtol nan
refused 1 '0 or greater' solve poisson3d:4 --rtol -1
refused 1 'whole number' solve poisson3d:4 --max-iterations 1e3
refused 1 'from 1 to 4096' solve poisson3d:4 --threads 0
refused 1 'is missing' solve poisson3d:4 --rtol
refused 1 'takes no value' solve poisson3d:4 --quiet=yes
refused 1 'MATRIX' solve
refused 1 'too many' solve poisson3d:4 ones more
refused 1 'two right-hand sides' solve poisson3d:4 ones --rhs ones
refused 1 "did you mean 'manufactured'" solve poisson3d:4 manufacured
refused 1 "did you mean 'ones'" solve poisson3d:4 --rhs one
refused 1 'empty operand' solve ''
refused 1 'empty operand' convert poisson3d:4 ''
refused 1 'N = 0' solve poisson3d:0
refused 1 'PARTS' partition poisson3d:4
refused 1 'would be empty' partition poisson3d:2 -n 9
refused 1 'power of two' factor poisson3d:4 --leaves 3
refused 1 "did you mean 'ldlt'" factor poisson3d:4 --kind ldl
refused 1 'order belongs to --precond ic0' solve poisson3d:4 --order nd
refused 1 'leaves belongs to --precond ic0' solve poisson3d:4 --precond amg --leaves 2
refused 1 'such as 2x1x4' trsv poisson3d:4 --grid 2x2
refused 1 'must multiply' trsv poisson3d:4 --grid 3x2x1
refused 1 "did you mean 'baseline3d'" trsv poisson3d:4 --scheme baseline
refused 1 "did you mean 'subtree'" trsv poisson3d:4 --map subtrees
refused 1 "did you mean 'spmv'" bench spvm poisson3d:4
refused 1 'one process' bench exchange poisson3d:4 --comm self
refused 1 "did you mean 'info'" help inof
run 1
[ $status = 1 ] || complain "no command: status $status"

# options stand where they like
accepted solve --rtol 1e-3 poisson3d:4 -q --method=single
[ -s out ] && complain 'quiet, but it prints'
[ -s err ] && complain 'quiet, but it complains'
accepted solve poisson3d:4 --rhs=ones -vv --max-iterations=9999 -o./x.mtx
[ -s x.mtx ] || complain 'no x.mtx'
accepted solve -- poisson3d:4

# help
for word in '' solve 'solve poisson3d:4' convert info bench; do
    # shellcheck disable=SC2086 # words
    accepted $word --version
    grep -q '^tacit [0-9]*\.[0-9]*\.[0-9]*$' out || complain "$word --version"
    [ "$(wc -l <out)" = 1 ] || complain "$word --version prints more"
done
for command in solve compare info convert partition factor trsv devices bench help; do
    accepted help $command
    has out "usage: tacit $command"
    accepted $command --help
    has out "usage: tacit $command"
    accepted help
    has out "tacit $command"
done
accepted help --man
cmp -s out "$source/docs/tacit.1" ||
    complain 'docs/tacit.1 is stale: tacit help --man > docs/tacit.1'

# what is missing says why
accepted devices
grep -q '(, ' out && complain 'devices: a list that begins with a comma'
grep -q '^file	plain	yes	.*(reads vectors, reads several vectors)$' out ||
    complain 'devices: plain'
grep -q '^comm	queue	yes	' out || complain 'devices: queue'
refused 1 "unknown comm 'zzz' (available: self, " solve poisson3d:4 --comm zzz
accepted devices
grep -q '^comm	nccl	yes	.*: NCCL [2-9]\.' out ||
    grep -q '^comm	nccl	no	.' out || complain 'devices: nccl'
grep -q '^comm	nvshmem	yes	.*: NVSHMEM 3\.' out ||
    grep -q '^comm	nvshmem	no	.' out || complain 'devices: nvshmem'
for wish in auto yes no maybe; do
    TACIT_GPU_AWARE_MPI=$wish "$TACIT" devices >out
    case $wish in
    auto) said='GPU-aware or not is known under mpirun' ;;
    yes) said='used as GPU-aware, as TACIT_GPU_AWARE_MPI says' ;;
    no) said='not used as GPU-aware, as TACIT_GPU_AWARE_MPI says' ;;
    *) said="TACIT_GPU_AWARE_MPI is 'maybe': expected auto, yes or no" ;;
    esac
    [ -z "$MPIRUN" ] || has out "through MPI: $said"
done
for variable in TACIT_ISA TACIT_AMG_SETUP TACIT_AMG_COARSE TACIT_EARLY TACIT_NCCL_LEADS; do
    env "$variable=nonsense" "$TACIT" solve poisson3d:4 >refused 2>&1
    [ $? = 1 ] || complain "$variable=nonsense is taken"
    has refused "the environment variable $variable is 'nonsense': expected one of: "
    env "$variable=nonsense" "$TACIT" devices >refused 2>&1
    [ $? = 1 ] || complain "devices: $variable=nonsense is taken"
    has refused "the environment variable $variable is 'nonsense': expected one of: "
done
if [ -n "$MPIRUN" ]; then
    run 2 devices
    grep -q '^comm	mpi	yes	.*: \(not \)\{0,1\}GPU-aware$' out || complain 'devices: mpi'
    TACIT_GPU_AWARE_MPI=maybe
    export TACIT_GPU_AWARE_MPI
    run 2 solve poisson3d:6 --comm mpi
    [ $status = 1 ] || complain "TACIT_GPU_AWARE_MPI is maybe: status $status"
    has err "the environment variable TACIT_GPU_AWARE_MPI is 'maybe'"
    unset TACIT_GPU_AWARE_MPI
    accepted devices
fi
gpu=no
grep -q '^device	cuda	yes	' out && gpu=yes
for name in cuda graph resident mixed mixed48; do
    grep -q "	$name	$gpu	." out || complain "devices: $name is not $gpu"
done
for name in csr sell32 sell bsell; do
    grep -q '^cuda format	' out || break # not in this build
    grep -q "^cuda format	$name	$gpu	." out || complain "cuda format $name"
done
for name in host cg single pipelined pipe-pr flexible csr sell bsell double none jacobi; do
    grep -q "	$name	yes	" out || complain "devices: $name"
done
if [ $gpu = no ]; then
    # what the build lacks is wrong usage, what the machine lacks is the machine
    code=1
    grep -q '^device	cuda	no	not in this build' out || code=5
    refused $code 'cuda' solve poisson3d:4 --device cuda --loop graph
fi
accepted devices
if ldd "$TACIT" | grep -q libzip; then
    has out 'file	npz	yes	'
else
    grep -q '^file	npz	no	.*without libzip (install libzip-dev' out || complain 'devices: npz'
    refused 1 'libzip-dev' convert poisson2d:3 x.npz
    printf 'PK\003\004 and more' >archive
    refused 1 'libzip-dev' info archive
    refused 1 'libzip-dev' info - <archive
fi
finish

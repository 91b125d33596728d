#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The program on a GPU: every loop, format and precision, and what it reports.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
"$TACIT" devices >offers
if ! grep -q '^device	cuda	yes	' offers; then
    echo "skipped: $(grep '^device	cuda	' offers | cut -f 4)"
    exit 77
fi
value() { # FILE FIELD: the path's or what follows it
    sed -n '/"path"/,$p' "$1" |
        sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" | head -1
}
is() { # FILE FIELD VALUE
    [ "$(value "$1" "$2")" = "$3" ] || complain "$2 is $(value "$1" "$2"), not $3"
}

# a GPU is the first choice; the host stands beside it with the same answer
accepted solve poisson3d:20 --rtol 1e-8 --json gpu.json -o gpu.mtx
is gpu.json device '"cuda"'
accepted solve poisson3d:20 --rtol 1e-8 --json host.json -o host.mtx --device host
is host.json device '"host"'
is host.json loop '"host"'
paste gpu.mtx host.mtx | awk 'NR > 2 && NF == 2 && ($1 - $2 > 1e-7 || $2 - $1 > 1e-7) \
    { bad = 1 } END { exit bad }' || complain 'another solution on the GPU'

# life and pingpong: each mode that this machine can have, every cell compared
for edges in 64 40,2048; do
    accepted life --edges $edges --steps 101 --trials 1 --device cuda
    awk -F'\t' 'NR > 1 && $10 == 0 && $11 <= 0 { right++ } END { exit !(right >= 2 && right == NR - 1) }' out ||
        complain "life: $(cat out)"
done
if [ "$(nvidia-smi -L 2>/dev/null | wc -l)" -gt 1 ]; then
    accepted life 1000 --steps 101 --trials 1 --gpus 2
    awk -F'\t' 'NR > 1 && $10 == 0 { right++ } END { exit !(right >= 2 && right == NR - 1) }' out ||
        complain "life on 2 GPUs: $(cat out)"
    accepted life --edges 64,1000 --steps 101 --trials 2 --gpus 2 --loop graph
    awk -F'\t' 'NR > 1 && $4 == "graph" && $10 == 0 && $11 <= 0 { right++ } END { exit !(right >= 6 && right == NR - 1) }' out ||
        complain "life on 2 GPUs, in a graph: $(cat out)"
    for mode in fused send ready; do
        accepted pingpong --min 8 --max 64K --trials 1 --gpus 2 --loop graph --mode $mode
        [ "$(wc -l <out)" = 15 ] || complain "pingpong in a graph: $(cat out)"
    done
    accepted pingpong --min 2M --max 4M --trials 1 --gpus 2 --mode fused
    accepted pingpong --min 3000 --max 3000 --trials 1 --gpus 2
    [ "$(wc -l <out)" -ge 3 ] || complain "pingpong on 2 GPUs: $(cat out)"
fi

# loops: each that a method can have, with the host's number of iterations
for method in cg single pipelined pipe-pr; do
    accepted solve poisson3d:20 --device host --method $method --json host.json
    for loop in host graph resident auto; do
        run 1 solve poisson3d:20 --device cuda --method $method --loop $loop \
            --json gpu.json
        if [ $loop = resident ] && [ $status = 1 ]; then
            has err 'resident'
            continue
        fi
        [ $status = 0 ] || complain "$method $loop: status $status"
        [ $loop = auto ] || is gpu.json loop "\"$loop\""
        near=$(($(value gpu.json iterations) - $(value host.json iterations)))
        [ $near -ge -2 ] && [ $near -le 2 ] || complain "$method $loop: $near iterations more"
    done
done

# formats: as they were asked for; what does not fit says so
for format in csr sell32 sell sell/f64 auto; do
    accepted solve poisson3d:20 --device cuda --format $format --json gpu.json
    [ $format = auto ] || is gpu.json format "\"$format\""
done
accepted solve elasticity3d:6 --device cuda --format bsell --json gpu.json
is gpu.json format '"bsell"'
refused() { # on one rank: this version has one GPU
    run 1 "$@"
    [ $status = 1 ] || complain "tacit $*: status $status"
    [ "$(complaints | wc -l)" = 1 ] || complain "tacit $*: not one line"
}
refused solve poisson3d:20 --device cuda --format sel32
has err "did you mean 'sell32'"
refused solve poisson3d:20 --device cuda --format csr+low16
refused solve poisson3d:20 --device cuda --format sell+low32 --precision mixed
refused solve poisson3d:20 --device cuda --decorate memcheck:

# precisions meet the same tolerance
for low in '' +low32 +low48; do
    precision=double
    [ "$low" != +low32 ] || precision=mixed
    [ "$low" != +low48 ] || precision=mixed48
    accepted solve jump3d:16,1e3,1 --device cuda --rtol 1e-10 --format sell$low --json gpu.json
    is gpu.json precision "\"$precision\""
    is gpu.json converged true
    awk -v r="$(value gpu.json true_relative_residual)" \
        'BEGIN { exit !(r > 0 && r <= 1e-10) }' || complain "$precision: residual"
    if [ $precision = double ]; then
        is gpu.json reliable_updates null
        is gpu.json fallback null
    else
        [ "$(value gpu.json fallback)" = null ] && complain "$precision: fallback"
    fi
done
accepted solve jump3d:16,1e3,1 --device cuda --precision mixed --json gpu.json
is gpu.json precision '"double"'
has out 'in double precision: values of fewer bits make no faster products here'
accepted solve poisson3d:20 --device cuda --format sell+low48 --json gpu.json
is gpu.json precision '"mixed48"'

# the other commands
accepted solve poisson3d:20 --device cuda --profile --json profile.json
is profile.json loop '"host"'
accepted compare poisson3d:20 --repeat 1 --json compare.json --html compare.html
valid_json compare.json
for text in '	cuda	' '	host	' '	mixed	' '	graph	'; do
    has out "$text"
done
grep -q 'peer-style' out || complain 'compare: no word on the baseline'
has compare.html '</html>'
# what would take long on the host is left out there, and said so
run 1 compare poisson3d:150 --repeat 1 --warmup 0 --method cg --format sell --loop host --max-iterations 5
has out 'device	host	23,490,000 entries, 5 iterations: takes long'
grep -q '^cg	host	self	host	' out && complain 'compare: a slow row of the host'
accepted compare poisson3d:12 --all --repeat 1 --warmup 0 --precision double --method cg
accepted info poisson3d:20 --device cuda --json info.json
valid_json info.json
has out 'in sell32'
accepted bench spmv poisson3d:20 --device cuda --repeat 3
has out 'sell32'
accepted bench spmv poisson3d:20 --device cuda --repeat 3 --format sell/f64
accepted bench reduce --device cuda --repeat 3
if [ -n "$MPIRUN" ]; then # of vectors on the GPU: 24 sizes, through each link
    run 2 bench exchange --device cuda --warmup 0 --repeat 1
    if [ $status = 5 ]; then # there is one GPU
        has err '2 ranks and 1 GPU on '
        has err 'say --oversubscribe'
        run 2 bench exchange --device cuda --warmup 0 --repeat 1 --oversubscribe --comm mpi
    fi
    [ $status = 0 ] || complain "bench exchange: status $status"
    for link in $(sed -n '2,$s/	.*//p' out | uniq) mpi; do
        [ "$(grep -c "^$link	" out)" = 24 ] || complain "bench exchange: $link: $(cat out)"
    done
fi

# processes of its own, each with a GPU or, for tests, on one: the same bits
accepted solve poisson3d:20 --gpus 1 --json gpu.json
is gpu.json ranks 1
is gpu.json oversubscribed false
run 1 solve poisson3d:20 --gpus 2 --json gpu.json
gpus=2
if [ $status = 5 ]; then
    gpus=1
    has err '2 ranks and 1 GPU on '
    refused_ranks=$(complaints | wc -l)
    [ "$refused_ranks" = 1 ] || complain "--gpus 2: $refused_ranks lines"
fi
for comm in shm peer; do
    accepted solve poisson3d:20 --gpus 2 --comm $comm --loop host --oversubscribe \
        --rtol 1e-8 --json gpu.json -o $comm.mtx
    is gpu.json comm "\"$comm\""
    is gpu.json ranks 2
    [ $gpus = 1 ] || is gpu.json oversubscribed false
    [ $gpus = 2 ] || is gpu.json oversubscribed true
done
cmp -s shm.mtx peer.mtx || complain '--gpus 2: other bits through another link'

# triangular solves by both of them, in one kernel each or in two
for comm in shm peer; do
    accepted trsv poisson3d:12 --gpus 2 --comm $comm --oversubscribe --rhs-columns 3 \
        --json trsv.json -o $comm.mtx
    one=false
    [ $comm = shm ] || one=true
    grep -q "\"one_kernel\":[[:space:]]*$one" trsv.json || complain "trsv: $comm: one_kernel"
    grep -q "\"comm\":[[:space:]]*\"$comm\"" trsv.json || complain "trsv: not by $comm"
    sed -n 's/.*"relative_residual":[[:space:]]*\([^,]*\),*/\1/p' trsv.json |
        awk '{ bad = !($1 < 1e-12) } END { exit NR != 1 || bad }' ||
        complain "trsv: $comm: the residual"
done
cmp -s shm.mtx peer.mtx || complain 'trsv: other bits through another link'

# ... and by both of one grid: the bits of one GPU
accepted trsv poisson3d:17 --device cuda --rhs-columns 3 -o one.mtx
for grid in 2x1x1 1x2x1; do
    accepted trsv poisson3d:17 --gpus 2 --comm peer --oversubscribe --rhs-columns 3 \
        --grid $grid --json trsv.json -o grid.mtx
    grep -q '"one_kernel":[[:space:]]*true' trsv.json || complain "trsv: $grid: one_kernel"
    cmp -s one.mtx grid.mtx || complain "trsv: $grid: other bits than one GPU"
done
refused trsv poisson3d:4 --gpus 2 --oversubscribe --comm shm --grid 2x1x1
has err 'take link peer, or a grid of 1x1x2'
refused trsv poisson3d:4 --gpus 2 --oversubscribe --scheme p2p
has err 'there is 3d alone'

# solves with a factor
accepted trsv poisson2d:60 --device cuda --rhs-columns 3
has out 'one kernel a solve'
awk '/^error/ { exit !($2 < 1e-11) }' out || complain 'trsv: an error'
accepted solve poisson2d:60 --device cuda --method direct --rtol 1e-13
has out 'solved with the factor'
finish

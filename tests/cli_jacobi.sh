#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tacit jacobi: results in files are those of a step by hand, and the same in all
# ways; reports; what is wrong is one line.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
S=star2d1r:4x3

# values FILE: those of an .npy of doubles, one a line (its header has 128 bytes)
values() { od -A n -v -t f8 -j 128 -w8 "$1" | tr -d ' '; }
# expect FILE VALUE...: the file has these values
expect() {
    file=$1
    shift
    values "$file" >got
    printf '%s\n' "$@" | cmp -s - got || complain "$file: $(tr '\n' ' ' <got)"
}

# --- one step by hand, from text and from what was written
printf '# rows of four\n1 2 3\n4, 5 6 7\n8 9 10 11 12' >start.txt
accepted jacobi $S --x0 start.txt --steps 1 -o one.npy --json one.json
expect one.npy 1.75 2.5 3.25 2.75 4 6 7 5.75 3.75 6.5 7.25 4.75
valid_json one.json
for key in grid path result time rate; do
    grep -q "\"$key\"" one.json || complain "one.json: no $key"
done
accepted jacobi $S --x0 start.txt --steps 1 -o ring.npy -q --periodic xy
expect ring.npy 5 5 6 6 6 6 7 7 7 7 8 8
accepted jacobi $S --x0 start.txt --steps 1 -o two.npy -q --boundary 2 --coefficients 1,0.5
expect two.npy 6.5 8 10.5 11.5 14 18 21 20.5 18.5 24 26.5 23.5
accepted jacobi $S --x0 one.npy --steps 1 -o two.npy -q
accepted jacobi $S --x0 start.txt --steps 2 -o both.npy -q
cmp -s two.npy both.npy || complain 'two steps are not one and one'
accepted jacobi $S --x0 - -q -o - <start.txt
head -c 6 out | tail -c 5 | grep -q NUMPY || complain 'no array on standard output'
[ "$(wc -c <out)" = 224 ] || complain 'standard output has more than the array'
"$TACIT" jacobi $S --x0 start.txt --steps 2 -o - -q | cmp -s - both.npy || complain '-o - has another array'

# Coefficients by cell: arrays for the cell, then n, w, e, s. Only the cell's is not 0.
for k in 2 0 0 0 0; do printf "$k $k $k $k\n%.0s" 1 2 3; done >cells.txt
accepted jacobi $S --x0 start.txt --steps 1 -o twice.npy -q --coefficients cells.txt
expect twice.npy 2 4 6 8 10 12 14 16 18 20 22 24
for k in 0 0 1 0 0; do printf "$k $k $k $k\n%.0s" 1 2 3; done >cells.txt
accepted jacobi $S --x0 start.txt --steps 1 -o west.npy -q --coefficients cells.txt --boundary -1
expect west.npy -1 1 2 3 -1 5 6 7 -1 9 10 11

# nan stays where the stencil puts it: a star leaves out the cell itself
printf '1 1 1 1 1 nan 1 1 1 1 1 1' >nan.txt
accepted jacobi $S --x0 nan.txt --steps 1 -o nan.npy -q
[ "$(values nan.npy | grep -n nan | tr '\n' ' ')" = '2:nan 5:nan 7:nan 10:nan ' ] || complain 'nan at other cells'

# a field that grows beyond the range of its type is told, whether its change is measured or it is written
G="$S --x0 start.txt --coefficients 2,1 --steps 3000"
for how in '--norm-every 100' '--rtol 1e-9' '--norm-every 100 --type float'; do
    told 4 'the change is not finite' jacobi $G $how
    has out 'is not finite'
    grep -qi '[^a-z]nan\|[^a-z]inf' out && complain "$how: $(cat out)"
done
for how in '' '--type float' '--ranks 2'; do
    told 4 'the field is not finite: weights let the field grow' jacobi $G $how -o big.npy
    told 4 'step 3000: the field is not finite' jacobi $G $how --png big.png
done
accepted jacobi $S --x0 nan.txt --coefficients 2,1 --steps 3 -o nan.npy -q
accepted jacobi $S --x0 nan.txt --steps 3 --norm-every 1
accepted jacobi $S --x0 start.txt --coefficients 0.5,0.1 --steps 300 -o small.npy -q

# --- all ways have the same bits, in each type
for type in float double; do
    for grid in star2d1r:70x61 box2d1r:70x61 star3d1r:17x13x11 box3d1r:17x13x11; do
        G="$grid --device host --type $type --steps 21 --boundary 1 --periodic y"
        accepted jacobi $G --way copy --threads 1 -o a.npy -q
        for how in '--way tiles --depth 5' '--way tiles' '--way tiles --depth 3 --threads 2' '--norm-every 4'; do
            accepted jacobi $G $how -o b.npy -q
            cmp -s a.npy b.npy || complain "$G: other bits with $how"
        done
    done
done

grep -qa "'descr': '<f8', 'fortran_order': False, 'shape': (11, 13, 17), " b.npy || complain 'no array of 11 planes'
accepted jacobi star3d1r:17x13x11 --type float --steps 1 -o c.npy --x0 b.npy -q
grep -qa "'descr': '<f4'" c.npy || complain 'no array of floats'
told 2 'has 11 x 13 x 17 values, and the grid 11 x 17 x 13' jacobi star3d1r:13x17x11 --x0 b.npy

# --- reports
accepted jacobi star2d1r:40x40 --steps 100 --way tiles --depth 4 --repeat 3 --norm-every 10 --json r.json -v
has out 'way tiles, depth 4'
has out '100 steps, the change of step 100'
has out '3 runs:'
has err 'step 90: change'
valid_json r.json
grep -q '"depth":	4' r.json || complain 'no depth'
accepted jacobi star2d1r:40x40 --json -
valid_json out
accepted jacobi star2d1r:40x40 -q
[ -s out ] && complain 'quiet, but a report'
accepted jacobi star2d1r:300x200 --boundary 1 --steps 50 --png a.png --periodic x
head -c 4 a.png | tail -c 3 | grep -q PNG || complain 'no picture'
if command -v python3 >/dev/null; then
    python3 - <<'END' || complain 'a.png: not as PNG wants it'
import struct, zlib
data, kinds, at = open("a.png", "rb").read(), [], 8
while at < len(data):
    size, = struct.unpack(">I", data[at:at + 4])
    part = data[at + 4:at + 8 + size]
    assert zlib.crc32(part) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
    kinds.append(part[:4])
    if part[:4] == b"IHDR": assert part[4:] == struct.pack(">IIBBBBB", 300, 200, 8, 2, 0, 0, 0)
    if part[:4] == b"IDAT": rows = zlib.decompress(part[4:])
    at += 12 + size
assert kinds == [b"IHDR", b"IDAT", b"IEND"] and len(rows) == 200 * 901
line = [rows[y * 901 + 1:y * 901 + 4] for y in range(200)]
assert line == line[::-1] and len(set(line)) > 10  # above and below alike, and colours
END
    accepted jacobi $S --x0 nan.txt --steps 1 --png nan.png -q
    accepted jacobi star2d1r:5000x3 --steps 1 --png wide.png -q
    python3 - <<'END' || complain 'nan.png, wide.png: other pixels'
import struct, zlib
data = open("nan.png", "rb").read()
at = data.index(b"IDAT")
rows = zlib.decompress(data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]])
black = [y * 4 + x + 1 for y in range(3) for x in range(4) if rows[y * 13 + 1 + 3 * x:][:3] == bytes(3)]
assert black == [2, 5, 7, 10], black
assert open("wide.png", "rb").read()[16:24] == struct.pack(">II", 1667, 1)  # one of three cells
END
fi
accepted jacobi star2d1r:20x20 --boundary 1 --steps 5000 --rtol 1e-4 --json r.json
grep -q '"converged":	true' r.json || complain 'not converged'
run 1 jacobi star2d1r:20x20 --boundary 1 --steps 100 --rtol 1e-9 -o late.npy -q
[ $status = 3 ] && has err 'not converged after 100 steps' || complain "not converged: status $status"
[ -s late.npy ] || complain 'not converged, and no field'
told 4 'the change is not finite' jacobi $S --x0 nan.txt --rtol 1e-3 -q

# --- what is wrong
refused 1 'GRID' jacobi
refused 1 "did you mean 'star2d1r'" jacobi star2d:4x4
told 1 'expected star2d1r:NXxNY' jacobi star2d1r:4x4x4
told 1 'expected box3d1r:NXxNYxNZ' jacobi box3d1r:4x0x4
told 1 "did you mean 'tiles'" jacobi $S --way tile
told 1 'way shmem is for grids that are divided among ranks' jacobi $S --way shmem
told 1 "did you mean 'float'" jacobi $S --type flaot
told 1 'from 1 to 64' jacobi $S --depth 65
told 1 'depth belongs to --way tiles or auto' jacobi $S --way copy --depth 3
told 1 'each once' jacobi $S --periodic xz
told 1 'each once' jacobi $S --periodic xx
told 1 'nothing is outside' jacobi $S --periodic xy --boundary 1
told 1 'whole number' jacobi $S --steps 0
told 1 '0 or greater' jacobi $S --rtol -1
refused 1 'give it that ending' jacobi $S -o x.mtx
told 1 'which is read' jacobi $S --x0 one.npy -o one.npy
told 1 'one file' jacobi $S -o x.npy --png x.npy
told 1 'standard input is read once' jacobi $S --x0 - --repeat 2
told 1 "unknown option '--method'" jacobi $S --method cg
told 1 "unknown option '--way'" solve poisson3d:4 --way copy
told 1 'boundary 1e+300: expected a finite number of type float' jacobi $S --boundary 1e300 --type float
told 1 'coefficient of the cell' jacobi $S --coefficients nan,1
told 2 '1,2,3: ' jacobi $S --coefficients 1,2,3
told 2 'none.npy: ' jacobi $S --x0 none.npy
told 2 'has 12 values, and the grid 4 x 4' jacobi star2d1r:4x4 --x0 start.txt
told 2 'has more than 8 values, and the grid 2 x 4' jacobi star2d1r:4x2 --x0 start.txt
told 2 'has 3 x 4 values, and the grid 4 x 3' jacobi star2d1r:3x4 --x0 one.npy
told 2 'the grid 5 x 3 x 4' jacobi $S --coefficients one.npy
printf '1 2 3\n4 x5 6' >bad.txt
told 2 "bad.txt:2:3: 'x5' is no number" jacobi $S --x0 bad.txt
head -c 150 one.npy >short.npy
told 2 'cut short' jacobi $S --x0 short.npy
cat one.npy one.npy >long.npy
told 2 'goes on after its array' jacobi $S --x0 long.npy
: >empty.npy
told 2 'empty' jacobi $S --x0 empty.npy
told 2 'exceed 64 bits' jacobi box3d1r:2147483647x2147483647x2147483647
told 5 'GiB are free: take a smaller one' jacobi star2d1r:2000000000x2000000000
[ -e x.npy ] && complain 'an output of a run that was refused'

# --- several ranks: the same file and picture, whatever the blocks
G='box2d1r:61x70 --device host --type float --steps 13 --boundary 1 --periodic x'
seq 1 4270 >start.txt
accepted jacobi $G --x0 start.txt --way copy -o one.npy --png one.png -q
for how in '2 --way copy' '2 --way shmem' '3 --way tiles --depth 5' '3 --blocks 3x1 --norm-every 4'; do
    accepted jacobi $G --x0 start.txt --ranks $how -o b.npy --png b.png -q
    cmp -s one.npy b.npy || complain "ranks $how: other bits"
    cmp -s one.png b.png || complain "ranks $how: another picture"
done
for n in 2 3; do
    accepted jacobi $G --x0 start.txt --ranks $n --depth 4 --json r.json --blocks 1x$n
    valid_json r.json
    grep -q "\"ranks\":	$n" r.json || complain "$n ranks: not in the report"
    grep -q "\"blocks\":	\[1, $n\]" r.json || complain "$n ranks: no blocks in the report"
    has out "blocks 1 x $n, comm shm, 4 ghost cells"
    [ -n "$MPIRUN" ] || continue
    for comm in shm mpi; do
        run $n jacobi $G --x0 start.txt -o b.npy --comm $comm --way tiles --depth 4
        [ $status = 0 ] || complain "mpirun, $n ranks, $comm: status $status"
        [ "$(grep -c '^grid' out)" = 1 ] || complain "mpirun, $n ranks, $comm: not one report"
        has out "comm $comm, 4 ghost cells"
        cmp -s one.npy b.npy || complain "mpirun, $n ranks, $comm: other bits"
    done
done
"$TACIT" jacobi $G --x0 - --ranks 3 -q -o - <start.txt | cmp -s - one.npy || complain 'through pipes on 3 ranks'
told 1 'they are 4, and there are 3 ranks' jacobi $G --ranks 3 --blocks 2x2
told 1 "expected 2 numbers, such as 1x2" jacobi $G --ranks 2 --blocks 2
told 1 "expected 3 numbers" jacobi star3d1r:4x4x4 --blocks 2x1
told 1 'more than the 2 cells' jacobi star2d1r:9x2 --ranks 3 --blocks 1x3
told 1 'depth 24: blocks of the grid are 23 cells wide' jacobi $G --ranks 3 --depth 24 --blocks 1x3
told 1 'coefficients of its own cells' jacobi $S --ranks 2 --coefficients cells.txt --depth 2
told 2 'has 12 values' jacobi star2d1r:4x4 --x0 nan.txt --ranks 2

# --- parts of a step
P='star2d1r:64x64 --device host --ranks 2'
for way in copy overlap shmem1 free 'tiles --depth 4' 'cached --depth 4'; do
    accepted jacobi $P --way $way --no-compute --json r.json
    valid_json r.json
    grep -q '"skip":	"computing"' r.json || complain "$way: computing is not left out"
    grep -q '"gcells_per_second":	null' r.json || complain "$way: cells of no steps"
    has out 'steps without computing: the field is undefined'
    accepted jacobi $P --way $way --no-communication --json r.json
    grep -q '"skip":	"communication"' r.json || complain "$way: communication is not left out"
    grep -q '"halo_bytes_a_step":	0' r.json || complain "$way: halos, but no communication"
done
accepted jacobi $P --way copy --json r.json
grep -q '"skip":	null' r.json || complain 'whole steps have a part left out'
told 1 'would be chosen by steps that are not whole: add --way' jacobi $P --no-compute
told 1 'not whole: add --depth' jacobi $P --no-compute --way tiles
told 1 'several processes, and here is one' jacobi $S --no-communication --way copy
told 1 'no-compute belongs to runs without --no-communication' jacobi $P --no-compute --no-communication --way copy
for how in '--rtol 0.1' '--norm-every 4' '-o x.npy' '--png x.png' '--x0 start.txt'; do
    told 1 'belongs to whole steps' jacobi $P --way copy --no-compute $how
done

# --- all ways
accepted compare star2d1r:64x64 --device host --type float --repeat 1 --json r.json
valid_json r.json
for way in copy tiles free free2 cached; do
    grep -q "\"way\":	\"$way\"" r.json || complain "compare: no way $way"
done
has out 'overlap: way overlap is for grids that are divided among ranks'
accepted compare $P --repeat 1
for way in copy tiles overlap p2p shmem shmem1 free free2 cached; do
    grep -q "^$way	" out || complain "compare on 2 ranks: no way $way"
done
told 1 'method belongs to a MATRIX' compare star2d1r:64x64 --method cg
told 1 'type belongs to a GRID' compare poisson2d:20 --type float
finish

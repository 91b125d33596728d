#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reports, solutions, histories, conversions, partitions: what the program
# writes can be read again and says the same on one rank and on several.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1
value() { sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" "$1" | head -1; }

# the report has every field of the contract
accepted solve poisson3d:12 --json report.json
valid_json report.json
for field in tacit matrix name rows nonzeros nonzeros_per_row min mean max path \
    method loop loop_detail comm comm_detail device device_name format precision precond ranks threads \
    result converged stop iterations relative_residual true_relative_residual \
    error_2norm reliable_updates fallback time whole decisions read partition setup solve per_iteration all_solves \
    operations spmv dot nrm2 axpy reduce exchange count seconds flops bytes \
    messages moved_bytes rate gflops gbytes_per_second copy_gbytes_per_second \
    fraction_of_copy; do
    grep -q "\"$field\":" report.json || complain "report: no $field"
done
[ "$(value report.json converged)" = true ] || complain 'report: converged'
[ "$(value report.json stop)" = '"rtol"' ] || complain 'report: stop'
accepted solve poisson3d:12 --json - --profile --repeat 3 --warmup 1
cp out profile.json
valid_json profile.json
[ "$(head -c 1 out)" = '{' ] || complain '--json - prints more than JSON'
# a solve that misses its tolerance is not repeated; one that has none is
for words in '3 --rtol 0' '1 --rtol 1e-9'; do
    # shellcheck disable=SC2086 # words
    run 1 solve poisson3d:12 ${words#* } --max-iterations 5 --warmup 1 --repeat 3 --json repeat.json
    [ $status = 3 ] || complain "--repeat, $words: status $status"
    got=$(sed -n 's/.*"all_solves":[[:space:]]*\[\(.*\)\].*/\1/p' repeat.json | tr ',' '\n' | wc -l)
    [ "$got" = "${words%% *}" ] || complain "--repeat 3, $words: $got times"
done
accepted info poisson2d:4 --shift 0.30000000000000004 --json bits.json
[ "$(value bits.json shift)" = 0.30000000000000004 ] || complain 'JSON: a bit is lost'
accepted solve poisson3d:12 --rhs ones --json ones.json
[ "$(value ones.json error_2norm)" = null ] || complain 'an error without x*'

# a race of preconditioners: one is taken, the others say why not
accepted solve jump3d:8,1e4,1 --precond auto --json race.json
valid_json race.json
[ "$(grep -c '"picked":.*true' race.json)" = 1 ] || complain 'race: not one'
grep -q '"precond":.*"jacobi"' race.json || complain 'race: not jacobi'
accepted solve jump3d:8,1e4,1 --precond auto --repeat 2
has out 'a solve: taken'
has out 'amg: not tried'

# a small matrix takes one thread, whatever --threads allows, and says so
accepted solve poisson3d:4 --threads 2 --json threads.json -vv
[ "$(value threads.json threads)" = 1 ] || complain 'threads: not 1 of 2'
has err 'threads: 1 used'

# not converged, broken down: the report is there all the same
run 1 solve poisson3d:12 --max-iterations 3 --json three.json
[ $status = 3 ] || complain "three iterations: status $status"
valid_json three.json
[ "$(value three.json stop)" = '"max_iterations"' ] || complain 'three: stop'
run 1 solve like:nlpkkt80,6 --json broken.json
[ $status = 4 ] || complain "indefinite: status $status"
valid_json broken.json
[ "$(value broken.json stop)" = '"breakdown"' ] || complain 'broken: stop'

# history: a line per iteration, the last one the report's residual
accepted solve poisson3d:12 --history history.tsv --json report.json
k=$(value report.json iterations)
[ "$(head -1 history.tsv)" = 'iteration	relative_residual' ] ||
    complain 'history: head'
[ "$(tail -1 history.tsv | cut -f1)" = "$k" ] || complain 'history: last line'
[ "$(wc -l <history.tsv)" = $((k + 2)) ] || complain 'history: length'

# a solution is a right-hand side and a first guess for the next solve
accepted solve poisson3d:12 --rhs ones --rtol 1e-10 -o x.mtx
accepted solve poisson3d:12 --rhs ones --rtol 1e-9 --x0 x.mtx --json again.json
[ "$(value again.json iterations)" = 0 ] || complain 'x0: more than 0 iterations'
accepted solve poisson3d:12 x.mtx --json again.json
[ "$(value again.json converged)" = true ] || complain 'x.mtx as right-hand side'

# right-hand sides that stand in the matrix's file
{
    printf '%-72s%-8s\n' title key
    printf '%14d%14d%14d%14d%14d\n' 6 1 1 1 3
    printf '%-14s%14d%14d%14d%14d\n' RSA 2 2 2 0
    printf '%-16s%-16s%-20s%-20s\n' '(3I2)' '(2I2)' '(2F6.1)' '(2F6.1)'
    printf '%-14s%14d%14d\n' FG 1 0
    printf '%s\n' ' 1 2 3' ' 1 2' '   2.0   4.0' '   6.0   4.0' '   3.0   1.0'
} >own.rsa
accepted solve own.rsa --json own.json
has err 'warning: own.rsa holds a right-hand side'
[ "$(value own.json error_2norm)" != null ] || complain 'own.rsa: not manufactured'
for rhs in '--rhs file' file own.rsa '--rhs own.rsa'; do
    # shellcheck disable=SC2086 # words
    accepted solve own.rsa $rhs -o own.mtx --rtol 1e-12
    grep -q warning err && complain "$rhs: a warning"
    [ "$(tail -n 2 own.mtx | tr '\n' ' ')" = '3 1 ' ] || complain "$rhs: $(cat own.mtx)"
done
accepted solve own.rsa file --x0 file --json own.json
[ "$(value own.json iterations)" = 0 ] || complain 'x0 file: not the solution'
accepted compare own.rsa --rhs file --repeat 1
accepted info own.rsa
has out 'right-hand side	in the file'
sed '2s/3$/0/; 5d' own.rsa | sed '8,$d' >no.rsa
refused 2 'without a right-hand side' solve no.rsa --rhs file
refused 2 'without a first guess' solve no.rsa --x0 file
refused 1 'poisson3d:4 is no file' solve poisson3d:4 --rhs file

# on several ranks: the same solution, in the original row order
if [ -n "$MPIRUN" ]; then
    run 4 solve poisson3d:12 --rhs ones --rtol 1e-10 --partitioner metis -o x4.mtx \
        --json four.json
    [ $status = 0 ] || complain "4 ranks: status $status"
    valid_json four.json
    [ "$(value four.json ranks)" = 4 ] || complain '4 ranks: ranks'
    paste x.mtx x4.mtx | awk 'NR > 3 && NF == 2 && ($1 - $2 > 1e-7 || $2 - $1 > 1e-7) \
        { bad = 1 } END { exit bad }' || complain '4 ranks: another solution'
    run 4 solve poisson3d:12 --rhs ones --x0 x4.mtx --json again.json
    [ "$(value again.json iterations)" = 0 ] || complain '4 ranks: x0'
    run 4 partition poisson3d:12 -n 4 -o p4
    cp p4 p4.ranks
    accepted partition poisson3d:12 -n 4 -o p4
    cmp -s p4 p4.ranks || complain 'another partition on 4 ranks'
    run 4 solve poisson3d:12 --partition p4 --json parts.json
    [ $status = 0 ] || complain "partition file: status $status"
    [ "$(value parts.json partition)" = '"file"' ] || complain 'path: partition'
fi

# another order of rows inside: the same solution, history and right-hand side
# outside, in files and in the report
near() { # FILE FILE: numbers that agree to 1e-8
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] && paste "$1" "$2" | awk -F'\t' \
        '!/%/ && ($1 - $2) ^ 2 > 1e-16 { bad = 1 } END { exit bad }'
}
accepted convert random:300,4,2 graph.mtx
cp graph.mtx graph.before
for np in 1 ${MPIRUN:+3}; do
    for order in none rcm metis; do
        label="--reorder $order on $np"
        run "$np" solve graph.mtx --rtol 1e-12 -o $order.mtx --json order.json \
            --reorder $order --device host
        [ $status = 0 ] || complain "$label: status $status"
        has out ", order $order, precision"
        valid_json order.json
        [ "$(value order.json order)" = "\"$order\"" ] || complain "$label: JSON"
        seconds=$(value order.json order_seconds)
        case $order,$seconds in
            none,0 | none,0.0) ;;
            none,* | *,0 | *,-* | *,) complain "$label: order_seconds $seconds" ;;
        esac
        near none.mtx $order.mtx || complain "$label: another solution"
        value order.json error_2norm | awk '{ exit !($1 < 1e-9) }' ||
            complain "$label: not x*"
        run "$np" solve graph.mtx --x0 none.mtx --rtol 1e-11 --json order.json \
            --reorder $order --device host
        [ "$(value order.json iterations)" = 0 ] || complain "$label: x0"
        run "$np" solve graph.mtx $order.mtx --rtol 1e-12 --reorder $order \
            -o $order.twice.mtx --device host
        near none.twice.mtx $order.twice.mtx || complain "$label: b in a file"
    done
done
cmp -s graph.mtx graph.before || complain 'an order changes its input'
# a grid's stencil solves with the bits of its matrix, made or not
accepted solve poisson3d:17x9x11 --format csr -o stored.mtx --device host
accepted solve poisson3d:17x9x11 --format stencil -o stencil.mtx --device host
cmp -s stored.mtx stencil.mtx || complain 'format stencil has other bits'
accepted solve poisson3d:17x9x11 --format stencil --precond amg --device host -q
refused 1 'constant coefficients' solve jump3d:9,100 --format stencil --device host

accepted solve graph.mtx --format csr@rcm --json order.json --device host
[ "$(value order.json order)" = '"rcm"' ] || complain 'csr@rcm: order'
accepted compare graph.mtx --reorder rcm --repeat 1 --device host --method cg
accepted bench spmv graph.mtx --reorder rcm --device host
accepted solve graph.mtx --json order.json --device host -vv
[ "$(value order.json order)" = '"none"' ] || complain 'auto: a small matrix'
grep -q 'order rcm found' err && complain 'auto: tried with a small matrix'
accepted solve random:160000,7,1 --json order.json --device host -vv
has err 'order rcm found in'
if grep -q 'as the rows come: taken' err; then want='"rcm"'; else want='"none"'; fi
[ "$(value order.json order)" = "$want" ] || complain "auto: not $want"

# conversions: there and back is the same matrix
for ending in tacit petsc $npz mtx.gz; do
    accepted convert poisson2d:9 m.$ending
    accepted convert m.$ending back.mtx
    [ -f first.mtx ] || cp back.mtx first.mtx
    grep -v '^%' back.mtx >a
    grep -v '^%' first.mtx >b
    cmp -s a b || complain "convert: .$ending changes the matrix"
done

# a shift is for every command, every input and any number of ranks
printf '%s\n' '%%MatrixMarket matrix coordinate real general' \
    '2 3 1' '1 2 1' >wide.mtx
printf '%s\n' '%%MatrixMarket matrix coordinate real general' \
    '3 3 4' '1 1 3' '1 3 -1' '2 2 2' '3 1 -1' >holes.mtx
accepted convert holes.mtx shifted.mtx --shift 1
tail -n +3 shifted.mtx | tr '\n' ';' >a
[ "$(cat a)" = '1 1 4;1 3 -1;2 2 3;3 1 -1;3 3 1;' ] || complain "shift: $(cat a)"
accepted convert holes.mtx holes.tacit
for np in 1 ${MPIRUN:+3}; do
    for input in holes.mtx holes.tacit; do
        run "$np" solve $input --shift 1 --rhs ones -o x.mtx --json shift.json
        [ $status = 0 ] || complain "shift, $input on $np: status $status"
        has out "$input + 1 I"
        [ "$(value shift.json shift)" = 1 ] || complain 'report: no shift'
        [ "$(value shift.json nonzeros)" = 5 ] || complain 'shift: entries'
        tail -n +3 x.mtx | tr '\n' ' ' | awk '{ bad = ($1 - 2 / 3) ^ 2 + \
            ($2 - 1 / 3) ^ 2 + ($3 - 5 / 3) ^ 2 > 1e-9; exit bad }' ||
            complain "shift, $input on $np: another solution"
    done
    run "$np" info poisson2d:4 --shift -0.5 --json shift.json
    has out 'shift	-0.5'
    has out 'diagonal	3.5 to 3.5'
    [ "$(value shift.json shift)" = -0.5 ] || complain 'info: no shift'
done
accepted partition holes.mtx -n 2 --shift 1 --json shift.json
[ "$(value shift.json nonzeros)" = 5 ] || complain 'partition: no shift'
accepted compare poisson3d:4 --shift 2 --repeat 1 --json shift.json
[ "$(value shift.json shift)" = 2 ] || complain 'compare: no shift'
refused 2 'not square: 2 x 3' convert --shift 1 wide.mtx out.mtx
[ -e out.mtx ] && complain 'a file in spite of an error'

# factor
accepted factor poisson2d:20 --leaves 4 --json factor.json
[ "$(value factor.json leaves)" = 4 ] || complain 'factor: leaves'
has out 'entries of L'
accepted factor poisson2d:20 --kind lu --json factor.json
[ "$(value factor.json kind)" = '"lu"' ] || complain 'factor: kind'
has out 'a solve	leaves a residual'
accepted factor poisson2d:20 --kind ic0 --order multicolor --json factor.json
[ "$(value factor.json depth)" = 2 ] || complain 'factor: depth of two colours'
accepted solve poisson2d:20 --precond ic0 --order top-nd --leaves 4
has out 'order top-nd'

# triangular solves: x of a grid of processes is that of one, for each column
{
    echo '%%MatrixMarket matrix array real general'
    echo '132 2'
    seq -131 2 131
    seq 1 132
} >two.mtx
accepted trsv poisson2d:12x11 two.mtx -o one.mtx
accepted trsv poisson2d:12x11 two.mtx --ranks 4 --grid 2x1x2 -o four.mtx --json trsv.json
valid_json trsv.json
[ "$(value trsv.json columns)" = 2 ] || complain 'trsv: columns'
has out 'messages of all-reduce'
paste one.mtx four.mtx | awk 'NR > 2 && ($1 - $2 > 1e-11 || $2 - $1 > 1e-11) { bad = 1 } END { exit bad }' ||
    complain 'trsv: another solution on four ranks'
accepted trsv poisson2d:20 --ranks 2 --grid 1x2x1 --map subtree --repeat 1
has out "map subtree"
for scheme in 2d baseline3d 3d p2p; do
    accepted trsv poisson2d:20 --ranks 2 --scheme $scheme --rhs-columns 3 --repeat 1
    has out "scheme $scheme"
done
refused 1 'rhs-columns' trsv poisson2d:12x11 two.mtx --rhs-columns 2

# partition
accepted help partition
for text in 'edges between parts, each a pair of entries' 'entries of the largest part over the mean'; do
    tr -s '\n ' '  ' <out | grep -qF "$text" || complain "help partition: no '$text'"
done
# 22 entries in 8 parts of a row, of which most have 3; 7 pairs are between parts
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 8, 8, 15
    for (i = 1; i <= 8; i++) print i, i, 3
    for (i = 2; i <= 8; i++) print i, i - 1, -1 }' >eight.mtx
accepted partition eight.mtx -n 8
[ "$(sed -n 2p out | cut -f 2,5-7)" = '7	1.0909	1	1' ] || complain "partition: $(cat out)"
accepted partition poisson2d:20 -n 3 -o parts --json cut.json
valid_json cut.json
[ "$(wc -l <parts)" = 400 ] || complain 'partition: lines'
[ "$(sort -u parts | tr '\n' ' ')" = '0 1 2 ' ] || complain 'partition: parts'

# the other commands
accepted info poisson3d:8 --json info.json
valid_json info.json
has info.json '"bytes_per_nonzero"'
accepted info gallery
has out 'poisson3d:N'
accepted info "m.${npz:-tacit}"
has out 'symmetric'
accepted compare poisson3d:8 --repeat 1 --json compare.json --html compare.html
valid_json compare.json
for field in baseline x_peer bytes_per_nonzero unavailable; do
    grep -q "\"$field\":" compare.json || complain "compare: no $field"
done
# preconditioners and steps have rows of their own
for precond in jacobi amg; do
    [ "$(grep -c "^cg	host	.*	$precond	1	" out)" -ge 1 ] || complain "compare: no row of $precond"
done
for steps in 4 8 16; do
    grep -q "^sstep	.*	none	$steps	" out || complain "compare: no row of $steps steps"
done
has compare.html 'Levels of amg'
grep -qi '[^a-z]nan\|[^a-z]inf[^a-z]' compare.html && complain 'compare: a page with nan'
# solved without an iteration: no time of one, and no ratio
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 0\n' >zeros.mtx
accepted compare zeros.mtx --repeat 1 --html zeros.html --json zeros.json
grep -q '^cg	.*	0	0.000e+00	-	.*	-	-	-	' out || complain "compare of zeros: $(head -3 out)"
grep -qi '[^a-z]nan\|[^a-z]inf[^a-z]' out zeros.html zeros.json && complain 'compare of zeros: nan'
grep -q '"per_iteration":	null' zeros.json || complain 'compare of zeros: a time of none'
for command in info solve; do
    accepted $command zeros.mtx --precond amg
    grep -qi '[^a-z]nan\|[^a-z]inf[^a-z]\|-0$' out && complain "$command of zeros: $(cat out)"
done
grep -q '"convergence":[[:space:]]*[0-9]' compare.json || complain 'compare: no convergence of amg'
accepted compare poisson3d:8 --repeat 1 --method cg --precond none
[ "$(grep -c '	jacobi	' out)" = 0 ] || complain 'compare: a row of jacobi'
# ends that a factor has not leave its row out, with the reason
for how in '--norm scaled' '--norm backward' '--relative-to r0' '--iterations 5'; do
    # shellcheck disable=SC2086 # words
    accepted compare poisson2d:9 --repeat 1 --warmup 0 $how
    has out "direct	${how% *} is for methods with a recurrence"
    [ "$(grep -c '^cg	.*	ic0	' out)" = 1 ] || complain "compare $how: $(cat out)"
done
accepted compare poisson2d:9 --repeat 1 --warmup 0 --norm residual --relative-to b
grep -q '^direct	' out || complain 'compare: no row of direct'
accepted info poisson3d:12 --precond amg
has out 'an application leaves 0.'
# an only level is inverted: an application leaves nothing, whatever the size of the entries
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 300\n2 2 400\n2 1 -7\n' >small.mtx
accepted info small.mtx --precond amg
has out 'an application leaves 0.000 of an error'
accepted compare poisson3d:8 --repeat 1 --device host --format auto --method cg --loop auto
[ "$(grep -c '^cg	host	' out)" = 1 ] || complain 'compare: not one row'
has out 'peer-style	needs --device cuda'
grep -q '^method	.*	order	' out || complain 'compare: no word on the order of rows'
if [ -n "$MPIRUN" ]; then # each link that two processes can have, or one
    run 2 compare poisson3d:8 --repeat 1 --device host --format csr --method cg
    for comm in shm mpi; do
        [ "$(grep -c "^cg	host	$comm	" out)" = 1 ] || complain "compare: not one row by $comm"
    done
    grep -q 'self.*several processes' out || complain 'compare: no word on self'
    run 2 compare poisson3d:8 --repeat 1 --device host --format csr --method cg --comm mpi
    grep -q '^cg	host	shm	' out && complain 'compare: a row that was not asked for'
    grep -q 'shm.*--comm names another' out || complain 'compare: no word on shm'
fi
accepted compare poisson3d:8 --repeat 1 --device host --format csr --method cg --reorder rcm --json rcm.json
has out '	csr	rcm	'
has rcm.json '"order":	"rcm"'
for text in '<table>' '<svg' '</html>' 'Not available' pipe-pr '>order<'; do
    has compare.html "$text"
done
# no table is wider than the page: each is in a box that scrolls
grep -qF '.box{overflow-x:auto' compare.html || complain 'compare: a wide page'
[ "$(grep -c '<table' compare.html)" = "$(grep -c '<div class="box"[^>]*><table' compare.html)" ] ||
    complain 'compare: a table that is in no box'
# no two curves look alike, and each stands in the legend as it is drawn
curves=$(grep -o '<g class="curve"[^>]*>.*<path d="[^"]*"' compare.html |
    sed 's/\(<g class="curve"[^>]*>\).*\(<path d="[^"]*"\)/\1\2/' | sort | uniq -c | awk '{print $1}' | sort -u)
[ "$curves" = 2 ] || complain "compare: curves that look alike: $curves"
# nor do marks of two curves that lie on one another hide each other
same=$(grep -o 'translate([^)]*)' compare.html | sort | uniq -d | wc -l)
[ "$same" = 0 ] || complain "compare: $same marks over marks"
accepted devices --json devices.json
valid_json devices.json
run 1 solve poisson3d:4 --decorate trace:
has err 'product'

# -vv tells what was tried and what was not taken, and -v does not
"$TACIT" convert -q poisson3d:20 p20.mtx.gz
for word in 'p20.mtx.gz: matrix-market, gzip, real, 8000 x 8000, 53600' \
    'partition contiguous: one process' 'threads 1: ' \
    'format csr ' 'us a product' 'format bsell' 'does not fit' ' taken'; do
    accepted solve p20.mtx.gz --device host --amortize 2 -vv
    has err "$word"
    accepted solve p20.mtx.gz --device host -v
    grep -qF -- "$word" err && complain "-v says '$word'"
done
accepted solve p20.mtx.gz --device host --format csr -vv
has err 'format csr taken, as it was asked for'
if [ -n "$MPIRUN" ]; then
    run 3 solve p20.mtx.gz --amortize 2 -vv
    has err 'partition metis: rows may stand in any order'
    has err 'metis: 8000 nodes of 1 rows in 3 parts'
    has err 'rank 2  format'
    [ "$(grep -c 'partition metis' err)" = 1 ] || complain '-vv: said on every rank'
    run 3 solve poisson3d:20 -vv
    has err 'partition contiguous: rows near one another'
    # a single solve: METIS only where this order would send many values
    run 3 solve p20.mtx.gz -vv
    has err '1600 values to send between the ranks in this order of 8000 rows'
    has err 'partition metis: rows may stand in any order'
    "$TACIT" convert -q poisson2d:60 p60.mtx.gz
    run 3 solve p60.mtx.gz -vv
    has err '240 values to send between the ranks in this order of 3600 rows'
    has err 'partition contiguous: a single solve does not win back a better one'
    run 3 solve p60.mtx.gz --repeat 2 -vv
    has err 'partition metis: rows may stand in any order'
fi

# standard output that takes nothing is an error, said once
if [ -w /dev/full ]; then
    for words in 'solve poisson3d:4' devices 'jacobi star2d1r:9x9 --device host --steps 2'; do
        "$TACIT" $words >/dev/full 2>err
        [ $? = 5 ] || complain "$words: a full device goes unnoticed"
        grep -q 'No space left on device' err || complain "$words: a full device is not named"
    done
    has err 'standard output'
fi
finish

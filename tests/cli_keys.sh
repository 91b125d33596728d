#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Values with keys, --precond 'amg(cycle=k,degree=3)': what is wrong is one line
# with its column, deprecated options do the same as keys, and compare takes lists.
. "$(dirname "$0")/cli/common.sh"
cd "$work" || exit 1

AMG='cycle, smoother, degree, levels, near-null, coordinates, node-rows, precision'
PRECONDS='none, jacobi, ic0, ic1, amg, direct, auto'

# says COLUMN TEXT OPTION VALUE ARGUMENTS...: refused by that line, to the letter
says() {
    line="tacit: --$3 '$4', column $1: $2"
    option=$3
    value=$4
    shift 4
    run 1 "$@" "--$option" "$value"
    [ $status = 1 ] || complain "$option $value: status $status"
    printf '%s\n' "$line" | cmp -s - err || complain "$option $value: not '$line'"
}
# table COMMAND...: lines OPTION | VALUE | COLUMN | TEXT
table() {
    while IFS='|' read -r option value column text; do
        says "$column" "$text" "$option" "$value" "$@"
    done
}
table solve poisson3d:4 <<END
precond|amg(cycel=k)|5|amg has no key 'cycel': did you mean 'cycle'? (keys: $AMG)
precond|amg(zyxwvutsrq=1)|5|amg has no key 'zyxwvutsrq' (keys: $AMG)
precond|amg(precond-precision=float)|5|amg has no key 'precond-precision': did you mean 'precision'? (keys: $AMG)
precond|jacobi(cycle=k)|8|jacobi has no key 'cycle', a key of amg, auto (keys of jacobi: none)
precond|ic0(leaves=2,kind=lu)|14|ic0 has no key 'kind', a key of direct (keys of ic0: order, leaves, grid)
precond|none(x=1)|6|none has no key 'x' (keys: none)
precond|amg(cycle=k,cycle=v)|13|key 'cycle' is given twice: leave one out
precond|amg(=k)|5|a key is missing: expected KEY=VALUE (keys: $AMG)
precond|amg(,cycle=k)|5|a key is missing: expected KEY=VALUE (keys: $AMG)
precond|amg(cycle=v,)|13|a key is missing: expected KEY=VALUE (keys: $AMG)
precond|amg(cycle)|5|key 'cycle' has no value: expected cycle=NAME: v, w, k, auto
precond|amg(levels,cycle=v)|5|key 'levels' has no value: expected levels=N
precond|amg(cycle=)|11|key 'cycle' has an empty value: expected cycle=NAME: v, w, k, auto
precond|amg(cycle=,degree=3)|11|key 'cycle' has an empty value: expected cycle=NAME: v, w, k, auto
precond|amg(near-null="")|15|key 'near-null' has an empty value: expected near-null=FILE
precond|amg(|5|')' is missing, for '(' in column 4
precond|amg(cycle=v|12|')' is missing, for '(' in column 4
precond|amg(cycle=v,|13|')' is missing, for '(' in column 4
precond|amg(near-null=a(b)|19|')' is missing, for '(' in column 4
precond|amg(cycle=v))|13|')' without a '('
precond|amg(cycle=v)x|13|'x' after ')': expected the end
precond|amg(near-null="a"b)|18|'b' after a value: expected ',' or ')'
precond|amg(near-null="a)|15|the quote has no end: expected '"'
precond|amg)|4|')' without a '('
precond|(cycle=v)|1|a name is missing before '('
precond|,amg|1|a name is missing before ','
precond|jacobi,amg|7|--precond takes one name here: a list is for --precond of compare
precond|jakobi(cycle=v)|1|unknown precond 'jakobi': did you mean 'jacobi'? (available: $PRECONDS)
precond|amg(cycle=q)|11|unknown cycle 'q': did you mean 'v'? (available: v, w, k, auto)
precond|amg(degree=9)|12|degree '9': expected a whole number from 1 to 8
precond|amg(cycle=v, degree=x)|21|degree 'x': expected a whole number from 1 to 8
precond|ic0(grid=1x1)|10|grid '1x1': expected three numbers, such as 2x1x4, or auto
method|cg(steps=4)|4|cg has no key 'steps', a key of sstep (keys of cg: none)
method|sstep(steps=17)|13|steps '17': expected a whole number from 1 to 16, or auto
method|sstep(basis=nowton)|13|unknown basis 'nowton': did you mean 'newton'? (available: chebyshev, newton, monomial)
method|direct(order=nb)|14|unknown order 'nb': did you mean 'nd'? (available: nd, top-nd, natural, multicolor)
method|cg,single|3|--method takes one name here: a list is for --precond of compare
END
table compare poisson3d:4 <<END
precond|jacobi,,amg|8|a name is missing before ','
precond|jacobi,|8|a name is missing before the end
precond|jacobi,amg(cycle=w|19|')' is missing, for '(' in column 11
precond|jacobi,amg(cycle=w)ic0|20|'i' after ')': expected the end or ','
precond|jacobi,amg(degree=2,degree=3)|21|key 'degree' is given twice: leave one out
precond|amg(degree=2),jacobi(degree=3)|22|jacobi has no key 'degree', a key of amg, auto (keys of jacobi: none)
END
table trsv poisson3d:4 <<END
kind|llt(with=4)|5|llt has no key 'with': did you mean 'width'? (keys: order, leaves, width)
kind|llu(width=4)|1|unknown kind 'llu': did you mean 'llt'? (available: llt, ldlt, lu, ic0, ilu0)
kind|llt(width=0)|11|width '0': expected a whole number from 1 to 65536
grid|2x2(map=cyclic)|1|grid '2x2': expected three numbers, such as 2x1x4, or auto
grid|auto(map=subtrees)|10|unknown map 'subtrees': did you mean 'subtree'? (available: cyclic, subtree)
END
refused 1 "column 5: amg has no key 'cycel'" solve poisson3d:4 --precond 'amg(cycel=k)'
refused 1 'its NAME is empty' solve poisson3d:4 --precond ''
refused 1 'near-null and coordinates' solve poisson3d:4 --precond 'amg(near-null=a,coordinates=b)'
refused 1 'which method cg needs' solve poisson3d:4 --precond 'amg(cycle=k)'
refused 1 'which method single needs' compare poisson3d:4 --method single --precond 'jacobi,amg(cycle=k)'
refused 1 'is for solve' compare poisson3d:4 --precond jacobi,auto
refused 2 'a,b".mtx: cannot be opened' solve poisson3d:4 --precond 'amg(near-null="a,b"".mtx")'
: >x.mtx
refused 1 'near-null of --precond x.mtx, which is read' solve poisson3d:4 --precond 'amg(near-null=x.mtx)' -o x.mtx

# each beginning of a value is refused with one line, or solves
value='amg( cycle = w ,degree=3,levels=2,precision="float") '
i=1
while [ $i -le ${#value} ]; do
    run 1 solve poisson3d:2 --precond "$(printf '%s' "$value" | cut -c1-$i)" -q
    case $status in
    0) [ -s err ] && complain "beginning of $i: solved, with a complaint" ;;
    1) [ "$(complaints | wc -l)" = 1 ] || complain "beginning of $i: not one line" ;;
    *) complain "beginning of $i: status $status" ;;
    esac
    i=$((i + 1))
done
[ $status = 0 ] || complain "all of the value: status $status"

# an option and the key that it became are one thing
told 1 "column 5: key 'cycle' is what --cycle says, too: leave --cycle out" \
    solve poisson3d:4 --precond 'amg(cycle=w)' --cycle w
told 1 "column 13: key 'precision' is what --precond-precision says" \
    solve poisson3d:4 --precond-precision float --precond 'amg(cycle=w,precision=float)'
told 1 "key 'degree' is what --degree says" compare poisson3d:4 --precond 'jacobi,amg(degree=2)' --degree 3
told 1 "key 'leaves' is what --leaves says" trsv poisson3d:4 --leaves 2 --kind 'llt(leaves=2)'
told 1 "key 'kind' is given before, by --method" \
    solve poisson3d:4 --method 'direct(kind=lu)' --precond 'direct(kind=lu)'
told 1 'cycle belongs to --precond amg or auto' compare poisson3d:4 --precond jacobi,ic0 --cycle w
told 1 'steps belongs to --method sstep, as its key steps' solve poisson3d:4 --steps 4

# The last of several counts, with its keys alone; nothing in parentheses, and
# blanks, say nothing.
facts() { # what is alike in two runs of the same
    grep -E '"(iterations|relative_residual|true_relative_residual|error_2norm|norm_b|name|detail|grid_complexity|operator_complexity|rows|nonzeros|count|flops|cg|sstep|direct|kind|leaves|scheme|map|panels|depth|grid|replication_bound|order)"' "$1"
}
# same NOTE OLD... / NEW...: the reports' facts and the outputs' bits are alike,
# and the old spelling warns with NOTE, the new one not at all
same() {
    note=$1
    shift
    rm -f old.mtx old.json new.mtx new.json
    [ "$note" = none ] || note="tacit: warning: $note"
    list=old
    old=
    new=
    for word; do
        if [ "$word" = / ]; then list=new; else eval "$list=\"\$$list \$word\""; fi
    done
    # shellcheck disable=SC2086 # words
    accepted $old -o old.mtx --json old.json
    [ "$note" = none ] || printf '%s\n' "$note" | cmp -s - err || complain "$old: not '$note'"
    # shellcheck disable=SC2086 # words
    accepted $new -o new.mtx --json new.json
    [ -s err ] && complain "$new: warns"
    [ -s old.mtx ] && cmp -s old.mtx new.mtx || complain "$old: other bits than $new"
    facts old.json >old
    facts new.json >new
    [ "$(wc -l <old)" -ge 5 ] || complain "$old: no facts"
    cmp -s old new || complain "$old: another report than $new: $(diff old new | head -3)"
}
S='solve poisson3d:8 --format csr --device host'
same none "$S --precond amg" / "$S --precond amg()"
same none "$S --precond amg" / "$S --precond jacobi --precond amg(cycle=w) --precond amg"
same "--cycle: deprecated, write --precond 'amg(cycle=w)'" "$S --precond amg --cycle w" / "$S --precond amg(cycle=w)"
same "--cycle: deprecated, write --precond 'amg(cycle=k)'" "$S --method flexible --precond amg --cycle k" / \
    "$S --method flexible --precond amg(cycle=k)"
spelt='smoother=l1-jacobi,degree=3,levels=2,node-rows=1,precision=double'
same "--smoother, --degree, --levels, --node-rows, --precond-precision: deprecated, write --precond 'amg($spelt)'" \
    "$S --precond amg --precond-precision double --node-rows 1 --smoother l1-jacobi --degree 3 --levels=2" / \
    "$S --precond amg($spelt)"
same "--steps, --basis: deprecated, write --method 'sstep(steps=4,basis=newton)'" \
    "$S --method sstep --steps 4 --basis newton" / "$S --method sstep(basis=newton,steps=4)"
same "--order, --kind: deprecated, write --method 'direct(kind=lu,order=natural)'" \
    "$S --method direct --kind lu --order natural" / "$S --method direct(kind=lu,order=natural)"
same "--kind: deprecated, write --precond 'direct(kind=ldlt)'" \
    "$S --precond direct --kind ldlt" / "$S --precond direct(kind=ldlt)"
same "--order, --leaves, --grid: deprecated, write --precond 'ic0(order=nd,leaves=4,grid=1x1x2)'" \
    "$S --precond ic0 --order nd --leaves 4 --grid 1x1x2 --ranks 2" / \
    "$S --precond ic0(order=nd,leaves=4,grid=1x1x2) --ranks 2"
T='trsv poisson2d:12 --ranks 2 --repeat 1 --device host'
same "--leaves, --width, --scheme, --map: deprecated, write --kind 'ldlt(leaves=2,width=8)' --grid 'auto(scheme=p2p,map=subtree)'" \
    "$T --kind ldlt --leaves 2 --width 8 --scheme p2p --map subtree" / \
    "$T --kind ldlt(leaves=2,width=8) --grid auto(map=subtree,scheme=p2p)"
same "--order, --leaves, --width: deprecated, write --kind 'llt(order=natural,leaves=2,width=8)'" \
    'factor poisson2d:12 --order natural --leaves 2 --width 8' / \
    'factor poisson2d:12 --kind llt(order=natural,leaves=2,width=8)'
printf '%%%%MatrixMarket matrix array real general\n8 3\n0\n1\n0\n1\n0\n1\n0\n1
0\n0\n1\n1\n0\n0\n1\n1\n0\n0\n0\n0\n1\n1\n1\n1\n' >'a,(b.mtx'
E='solve elasticity3d:2 --format csr --device host'
same "--coordinates: deprecated, write --precond 'amg(coordinates=\"a,(b.mtx\")'" \
    "$E --precond amg --coordinates a,(b.mtx" / "$E --precond amg(coordinates=\"a,(b.mtx\")"

# a warning is silent with -q, and on standard error alone
accepted solve poisson3d:4 --precond amg --cycle w -q
[ -s out ] || [ -s err ] && complain 'quiet, but an old spelling warns'
accepted solve poisson3d:4 --precond amg --cycle w --json -
valid_json out
accepted solve poisson3d:4 --precond 'auto(smoother=jacobi)' --amortize 3
accepted solve poisson3d:4 --precond auto --smoother jacobi
refused 1 'belongs to info as amg alone' info poisson3d:4 --precond 'direct(kind=ldlt,order=natural)'
accepted info poisson3d:4 --precond 'amg(degree=3)'
has out 'chebyshev(3)'
if [ -n "$MPIRUN" ]; then
    run 2 solve poisson3d:4 --precond amg --cycle w
    [ "$(grep -c 'deprecated' err)" = 1 ] || complain 'on 2 ranks: not one warning'
fi

# lists: a row for each, at its comma and not at one in parentheses
accepted compare poisson3d:6 --method cg --format csr --json c.json \
    --precond 'jacobi,amg(cycle=w,degree=3), amg'
awk -F'\t' '$1 == "cg" { print $8 }' out | LC_ALL=C sort >rows
printf 'amg\namg(cycle=w,degree=3)\njacobi\n' | cmp -s - rows || complain "rows: $(tr '\n' ' ' <rows)"
valid_json c.json
awk -F'\t' '$1 == "cg" { i[$8] = $10 } END { exit !(i["amg(cycle=w,degree=3)"] < i["amg"] && i["amg"] < i["jacobi"]) }' out ||
    complain 'rows of a list have the wrong preconditioner'
accepted compare poisson3d:6 --method cg --format csr --precond 'amg(degree=3)'
awk -F'\t' '$1 == "cg" && $8 == "amg" { n++ } END { exit n != 1 }' out || complain 'one that is no list has another name'
accepted compare poisson3d:6 --method cg --format csr --precond jacobi,amg --cycle w
has err "write --precond 'amg(cycle=w)'"

# help: each key is told, no deprecated option is, the manual page has both
for command in solve compare info convert partition factor trsv devices bench help; do
    "$TACIT" help $command
done >all
options() { grep -oE '^  (-[a-z], |    )--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | sort -u; }
# options that say how a solve ends or is judged were counted apart from the start
count=$(options <all | grep -vcxE -- '--(iterations|norm|relative-to|deterministic)')
[ "$count" -le 50 ] && [ "$count" -ge 40 ] || complain "$count options"
# jacobi is no solve: options that it alone has are counted by themselves, and its
# --steps is not the key of method sstep
"$TACIT" help jacobi >jacobi
options <all >before
own=$(options <jacobi | grep -vcxFf before)
[ "$own" -le 16 ] && [ "$own" -ge 5 ] || complain "$own options of jacobi alone"
accepted help keys
has out "--precond 'amg(cycle=k,degree=3)'"
for key in cycle smoother degree levels near-null coordinates node-rows precision order leaves grid steps basis \
    kind width scheme map; do
    grep -q "^        $key=" out || complain "help keys: no $key"
    grep -q "^        $key=" all || complain "help of commands: no $key"
done
for old in cycle smoother degree levels near-null coordinates node-rows precond-precision order leaves steps basis \
    width scheme map; do
    options <all | grep -qx -- "--$old" && complain "help still lists --$old"
    "$TACIT" help --man | sed 's/\\//g' | sed -n '/SH DEPRECATED/,$p' | grep -q "^fB--$old" ||
        complain "manual page: --$old is not among deprecated spellings"
done
finish

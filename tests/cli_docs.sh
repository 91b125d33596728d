#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of docs/tutorial.md and docs/guide/*.md, those between ```sh and
# ```, page by page in a folder with its listings: each succeeds, and what a page
# shows between ```text and ``` comes. Numbers may differ. Commands for a GPU or MPI
# stand between ```bash and ```, and are not run.
. "$(dirname "$0")/cli/common.sh"
[ $# -gt 0 ] || set -- "$source"/docs/tutorial.md "$source"/docs/guide/*.md

# blocks KIND: the lines of $page between ```KIND and ```
blocks() {
    awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$page"
}

# listings: what is between ```python and ```, or ```c and ```, and opens with the
# name of a file, becomes that file of this folder.
listings() {
    awk '/^```/ { opens = /^```(python|c)$/; file = ""; next }
        opens && match($0, /^(# |\/\* )[a-z_]+\.(py|c)( \*\/)?$/) { file = $2 }
        { opens = 0; if (file) print >file }' "$page"
}

# This build as if it was installed: for pkg-config, and for a python3 that has
# what the module needs; without one its listings are skipped.
install_here() {
    library=$(dirname "$TACIT")
    mkdir -p "$work/bin" "$work/pc"
    export PKG_CONFIG_PATH="$work/pc" PATH="$work/bin:$library:$PATH"
    printf '%s\n' "Name: tacit" "Description: this build" "Version: 0" \
        "Cflags: -I$source/include" "Libs: -L$library -Wl,-rpath,$library -ltacit" >"$work/pc/tacit.pc"
    python=
    for found in ${TACIT_PYTHON:-python3 /usr/bin/python3}; do
        [ -n "$python" ] || ! "$found" -c 'import numpy, scipy' 2>"$work/err" || python=$found
    done
    [ -n "$python" ] || { python=:; echo "skipped: listings in Python, without NumPy and SciPy"; }
    printf '%s\n' '#!/bin/sh' "export PYTHONPATH='$source/python' TACIT_LIBRARY='$library/libtacit.so'" \
        "exec $python \"\$@\"" >"$work/bin/python3"
    [ "$python" != : ] || printf '%s\n' '#!/bin/sh' >"$work/bin/python3"
    chmod +x "$work/bin/python3"
}

# Any number becomes N, any white space one space.
masked() { sed -E 's/[0-9]([0-9.,]*[0-9])?(e[-+][0-9]+)?/N/g; s/[[:space:]]+/ /g' "$1"; }

# Each line of $work/shown is one of the output.
is_shown() {
    masked "$work/out" >"$work/got"
    while IFS= read -r line; do
        printf '%s\n' "$line" >"$work/line"
        grep -qxF -- "$(masked "$work/line")" "$work/got" ||
            complain "$page: not in the output: $line"
    done <"$work/shown"
}

install_here
commands=0
for page in "$@"; do
    blocks sh >"$work/commands"
    blocks text >"$work/shown"
    commands=$((commands + $(grep -c 'tacit ' "$work/commands")))
    rm -rf "$work/empty" && mkdir "$work/empty"
    (
        cd "$work/empty" &&
            listings && timeout 300 sh -e "$work/commands"
    ) >"$work/out" 2>"$work/err" || complain "$page: a command ends with status $?"
    is_shown
    # a largest value, however it is found
    [ "$(grep '^largest ' "$work/out" | sort -u | wc -l)" -le 1 ] ||
        complain "$page: $(grep '^largest ' "$work/out" | tr '\n' ' ')differ"
done

# built NAME COMPILER...: the program $work/NAME is compiled, runs and succeeds.
built() {
    name=$1 && shift
    # shellcheck disable=SC2046 # a list of options
    "$@" -Wall -Wextra -Werror $(pkg-config --cflags --libs tacit) -o "$work/run" "$work/$name" \
        $(pkg-config --libs tacit) >"$work/err" 2>&1 &&
        "$work/run" >"$work/out" 2>>"$work/err" || complain "$page: $name does not run"
}
page=$source/README.md
blocks c >"$work/readme.c"
built readme.c cc -std=c11
page=$source/docs/guide/cpp.md
for example in serial_arrays.cpp serial_arrays.c mpi_rows.cpp mpi_rows.c; do
    length=$(wc -l <"$source/examples/$example")
    grep -q "\`$example\` has $length\b" "$page" || complain "$page: $example has $length lines"
done
if command -v c++ >/dev/null; then
    { printf '%s\n' '#include <iostream>' '#include <tacit/tacit.hpp>' 'int main() {' && blocks cpp && echo '}'; } >"$work/guide.cpp"
    built guide.cpp c++ -std=c++17
    grep -q 'interrupted' "$work/err" || complain "$page: the monitor has not ended the solve"
else
    echo "skipped: the listings in C++, without a compiler"
fi
[ $commands -ge 5 ] || complain "only $commands commands in $*"
echo "$commands commands in $# pages"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of docs/tutorial.md, one after the other in an empty folder: each
# succeeds, and what the page shows of their output comes. Numbers may differ.
. "$(dirname "$0")/cli/common.sh"
page=${TACIT_TUTORIAL:-$source/docs/tutorial.md}

# blocks KIND: the lines between ```KIND and ```
blocks() {
    awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$page"
}

# Any number becomes N, any white space one space.
masked() { sed -E 's/[0-9]([0-9.,]*[0-9])?(e[-+][0-9]+)?/N/g; s/[[:space:]]+/ /g' "$1"; }

blocks sh >"$work/commands"
blocks text >"$work/shown"
[ "$(grep -c '^tacit ' "$work/commands")" -ge 5 ] || complain "$page: fewer than 5 commands"
[ -s "$work/shown" ] || complain "$page: shows no output"

mkdir "$work/empty"
(
    cd "$work/empty" &&
        PATH=$(dirname "$TACIT"):$PATH timeout 300 sh -e "$work/commands"
) >"$work/out" 2>"$work/err" || complain "$page: a command ends with status $?"

masked "$work/out" >"$work/got"
while IFS= read -r line; do
    printf '%s\n' "$line" >"$work/line"
    grep -qxF -- "$(masked "$work/line")" "$work/got" || complain "$page: not in the output: $line"
done <"$work/shown"
finish

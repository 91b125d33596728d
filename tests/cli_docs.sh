#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of docs/tutorial.md and docs/guide/*.md, those between ```sh and
# ```, page by page in an empty folder: each succeeds, and what a page shows
# between ```text and ``` comes. Numbers may differ. Commands for a GPU or MPI
# stand between ```bash and ```, and are not run.
. "$(dirname "$0")/cli/common.sh"
[ $# -gt 0 ] || set -- "$source"/docs/tutorial.md "$source"/docs/guide/*.md

# blocks KIND: the lines of $page between ```KIND and ```
blocks() {
    awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$page"
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

commands=0
for page in "$@"; do
    blocks sh >"$work/commands"
    blocks text >"$work/shown"
    commands=$((commands + $(grep -c 'tacit ' "$work/commands")))
    rm -rf "$work/empty" && mkdir "$work/empty"
    (
        cd "$work/empty" &&
            PATH=$(dirname "$TACIT"):$PATH timeout 120 sh -e "$work/commands"
    ) >"$work/out" 2>"$work/err" || complain "$page: a command ends with status $?"
    is_shown
done
[ $commands -ge 5 ] || complain "only $commands commands in $*"
echo "$commands commands in $# pages"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A halo exchange of MPI and its triggered form: the same bits, and the difference
# of the sources is the one that the guide shows. With --print alone it prints
# that. Usage: triggered_diff.sh SOURCES PROGRAMS MPIRUN...
set -u
sources=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for name in halo_mpi halo_triggered; do # without the comment at the top
    sed '1,/\*\/$/d' "$sources/examples/$name.c" >"$work/$name"
done
diff -U 0 "$work/halo_mpi" "$work/halo_triggered" | sed '1,2d; /^@@/d' >"$work/is"
if [ "${2-}" = --print ]; then
    cat "$work/is"
    exit 0
fi
sed -n '/^```diff$/,/^```$/p' "$sources/docs/guide/triggered.md" | sed '1d; $d' >"$work/shown"
diff "$work/shown" "$work/is" || {
    echo "FAILED: docs/guide/triggered.md has another difference: see --print"
    exit 1
}
programs=$2
shift 2
for name in halo_mpi halo_triggered; do
    "$@" "$programs/$name" >"$work/said-$name" || {
        echo "FAILED: $name"
        exit 1
    }
done
grep 'ranks, 0x' "$work/said-halo_mpi" && cmp "$work/said-halo_mpi" "$work/said-halo_triggered"

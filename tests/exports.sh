#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports tacit_* and nothing else, and all that the public
# headers declare; the program needs nothing of it but that. The static one shows
# tct_* besides, and of kernels mangled names, which no function in C has.
# $LIBRARY is the shared library, $ARCHIVE the static one; $TACIT_HAS_MPI and
# $TACIT_HAS_CUDA are 0 where they were built without; $PROGRAM_OBJECTS are what
# the program is linked from, besides the library.
: "${LIBRARY:?set it to libtacit.so}" "${ARCHIVE:?set it to libtacit.a}" \
    "${PROGRAM_OBJECTS:?set it to the files}"
source=$(cd "$(dirname "$0")/.." && pwd)
symbols=$(nm -D --defined-only "$LIBRARY" | awk '{print $3}' | sed 's/@.*//') || exit 1
status=0

foreign=$(printf '%s\n' "$symbols" | grep -v '^tacit_')
if [ -n "$foreign" ]; then
    echo "exported, but not tacit_*:" "$foreign"
    status=1
fi

shown=$(nm -g --defined-only "$ARCHIVE" | awk 'NF == 3 { print $3 }') || exit 1
[ "$(printf '%s\n' "$shown" | grep -c '^tct_')" -gt 200 ] ||
    { echo "no symbols found in $ARCHIVE"; status=1; }
bare=$(printf '%s\n' "$shown" | grep -vE '^((tacit|tct)_|_Z)' | sort -u)
if [ -n "$bare" ]; then
    echo "in the static library, but neither tacit_* nor tct_*:" "$bare"
    status=1
fi

set -- "$source"/include/tacit/*.h
declared=$(sed 's/#define.*//' "$@" | tr '\n' ' ' | grep -o 'TACIT_API [^(;{]*(' |
    grep -o 'tacit_[a-z0-9_]*($' | tr -d '(')
[ "${TACIT_HAS_MPI-1}" = 1 ] ||
    declared=$(printf '%s\n' "$declared" | grep -v '_from_mpi$')
[ "${TACIT_HAS_CUDA-1}" = 1 ] ||
    declared=$(printf '%s\n' "$declared" | grep -vE '_stream$|_from_device_rows$')
[ "$(printf '%s\n' "$declared" | wc -l)" -gt 20 ] || { echo "no declarations found"; status=1; }
for name in $declared; do
    printf '%s\n' "$symbols" | grep -qx "$name" ||
        { echo "declared, but not exported: $name"; status=1; }
done
# shellcheck disable=SC2086 # a list of files
needed=$(nm -u $PROGRAM_OBJECTS | awk '$1 == "U" { print $2 }' | sort -u) || exit 1
# shellcheck disable=SC2086
own=$(nm --defined-only $PROGRAM_OBJECTS | awk 'NF == 3 { print $3 }')
[ "$(printf '%s\n' "$needed" | grep -c '^tacit_')" -gt 20 ] ||
    { echo "the program takes nothing from the library"; status=1; }
for name in $(printf '%s\n' "$needed" | grep -E '^(tacit|tct|q)_|^apply'); do
    printf '%s\n' "$symbols" "$own" | grep -qx "$name" ||
        { echo "the program needs what the library hides: $name"; status=1; }
done
[ $status = 0 ] && echo "$(printf '%s\n' "$symbols" | wc -l) symbols, all tacit_*; of the static library all tacit_* or tct_*"
exit $status

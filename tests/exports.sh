#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports tacit_* and nothing else, and all that the public
# headers declare. $LIBRARY is the library; $TACIT_HAS_MPI is 0 where
# it was built without MPI.
: "${LIBRARY:?set it to libtacit.so}"
source=$(cd "$(dirname "$0")/.." && pwd)
symbols=$(nm -D --defined-only "$LIBRARY" | awk '{print $3}' | sed 's/@.*//') || exit 1
status=0

foreign=$(printf '%s\n' "$symbols" | grep -v '^tacit_')
if [ -n "$foreign" ]; then
    echo "exported, but not tacit_*:" "$foreign"
    status=1
fi

set -- "$source"/include/tacit/*.h
declared=$(sed 's/#define.*//' "$@" | tr '\n' ' ' | grep -o 'TACIT_API [^(;{]*(' |
    grep -o 'tacit_[a-z0-9_]*($' | tr -d '(')
[ "${TACIT_HAS_MPI-1}" = 1 ] ||
    declared=$(printf '%s\n' "$declared" | grep -v '_from_mpi$')
[ "$(printf '%s\n' "$declared" | wc -l)" -gt 20 ] || { echo "no declarations found"; status=1; }
for name in $declared; do
    printf '%s\n' "$symbols" | grep -qx "$name" ||
        { echo "declared, but not exported: $name"; status=1; }
done
[ $status = 0 ] && echo "$(printf '%s\n' "$symbols" | wc -l) symbols, all tacit_*"
exit $status

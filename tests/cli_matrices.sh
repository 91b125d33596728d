#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real matrices, where they are: solved to 1e-8 by every method on one rank and
# on four, b - A x recomputed; a breakdown or no convergence said truthfully.
. "$(dirname "$0")/cli/common.sh"
if [ ! -d "${TACIT_MATRICES:-/nonexistent}/spd" ]; then
    echo "skipped: no matrices in TACIT_MATRICES='$TACIT_MATRICES'"
    exit 77
fi
cd "$work" || exit 1
value() { sed -n "s/.*\"$2\":[[:space:]]*\([^,]*\),*.*/\1/p" "$1" | head -1; }

for name in mesh3e1 crystm01 bcsstk16 Trefethen_2000 ex3; do
    for method in cg single pipelined pipe-pr; do
        for np in 1 ${MPIRUN:+4}; do
            run "$np" solve "$TACIT_MATRICES/spd/$name.mtx.gz" --rtol 1e-8 \
                --method $method --json r.json
            label="$name $method on $np"
            [ $status = 0 ] || complain "$label: status $status"
            awk -v r="$(value r.json true_relative_residual)" \
                'BEGIN { exit !(r > 0 && r <= 1e-8) }' ||
                complain "$label: residual $(value r.json true_relative_residual)"
        done
    done
done

# what cannot be solved in time says so, and the report agrees
run 1 solve "$TACIT_MATRICES/spd/bcsstk13.mtx.gz" --rtol 1e-12 \
    --max-iterations 200 --json r.json
[ $status = 3 ] || complain "bcsstk13: status $status"
[ "$(value r.json converged)" = false ] || complain 'bcsstk13: converged'

# not symmetric, not square, complex: one line each
for file in lu/west0067.mtx.gz hb/west0067.rua hb/cg20.cua; do
    [ -f "$TACIT_MATRICES/$file" ] && refused 2 '' solve "$TACIT_MATRICES/$file"
done
finish

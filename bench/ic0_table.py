#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Incomplete Cholesky by the order of its rows: how many iterations of cg it takes,
and how many rows wait for one another.

usage: ic0_table.py --tacit PROGRAM [--rtol 1e-8] [--leaves 4] [MATRIX...]

Without MATRIX: poisson2d:256, poisson3d:48 and poisson3d:80. b = 1, x0 = 0, one
process. Tab-separated: matrix, order, leaves, iterations, depth (the longest chain of
rows, each of which waits for the one before), entries of L, true residual.
"""
import argparse
import json
import subprocess

ORDERS = [("natural", 1), ("top-nd", 0), ("nd", 1), ("multicolor", 1)]


def run(*command):
    return json.loads(subprocess.run(list(command) + ["--json", "-"], check=True, capture_output=True, text=True).stdout)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--tacit", required=True)
parser.add_argument("--rtol", default="1e-8")
parser.add_argument("--leaves", type=int, default=4)
parser.add_argument("matrix", nargs="*", default=["poisson2d:256", "poisson3d:48", "poisson3d:80"])
a = parser.parse_args()
print("matrix\torder\tleaves\titerations\tdepth\tentries\tresidual")
for matrix in a.matrix:
    for order, leaves in ORDERS:
        which = f"ic0(order={order},leaves={leaves or a.leaves})"
        f = run(a.tacit, "factor", matrix, "--kind", which)
        r = run(a.tacit, "solve", matrix, "--precond", which, "--rhs", "ones", "--rtol", a.rtol,
                "--device", "host")["result"]
        print(f"{matrix}\t{order}\t{leaves or a.leaves}\t{r['iterations']}\t{f['depth']}\t"
              f"{f['nonzeros']:.0f}\t{r['true_relative_residual']:.1e}", flush=True)

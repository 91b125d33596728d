#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Iterations of CG on model problems against a table measured elsewhere.

usage: oracles.py [--large] [--tacit PROGRAM] [--method NAME]

The table: smallest k with ||r_k|| <= eps ||b||, b = 1, x0 = 0, double
precision, computed independently of any library (the largest ones on the
symmetric eighth of the cube). +-1 is rounding. One line per case, and an exit
status of 1 if any differs by more.
"""
import argparse
import subprocess
import sys

EPS = ["1e-2", "1e-4", "1e-6", "1e-8", "1e-10", "1e-12"]
ORACLES = {  # matrix: iterations for each eps, as far as known
    "poisson1d:100": [50, 50, 50, 50, 50, 50],
    "poisson2d:10": [10, 13, 14, 15, 15],
    "poisson2d:32": [32, 42, 51, 59, 66],
    "poisson2d:50": [51, 67, 79, 93, 103],
    "poisson2d:64": [65, 85, 101, 119, 132],
    "poisson2d:100": [103, 134, 159, 187, 208],
    "poisson2d:128": [134, 173, 204, 239, 266],
    "poisson2d:200": [213, 273, 320, 369, 416],
    "poisson2d:256": [274, 351, 411, 470, 533],
    "poisson3d:10": [11, 16, 20, 23, 26, 29],
    "poisson3d:20": [23, 32, 41, 49, 56, 62],
    "poisson3d:50": [59, 80, 101, 124, 142, 156],
    "poisson3d:100": [123, 164, 203, 249, 281, 311],
    "poisson3d27:10": [7, 10, 12],
    "poisson3d27:50": [35, 47, 59],
    "poisson3d27:100": [71, 95, 117],
}
LARGE = {
    "poisson3d:128": [160, 212, 261, 319, 356, 437],
    "poisson3d:160": [201, 267, 327, 398, 445, 543],
    "poisson3d:200": [255, 335, 410, 494, 556, 678],
    "poisson3d:250": [321, 421, 514, 597, 696, 847],
    "poisson3d:256": [330, 431, 527, 611, 712, 867],
    "poisson3d27:250": [183, 242, 296],
}


def iterations(tacit, matrix, method, eps):
    """All eps of one matrix from one history of the recurrence."""
    run = subprocess.run(
        [tacit, "solve", matrix, "--rhs", "ones", "--rtol", eps[-1],
         "--method", method, "--history", "/dev/stdout", "--quiet"],
        capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    found = {}
    for line in run.stdout.splitlines():
        k, _, residual = line.partition("\t")
        if not k.isdigit():
            continue
        for e in eps:
            if e not in found and float(residual) <= float(e):
                found[e] = int(k)
    return found


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--large", action="store_true")
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--method", default="cg")
    a = p.parse_args()
    bad = cases = 0
    print("matrix\teps\texpected\tfound\tdifference")
    for matrix, expected in {**ORACLES, **(LARGE if a.large else {})}.items():
        eps = EPS[:len(expected)]
        found = iterations(a.tacit, matrix, a.method, eps)
        for e, k in zip(eps, expected):
            cases += 1
            got = found.get(e)
            ok = got is not None and abs(got - k) <= 1
            bad += not ok
            print(f"{matrix}\t{e}\t{k}\t{got}\t"
                  f"{'-' if got is None else got - k}", flush=True)
    print(f"# {cases - bad} of {cases} within 1", file=sys.stderr)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

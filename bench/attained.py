#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The true residual that each method attains, beside that of cg.

usage: attained.py [--tacit PROGRAM] [--rtol 1e-13] [--max N] [--rhs RHS]
                   MATRIX ...

One tab-separated line per matrix and method: iterations, ||b - A x|| / ||b||,
its ratio to cg's, how often the solve was started again from x, and who went
on if the method's recurrences broke.
"""
import argparse
import json
import os
import subprocess

METHODS = ["cg", "single", "pipelined", "pipe-pr"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--rtol", default="1e-13")
    p.add_argument("--max", default="100000")
    p.add_argument("--rhs", default="manufactured")
    p.add_argument("matrices", nargs="+")
    a = p.parse_args()
    print("matrix\tmethod\tstop\titerations\ttrue residual\tover cg's\t"
          "restarts\trescued by")
    for matrix in a.matrices:
        base = None
        for method in METHODS:
            out = subprocess.run(
                [a.tacit, "solve", matrix, "--method", method, "--rtol",
                 a.rtol, "--max-iterations", a.max, "--threads", "1", "--rhs",
                 a.rhs, "--json", "-"], capture_output=True, text=True).stdout
            r = json.loads(out)["result"]
            true = r["true_relative_residual"]
            base = base or true
            print(f"{os.path.basename(matrix).split('.')[0]}\t{method}\t"
                  f"{r['stop']}\t{r['iterations']}\t{true:.2e}\t"
                  f"{true / base:.2f}\t{r['restarts']}\t"
                  f"{r['rescued_by'] or '-'}", flush=True)


if __name__ == "__main__":
    main()

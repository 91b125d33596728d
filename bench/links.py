#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links between ranks of one machine, in turn: microseconds of an iteration.

usage: links.py --tacit PROGRAM [--ranks 2] [--links shm,mpi,auto]
                [--methods cg,pipe-pr] [--rounds 5] [MATRIX:ITERATIONS ...]

Each rank has one thread; b = 1, x0 = 0, no test of convergence. In each round
the links take turns, with the median of five solves each; the table shows the
median over the rounds, and its ratio to that of the link named "mpi". Fewer
ITERATIONS than lead to where rounding ends a solve.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

ENV = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
MATRICES = ["poisson2d:10:15", "poisson2d:40:100", "poisson2d:100:200",
            "poisson2d:200:300", "poisson3d:40:100"]


def solve(a, matrix, iterations, method, link):
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(a.ranks),
         a.tacit, "solve", matrix, "--rhs", "ones", "--rtol", "0",
         "--max-iterations", iterations, "--threads", "1", "--method", method,
         "--comm", link, "--repeat", "5", "--warmup", "1", "--json", "-"],
        capture_output=True, text=True, env=ENV)
    if done.returncode not in (0, 3, 4):
        sys.exit(done.stderr)
    report = json.loads(done.stdout)
    return (1e6 * statistics.median(report["time"]["all_solves"]) /
            report["result"]["iterations"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--links", default="shm,mpi,auto")
    p.add_argument("--methods", default="cg,pipe-pr")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("matrices", nargs="*")
    a = p.parse_args()
    links = a.links.split(",")
    print("\t".join(["matrix", "method"] + [f"{k}\tratio" for k in links]))
    for word in a.matrices or MATRICES:
        matrix, iterations = word.rsplit(":", 1)
        for method in a.methods.split(","):
            times = {k: [] for k in links}
            for n in range(a.rounds):
                for k in links[::-1] if n % 2 else links:
                    times[k].append(solve(a, matrix, iterations, method, k))
            mid = {k: statistics.median(v) for k, v in times.items()}
            row = [f"{mid[k]:.2f}\t{mid[k] / mid['mpi']:.2f}" if "mpi" in mid
                   else f"{mid[k]:.2f}\t" for k in links]
            print("\t".join([matrix, method] + row), flush=True)


main()

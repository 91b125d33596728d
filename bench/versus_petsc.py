#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients of Tacit and of PETSc in one run, in turn.

usage: versus_petsc.py --tacit PROGRAM --petsc PEER [--ranks 1,2]
                       [--iterations K] [--rounds R] [MATRIX ...]

PEER is bench/peer_petsc of this build. For every matrix and number of ranks,
each with one thread, the two programs run in turn R times; each prints the
median time per iteration of 3 solves of K iterations (b = 1, x0 = 0, no test
of convergence, no preconditioner, rows dealt out in their order), and the
table shows the median over the rounds, the ratio Tacit / PETSc of these
medians, and peak memory summed over the ranks. Geometric means follow.

Without matrices: three from the gallery, and the three largest symmetric
positive definite ones in $TACIT_MATRICES.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

SHARED = ["fe/heart_ucsd_rabbit_64k_mono.mtx.gz", "fe/head_mmc_59k_lap.mtx.gz",
          "derived/lap_rgg_n_2_15_s0.mtx.gz"]
GALLERY = ["poisson3d:100", "elasticity3d:30", "tet3d:100,1"]
ENV = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(command, allowed=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def mpi(ranks):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-np",
            str(ranks)] if ranks > 1 else []


def tacit(a, matrix, ranks):
    out = run(mpi(ranks) + [
        a.tacit, "solve", matrix, "--rhs", "ones", "--iterations",
        str(a.iterations), "--repeat", "3", "--warmup", "1", "--threads", "1",
        "--json", "-"] + (["--partitioner", "contiguous"] if ranks > 1 else []))
    report = json.loads(out)
    solves = report["time"]["all_solves"]
    return (statistics.median(solves) / report["result"]["iterations"] * 1e6,
            report["memory"]["peak_bytes"] / 2**20, report["path"]["format"])


def petsc(a, binary, ranks):
    out = run(mpi(ranks) + [
        a.petsc, "-matrix", binary, "-rhs", "ones", "-iterations",
        str(a.iterations), "-repeat", "3"])
    head, line = [x.split("\t") for x in out.strip().splitlines()[-2:]]
    row = dict(zip(head, line))
    return float(row["us/iteration"]), float(row["MiB sum"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--petsc", required=True)
    p.add_argument("--ranks", default="1,2")
    p.add_argument("--iterations", type=int, default=100)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("matrices", nargs="*")
    a = p.parse_args()
    folder = os.environ.get("TACIT_MATRICES", "")
    matrices = a.matrices or GALLERY + [
        os.path.join(folder, m) for m in SHARED if folder]
    print("matrix\tranks\tformat\ttacit us\tpetsc us\tratio\t"
          "tacit MiB\tpetsc MiB\tratio")
    ratios = {"time": [], "memory": []}
    for matrix in matrices:
        with tempfile.TemporaryDirectory() as work:
            binary = os.path.join(work, "a.petsc")
            run([a.tacit, "convert", matrix, binary, "-q"])
            for ranks in map(int, a.ranks.split(",")):
                ours, theirs = [], []
                for _ in range(a.rounds):
                    ours.append(tacit(a, matrix, ranks))
                    theirs.append(petsc(a, binary, ranks))
                t = statistics.median(x[0] for x in ours)
                u = statistics.median(x[0] for x in theirs)
                m = statistics.median(x[1] for x in ours)
                n = statistics.median(x[1] for x in theirs)
                ratios["time"].append(t / u)
                ratios["memory"].append(m / n)
                name = os.path.basename(matrix).split(".")[0]
                print(f"{name}\t{ranks}\t{ours[0][2]}\t{t:.1f}\t{u:.1f}\t"
                      f"{t / u:.3f}\t{m:.1f}\t{n:.1f}\t{m / n:.3f}", flush=True)
    for what, r in ratios.items():
        mean = math.exp(sum(map(math.log, r)) / len(r))
        print(f"# {what}: geometric mean {mean:.3f}, worst {max(r):.3f}")


if __name__ == "__main__":
    main()

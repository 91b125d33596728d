#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whole solves, from a matrix in memory to x, of Tacit and of PETSc in one run,
in turn.

usage: whole.py --tacit PROGRAM --petsc PEER [--clock LIBRARY] [--rounds R]
                [--rtol T] [--threads N]
                [--preconds none,jacobi] [--peers none,jacobi,icc] [MATRIX ...]

PEER is bench/peer_petsc of this build. Each round runs every candidate once, in
a process of its own, on one thread, with b = A x*, x* random; or Tacit on N
threads and PETSc on N ranks, without LIBRARY. A time is the least of the
rounds: of Tacit `time.whole` of a solve that is its process's only one, of
PETSc set-up and a solve after a first one, which it need not pay for. LIBRARY
(processor_clock of this build) makes it processor time, for busy machines. A
candidate of PETSc counts if its recomputed residual meets the tolerance. The
table has ms, the ratios to PETSc's best, and their geometric means.

Without matrices: some from the gallery and from $TACIT_MATRICES.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

SHARED = ["fe/head_mmc_59k_lap.mtx.gz", "fe/heart_ucsd_rabbit_64k_mono.mtx.gz",
          "spd/ex15.mtx.gz", "derived/pdn_real_tc1.mtx.gz",
          "spd/bcsstk16.mtx.gz", "spd/nos3.mtx.gz",
          "derived/dcpf_case9241pegase.mtx.gz"]
GALLERY = ["poisson3d:47", "elasticity3d:17", "tet3d:43,7"]
ENV = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(command, allowed=(0,)):
    ENV["TACIT_CLOCK"] = "mpi" if any("peer_petsc" in word for word in command) else ""
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def tacit(a, matrix, precond):
    """Seconds, infinite without success, iterations and format."""
    report = json.loads(run([
        a.tacit, "solve", matrix, "--rhs", "manufactured", "--rtol", str(a.rtol),
        "--precond", precond, "--threads", str(a.threads), "--max-iterations", "20000",
        "--json", "-"], allowed=(0, 3, 4)))
    done = report["result"]["converged"]
    return (report["time"]["whole"] if done else math.inf, report["result"]["iterations"],
            report["path"]["format"])


def petsc(a, path, pc):
    """Seconds; infinite if the residual is too large."""
    ranks = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(a.threads)]
    lines = run([*(ranks if a.threads > 1 else []), a.petsc, "-matrix", path, "-rhs", "random",
                 "-rtol", str(a.rtol), "-repeat", "1", "-max_it", "20000", "-pc_type", pc],
                allowed=(0, 1)).splitlines()
    if len(lines) < 2:
        return math.inf
    row = [float(word) if word[0] in "-0123456789" else math.nan
           for word in lines[1].split("\t")]
    iterations, per_iteration, residual, set_up = row[3], row[4], row[6], row[-1]
    if not residual <= 1.01 * a.rtol:
        return math.inf
    return set_up + 1e-6 * iterations * per_iteration


def measure(a, matrix, folder):
    path = os.path.join(folder, "a.petsc")
    run([a.tacit, "convert", matrix, path])
    ours = {p: (math.inf, 0, "") for p in a.preconds}
    theirs = {p: math.inf for p in a.peers}
    for _ in range(a.rounds):
        for p in a.preconds:
            ours[p] = min(ours[p], tacit(a, matrix, p))
        for p in a.peers:
            theirs[p] = min(theirs[p], petsc(a, path, p))
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tacit", required=True)
    parser.add_argument("--petsc", required=True)
    parser.add_argument("--clock")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--preconds", type=lambda s: s.split(","),
                        default=["none", "jacobi"])
    parser.add_argument("--peers", type=lambda s: s.split(","),
                        default=["none", "jacobi", "icc"])
    parser.add_argument("matrix", nargs="*")
    a = parser.parse_args()
    if a.clock:
        ENV["LD_PRELOAD"] = os.path.abspath(a.clock)
    shared = os.environ.get("TACIT_MATRICES")
    matrices = a.matrix or GALLERY + (
        [os.path.join(shared, m) for m in SHARED] if shared else [])
    print("matrix", *(f"tacit {p}" for p in a.preconds), "iterations", "format",
          *(f"petsc {p}" for p in a.peers), "best/best", sep="\t")
    ratios = []
    for matrix in matrices:
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = measure(a, matrix, folder)
        best = min(ours.values())
        ratios.append(best[0] / min(theirs.values()))
        print(os.path.basename(matrix).split(".")[0],
              *(f"{1e3 * ours[p][0]:.2f}" for p in a.preconds), best[1], best[2],
              *(f"{1e3 * theirs[p]:.2f}" for p in a.peers),
              f"{ratios[-1]:.2f}", sep="\t", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main()

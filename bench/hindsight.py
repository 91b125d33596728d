#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whole solves against hindsight: the time of the default and of `--precond
auto` over that of the best of a fixed list of choices, which is known only when
all have run.

usage: hindsight.py --tacit PROGRAM [--clock LIBRARY] [--rounds R] [--rtol T]
                    [MATRIX ...]

A time is `time.whole` of a solve that is its process's only one, on one thread,
b = A x*, the least of R rounds in turn; infinite without success. LIBRARY
(processor_clock of this build) makes it processor time. Choices: jacobi with
csr, sell and bsell, none, ic0 and amg, direct. The table has ms, and the ratios;
at its end their worst and their geometric means, matrices without any solution
left out.

Without matrices: those of $TACIT_MATRICES that are symmetric positive definite,
and some from the gallery.
"""
import argparse
import glob
import json
import math
import os
import subprocess

FIXED = {"jacobi csr": ["--precond", "jacobi", "--format", "csr"],
         "jacobi sell": ["--precond", "jacobi", "--format", "sell"],
         "jacobi bsell": ["--precond", "jacobi", "--format", "bsell"],
         "none": ["--precond", "none"], "ic0": ["--precond", "ic0"],
         "amg": ["--precond", "amg"], "direct": ["--precond", "direct"]}
JUDGED = {"default": [], "auto": ["--precond", "auto"]}
GALLERY = ["poisson2d:100", "poisson3d:30", "elasticity3d:12", "tet3d:20,7"]


def whole(a, matrix, options):
    """Seconds; infinite without success."""
    env = dict(os.environ, OMP_NUM_THREADS="1")
    if a.clock:
        env["LD_PRELOAD"] = os.path.abspath(a.clock)
    done = subprocess.run(
        [a.tacit, "solve", matrix, "--rhs", "manufactured", "--rtol", str(a.rtol),
         "--threads", "1", "--max-iterations", "20000", "--json", "-", *options],
        capture_output=True, text=True, env=env)
    if done.returncode != 0:
        return math.inf
    report = json.loads(done.stdout)
    return report["time"]["whole"] if report["result"]["converged"] else math.inf


def matrices():
    folder = os.environ.get("TACIT_MATRICES")
    found = [] if not folder else sorted(
        glob.glob(os.path.join(folder, "spd", "*.mtx.gz"))
        + glob.glob(os.path.join(folder, "derived", "*.mtx.gz"))
        + glob.glob(os.path.join(folder, "fe", "*.mtx.gz")))
    return GALLERY + found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tacit", required=True)
    parser.add_argument("--clock")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("matrix", nargs="*")
    a = parser.parse_args()
    print("matrix", *JUDGED, "best", *(f"{j}/best" for j in JUDGED), "by", sep="\t")
    ratios = {name: [] for name in JUDGED}
    for matrix in a.matrix or matrices():
        least = {name: math.inf for name in {**JUDGED, **FIXED}}
        for _ in range(a.rounds):
            for name, options in {**JUDGED, **FIXED}.items():
                least[name] = min(least[name], whole(a, matrix, options))
        by = min(FIXED, key=least.get)
        if math.isinf(least[by]):
            continue
        for name in JUDGED:
            ratios[name].append(least[name] / least[by])
        print(os.path.basename(matrix).split(".")[0],
              *(f"{1e3 * least[n]:.2f}" for n in [*JUDGED, by]),
              *(f"{ratios[n][-1]:.2f}" for n in JUDGED), by, sep="\t", flush=True)
    for name, all_of in ratios.items():
        solved = [r for r in all_of if not math.isinf(r)]
        mean = math.exp(sum(map(math.log, solved)) / max(len(solved), 1))
        print(f"{name}: worst {max(solved, default=math.inf):.2f}, mean {mean:.2f}, "
              f"{len(all_of) - len(solved)} of {len(all_of)} not solved")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioned conjugate gradients of Tacit and of PETSc in one run, in turn.

usage: precond_table.py --tacit PROGRAM [--petsc PEER] [--ranks 1,2]
                        [--rounds R] [--rtol 1e-8] [--hard N]
                        [--only NAME,...] [--amg "OPTIONS"] [MATRIX ...]

PEER is bench/peer_petsc of this build, of a PETSc that has hypre. For every
matrix and number of ranks, each with one thread, all solvers run in turn R
times, b = 1, x0 = 0, until ||b - A x|| <= rtol ||b||. A line has the medians of
set-up (of the preconditioner alone: a matrix's own is not in it) and of the
solve in seconds, iterations, the true residual, and peak memory summed over the
ranks. Geometric means of amg over the better of BoomerAMG's two settings and
over GAMG follow. Without matrices: those of docs/performance/amg.md, whose files
are in $TACIT_MATRICES.

--hard N: all symmetric positive definite matrices of $TACIT_MATRICES for which
cg needs more than N iterations instead, with and without preconditioner; how
often amg is faster in all, and the worst by that, follow.
"""
import argparse
import glob
import json
import math
import os
import shlex
import statistics
import sys
import tempfile

from versus_petsc import ENV, mpi
import subprocess

CASES = ["poisson3d:100", "jump3d:60,1e4,1", "anisotropic3d:80,0.01",
         "tet3d:100,1", "fe/heart_ucsd_rabbit_64k_mono.mtx.gz",
         "fe/head_mmc_59k_lap.mtx.gz", "mesh:mesh/heart_kit_50k",
         "like:g3_circuit", "derived/dcpf_case9241pegase.mtx.gz",
         "derived/dcpf_case_ACTIVSg10k.mtx.gz"]
HYPRE = "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_"
BOOMER = {
    "boomeramg hmis": ["coarsen_type HMIS", "interp_type ext+i",
                       "relax_type_all l1scaled-SOR/Jacobi", "agg_nl 1"],
    "boomeramg pmis": ["coarsen_type PMIS", "interp_type ext+i",
                       "relax_type_all l1scaled-Jacobi"]}
PETSC = {name: HYPRE + " -pc_hypre_boomeramg_".join(options)
         for name, options in BOOMER.items()}
PETSC["gamg"] = "-pc_type gamg"
TACIT = ["none", "jacobi", "amg"]
COLUMNS = ("iterations", "set-up", "solve", "true residual", "MiB")


def attempt(command):
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    return done.stdout, done.stderr


def tacit(a, matrix, precond, ranks):
    """None: refused, as what cannot be preconditioned is."""
    out, err = attempt(mpi(ranks) + [
        a.tacit, "solve", matrix, "--rhs", "ones", "--rtol", a.rtol,
        "--max-iterations", str(a.max), "--threads", "1", "--device", "host",
        "--precond", precond, "--json", "-"] +
        (["--partitioner", "contiguous"] if ranks > 1 else []) +
        (shlex.split(a.amg) if precond == "amg" else []))
    try:
        r = json.loads(out)
    except ValueError:
        print(f"# {precond}: {err.strip().splitlines()[-1]}")
        return None
    result = r["result"]
    return dict(zip(COLUMNS, (
        result["iterations"] if result["converged"] else math.inf,
        r["precond"]["setup"] if r.get("precond") else 0.0, r["time"]["solve"],
        result["true_relative_residual"], r["memory"]["peak_bytes"] / 2**20)))


def petsc(a, binary, options, ranks):
    out, err = attempt(mpi(ranks) + [
        a.petsc, "-matrix", binary, "-rhs", "ones", "-rtol", a.rtol, "-max_it",
        str(a.max), "-repeat", "1"] + options.split())
    lines = [x.split("\t") for x in out.strip().splitlines()[-2:]]
    if len(lines) < 2 or len(lines[0]) != len(lines[1]):
        sys.exit(f"{options}\n{out}{err}")
    row = dict(zip(*lines))
    its = int(row["iterations"])
    good = row["reason"] == "CONVERGED_RTOL"
    return dict(zip(COLUMNS, (
        its if good else math.inf, float(row["set-up"]),
        1e-6 * max(its, 1) * float(row["us/iteration"]),
        float(row["true residual"]), float(row["MiB sum"]))))


def measure(a, matrix, binary, ranks):
    """The medians of each solver that was not refused."""
    runs = {}
    for _ in range(a.rounds):
        for p in TACIT:
            if a.wants(p):
                runs.setdefault(p, []).append(tacit(a, matrix, p, ranks))
        for p, options in PETSC.items():
            if binary and a.wants(p):
                runs.setdefault(p, []).append(petsc(a, binary, options, ranks))
    return {p: {c: statistics.median(x[c] for x in rows) for c in COLUMNS}
            for p, rows in runs.items() if None not in rows}


def seconds(row):
    return row["set-up"] + row["solve"] if math.isfinite(row["iterations"]) \
        else math.inf


def show(name, ranks, rows):
    for p, row in rows.items():
        print(f"{name}\t{ranks}\t{p}\t{row['iterations']:.0f}\t"
              f"{row['set-up']:.4f}\t{row['solve']:.4f}\t{seconds(row):.4f}\t"
              f"{row['true residual']:.1e}\t{row['MiB']:.1f}", flush=True)


def compare(rows, ratios):
    """amg over the better of BoomerAMG's settings, and over GAMG."""
    peers = {"boomeramg": [rows[p] for p in BOOMER if p in rows],
             "gamg": [rows[p] for p in ("gamg",) if p in rows]}
    for name, of in peers.items():
        if "amg" not in rows or not of:
            continue
        best = min(of, key=seconds)
        r = ratios.setdefault(name, {"time": [], "memory": []})
        r["time"].append(seconds(rows["amg"]) / seconds(best))
        r["memory"].append(rows["amg"]["MiB"] / best["MiB"])


def say_ratios(ratios):
    for name, of in ratios.items():
        for what, r in of.items():
            mean = math.exp(sum(map(math.log, r)) / len(r))
            print(f"# amg / {name}, {what}: geometric mean {mean:.3f}, "
                  f"{min(r):.3f} to {max(r):.3f}")


def say_hard(gains):
    """gains: of each hard matrix the time of amg over that of cg, and over that
    of cg with jacobi."""
    for k, other in enumerate(("cg alone", "jacobi")):
        faster = sum(g[k] < 1 for _, g in gains)
        print(f"# amg: faster in all than {other} for {faster} of {len(gains)}; "
              "worst: " + ", ".join(f"{n} {g[k]:.2f}" for n, g in sorted(
                  gains, key=lambda x: -x[1][k])[:8]))


def convert(a, matrix, work):
    binary = os.path.join(work, "a.petsc")
    out, err = attempt([a.tacit, "convert", matrix, binary, "-q"])
    return binary if os.path.exists(binary) else sys.exit(err)


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--petsc")
    p.add_argument("--ranks", default="1,2")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--rtol", default="1e-8")
    p.add_argument("--max", type=int, default=100000)
    p.add_argument("--hard", type=int)
    p.add_argument("--only", default="")
    p.add_argument("--amg", default="")
    p.add_argument("matrices", nargs="*")
    a = p.parse_args()
    a.wants = lambda name: not a.only or name in a.only.split(",")
    a.folder = os.environ.get("TACIT_MATRICES", "")
    return a


def matrices(a):
    if a.matrices:
        return a.matrices
    if a.hard:
        return sorted(f for d in ("spd", "derived", "fe") for f in glob.glob(
            os.path.join(a.folder, d, "*.mtx.gz")))
    return [c if "/" not in c else c.replace("mesh:", f"mesh:{a.folder}/") if
            c.startswith("mesh:") else os.path.join(a.folder, c)
            for c in CASES if a.folder or "/" not in c]


def main():
    a = arguments()
    print("matrix\tranks\tsolver\titerations\tset-up s\tsolve s\tin all s\t"
          "true residual\tMiB")
    ratios, gains = {}, []
    for matrix in matrices(a):
        name = os.path.basename(matrix).split(".")[0]
        with tempfile.TemporaryDirectory() as work:
            binary = convert(a, matrix, work) if a.petsc else None
            for ranks in map(int, a.ranks.split(",")):
                if a.hard:
                    first = tacit(a, matrix, "none", ranks)
                    if first and first["iterations"] <= a.hard:
                        continue
                rows = measure(a, matrix, binary, ranks)
                show(name, ranks, rows)
                compare(rows, ratios)
                if all(p in rows for p in TACIT):
                    t = [seconds(rows[p]) for p in TACIT]
                    gains.append((name, (t[2] / t[0], t[2] / t[1])))
    say_ratios(ratios)
    if a.hard:
        say_hard(gains)


if __name__ == "__main__":
    main()

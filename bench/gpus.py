#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One GPU and several, over each link: microseconds of an iteration.

usage: gpus.py --build FOLDER [--gpus 2] [--device cuda|host]
               [--links peer:resident,nvshmem:resident,nccl:graph,mpi:host]
               [--parts meetings,small,weak,larger] [--methods cg,single,pipe-pr]
               [--small MATRIX ...] [--weak FAMILY:N] [--larger MATRIX=METHOD ...]
               [--iterations 300] [--runs 3] [--limit 120]

FOLDER is a build's: its src/tacit, bench/loops and bench/persistent are run, ranks by
mpirun. b = 1, x0 = 0, no test of convergence. Tab-separated:

  meetings   what bench/persistent says of one GPU and of all
  small      matrix, values (few: the fastest store; all: on cuda 64 bits each),
             ranks, link, loop, the fastest method, microseconds, ratio to one
             GPU's, true residual. Of bench/loops
  weak       the same: N nodes along a side on one GPU, so many on P that there
             are P times as many
  larger     matrix, method, ranks, link, loop, microseconds, ratio, residual: of
             tacit solve, 100 iterations, files cut by METIS

Each program may take LIMIT seconds; what it says last of one that was ended, or
refused, stands in a line that begins with #.
"""
import argparse
import json
import subprocess

from scaling import ENV, sized

SMALL = ["poisson2d:200", "poisson2d:1000", "poisson3d:100", "poisson3d:200",
         "elasticity3d:30", "elasticity3d:80"]
LARGER = ["like:queen_4147=cg", "like:flan_1565=cg"]


def run(a, ranks, words):
    """Its output, or "" and a line that says why not."""
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np",
             str(ranks)] if ranks > 1 else []
    try:
        done = subprocess.run(start + words, env=ENV, capture_output=True,
                              text=True, timeout=a.limit)
    except subprocess.TimeoutExpired:
        print("# ended after", a.limit, "s:", *words, flush=True)
        return ""
    if done.returncode not in (0, 3, 4):
        said = [line for line in done.stderr.splitlines()
                if line.startswith(("tacit: ", "loops: ", "gang: "))]
        print("#", *words, ":", said[0] if said else done.returncode, flush=True)
        return ""
    return done.stdout


def places(a):
    """(ranks, link, loops) of one GPU and of all."""
    yield 1, "self", "resident,graph" if a.device == "cuda" else "host"
    for word in a.links.split(","):
        link, loop = word.split(":")
        yield a.gpus, link, loop


def formats(a, matrix):
    dense = "bsell/f64" if "elasticity" in matrix else "sell/f64"
    return {"few": "auto", "all": dense if a.device == "cuda" else "sell"}


def fastest(a, ranks, link, loops, matrix, fmt, methods):
    """Of bench/loops: (microseconds, loop, method, residual), or None."""
    device = a.device + (f"@{link}" if ranks > 1 else "")
    lines = run(a, ranks, [f"{a.build}/bench/loops", "-d", device, "-f", fmt, "-m",
                           methods, "-l", loops, "-n", str(a.iterations), "-r",
                           str(a.runs), matrix]).splitlines()
    rows = [w for w in (line.split("\t") for line in lines)
            if len(w) > 10 and w[1].isdigit() and w[8] != "-"]
    found = [(float(w[10]), w[5], w[4], w[9]) for w in rows]
    return min(found) if found else None


def small(a, word_of, methods):
    for values in "few", "all":
        one = None
        for ranks, link, loops in places(a):
            matrix = word_of(ranks)
            got = fastest(a, ranks, link, loops, matrix,
                          formats(a, matrix)[values], methods)
            if not got:
                continue
            us, loop, method, residual = got
            one = one or (us if ranks == 1 else None)
            ratio = f"{us / one:.2f}" if one else "-"
            print(matrix, values, ranks, link, loop, method, f"{us:.2f}", ratio,
                  residual, sep="\t", flush=True)


def larger(a, matrix, method):
    one = None
    for ranks, link, loops in places(a):
        words = [f"{a.build}/src/tacit", "solve", matrix, "--method", method,
                 "--device", a.device, "--rhs", "ones", "--rtol", "0",
                 "--max-iterations", "100", "--warmup", "1", "--repeat", "3",
                 "--json", "-"]
        if ranks > 1:
            words += ["--comm", link, "--loop", loops]
        text = run(a, ranks, words)
        if not text:
            continue
        r = json.loads(text)
        us = 1e6 * min(r["time"]["all_solves"]) / max(1, r["result"]["iterations"])
        one = one or (us if ranks == 1 else None)
        print(matrix, method, ranks, link, r["path"]["loop"], f"{us:.2f}",
              f"{us / one:.2f}" if one else "-",
              f"{r['result']['true_relative_residual']:.3e}", sep="\t", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    p.add_argument("--gpus", type=int, default=2)
    p.add_argument("--device", default="cuda")
    p.add_argument("--links", default="peer:resident,nvshmem:resident,"
                   "nccl:graph,mpi:host")
    p.add_argument("--parts", default="meetings,small,weak,larger")
    p.add_argument("--methods", default="cg,single,pipe-pr")
    p.add_argument("--small", nargs="*", default=SMALL)
    p.add_argument("--weak", default="poisson3d:200")
    p.add_argument("--larger", nargs="*", default=LARGER)
    p.add_argument("--iterations", type=int, default=300)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--limit", type=float, default=120)
    a = p.parse_args()
    parts = a.parts.split(",")
    if "meetings" in parts:
        for ranks in 1, a.gpus:
            print(run(a, ranks, [f"{a.build}/bench/persistent"]), end="", flush=True)
    if "small" in parts or "weak" in parts:
        print("matrix\tvalues\tranks\tlink\tloop\tmethod\tus\tratio\tresidual")
    for matrix in a.small if "small" in parts else []:
        small(a, lambda ranks, m=matrix: m, a.methods)
    if "weak" in parts:
        small(a, lambda ranks: sized(a.weak, ranks), a.methods)
    if "larger" in parts:
        print("matrix\tmethod\tranks\tlink\tloop\tus\tratio\tresidual")
        for word in a.larger:
            larger(a, *word.rsplit("=", 1))


main()

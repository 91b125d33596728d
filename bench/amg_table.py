#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Iterations of cg with each kind of algebraic multigrid, beside a prototype's.

usage: amg_table.py [--tacit PROGRAM] [--sizes 50,64,100,128] [--rtol 1e-6]
                    [--device NAME] [--threads N] [--method NAME]

poisson3d:N, b = 1, x0 = 0. A line for each variant of a cycle that the design
of amg measured, with the options that make it here; for each N the iterations,
and in brackets those of the prototype where it has a figure. Which of its
choices a line cannot have is in the last column; what the program has no option
for is "not offered", and so is what it refuses. N = 250 takes some 6 GiB and
minutes.
"""
import argparse
import json
import subprocess

SWEPT = "prototype: last level by 20 sweeps, corrections as they come"
PLAIN = "prototype: corrections as they come"

# keys of amg, the prototype's iterations by N, what differs
VARIANTS = {
    "V, l1-jacobi(4), last level by sweeps": (None, {250: 45}, ""),
    "V, l1-jacobi(4), corrections as they come":
        (None, {64: 16, 128: 21, 250: 29}, ""),
    "V, l1-jacobi(4)": ("smoother=l1-jacobi,degree=4",
                        {64: 11, 128: 13, 250: 19}, ""),
    "V, l1-jacobi(2)": ("smoother=l1-jacobi,degree=2", {250: 51}, SWEPT),
    "V, l1-jacobi(1)": ("smoother=l1-jacobi,degree=1", {250: 57}, SWEPT),
    "V, jacobi(4)": ("smoother=jacobi,degree=4", {250: 40}, SWEPT),
    "V, chebyshev(4)": ("degree=4", {250: 31}, SWEPT),
    "V, chebyshev(3)": ("degree=3", {128: 10}, ""),
    "V, chebyshev(2)": ("", {64: 10, 128: 11, 250: 17}, ""),
    "V, chebyshev(2), corrections as they come": (None, {250: 29}, ""),
    "V, chebyshev(2), last level by a polynomial":
        ("levels={last}", {250: 20}, "prototype: of degree 20, not 16"),
    "V, chebyshev(1)": ("degree=1", {250: 27}, "prototype: times 1.4, not 1.3"),
    "W, l1-jacobi(4)": ("cycle=w,smoother=l1-jacobi,degree=4", {250: 20},
                        "prototype: last level by 20 sweeps"),
    "W, chebyshev(2)": ("cycle=w", {250: 17},
                        "prototype: last level by 20 sweeps"),
    "K, l1-jacobi(4)": ("cycle=k,smoother=l1-jacobi,degree=4",
                        {50: 12, 100: 12, 250: 12}, PLAIN),
    "K, l1-jacobi(1)": ("cycle=k,smoother=l1-jacobi,degree=1",
                        {50: 19, 100: 18, 250: 17}, PLAIN),
    "K, chebyshev(2)": ("cycle=k", {128: 11, 250: 11}, PLAIN),
    "K, l1-jacobi(1), aggregates of 4": (None, {250: 17}, ""),
    "V, smoothed aggregation": (None, {100: "8-11"}, ""),
}


def last_level(n):
    """How many levels there are if 40 N rows are enough for the last one."""
    levels, rows = 1, n ** 3
    while rows > 40 * n:
        levels, rows = levels + 1, rows / 8
    return levels


def iterations(a, n, options):
    """None: refused."""
    k = ["--method", "flexible"] if "cycle=k" in options else []
    done = subprocess.run(
        [a.tacit, "solve", f"poisson3d:{n}", "--rhs", "ones", "--rtol", a.rtol,
         "--threads", a.threads, "--device", a.device, "--method", a.method,
         "--precond", f"amg({options.format(last=last_level(n))})",
         "--json", "-", *k],
        capture_output=True, text=True)
    try:
        r = json.loads(done.stdout)["result"]
    except ValueError:
        print("# " + done.stderr.strip().splitlines()[0], flush=True)
        return None
    return r["iterations"] if r["converged"] else "never"


def row(a, name):
    options, prototype, differs = VARIANTS[name]
    cells, offered = [], options is not None
    for n in a.sizes:
        its = iterations(a, n, options) if offered else None
        offered = its is not None
        theirs = f" ({prototype[n]})" if n in prototype else ""
        cells.append((str(its) if offered else "not offered") + theirs)
    print("\t".join([name, *cells, differs if offered else ""]), flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--sizes", default="50,64,100,128")
    p.add_argument("--rtol", default="1e-6")
    p.add_argument("--device", default="host")
    p.add_argument("--threads", default="1")
    p.add_argument("--method", default="cg")
    a = p.parse_args()
    a.sizes = [int(n) for n in a.sizes.split(",")]
    print("\t".join(["variant", *(f"N = {n}" for n in a.sizes), "difference"]))
    for name in VARIANTS:
        row(a, name)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python module: what a call costs over C, and against SciPy and pyamg.

    PYTHONPATH=python TACIT_LIBRARY=build/host/src/libtacit.so \\
        bench/python_calls.py calls
    ... bench/python_calls.py versus MATRIX ... [--runs 5]

calls: the least time of a solve by tacit.Solver and by tacit_solver_run, in
turn; a first guess that solves leaves the call alone. versus: seconds to a
solution at rtol 1e-8 with one thread, set-up in, of scipy.sparse.linalg.cg with
the diagonal, of pyamg, if it is installed, and of tacit.solve, in turn."""
import argparse
import time
from ctypes import byref

import numpy as np
import scipy.sparse.linalg as linalg
import tacit
from scipy.sparse import diags
from tacit import _structs
from tacit._library import lib


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def least(runs, *works):
    """The least time of each, in turn."""
    times = [[seconds(work) for work in works] for _ in range(runs)]
    return [min(column) for column in zip(*times)]


def calls(runs):
    print("rows\tC us\tPython us\tover us")
    for name in ("poisson2d:32", "poisson2d:316", "poisson3d:100"):
        solver = tacit.Solver(name, precond="jacobi", device="host")
        b = np.ones(solver.shape[0])
        guess, _ = solver.solve(b, rtol=1e-9)
        stop = _structs.new(_structs.Stop, rtol=1e-8)
        result = _structs.new(_structs.Result)

        def in_c():
            x = guess.copy()
            lib.tacit_solver_run(solver.handle.pointer, b.ctypes.data,
                                 x.ctypes.data, byref(stop), byref(result))

        c, python = least(runs, in_c, lambda: solver.solve(b, guess))
        print(f"{len(b)}\t{1e6 * c:.1f}\t{1e6 * python:.1f}"
              f"\t{1e6 * (python - c):.1f}", flush=True)


def by_scipy(A, b):
    M = diags(1.0 / A.diagonal())
    x, info = linalg.cg(A, b, M=M, atol=0.0, **TOLERANCE)
    assert info == 0


def by_pyamg(A, b):
    import pyamg

    x = pyamg.smoothed_aggregation_solver(A).solve(b, tol=1e-8, accel="cg")
    assert np.linalg.norm(b - A @ x) <= 1.1e-8 * np.linalg.norm(b)


TOLERANCE = {"rtol": 1e-8}
if "rtol" not in linalg.cg.__doc__.split("Returns")[0]:
    TOLERANCE = {"tol": 1e-8}  # SciPy before 1.12


def versus(names, runs):
    others = {"scipy": by_scipy, "pyamg": by_pyamg}
    try:
        import pyamg  # noqa: F401
    except ImportError:
        del others["pyamg"]
    print("matrix\ttacit s\t" + "\t".join(f"{o} s\tratio" for o in others))
    for name in names:
        known = any(name.startswith(u.split(":")[0]) for u, _ in tacit.gallery())
        A = tacit.gallery(name) if known else tacit.read(name)
        b = A @ np.random.default_rng(1).standard_normal(A.shape[0])
        works = [lambda: tacit.solve(A, b, threads=1)]
        works += [lambda o=o: others[o](A, b) for o in others]
        ours, *theirs = least(runs, *works)
        print(f"{name}\t{ours:.4f}\t" + "\t".join(
            f"{t:.4f}\t{ours / t:.2f}" for t in theirs), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["calls", "versus"])
    parser.add_argument("matrices", nargs="*", default=["poisson3d:64"])
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    if given.what == "calls":
        calls(10 * given.runs)
    else:
        versus(given.matrices, given.runs)

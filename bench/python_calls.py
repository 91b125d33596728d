#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python module: what a call costs over C.

    PYTHONPATH=python TACIT_LIBRARY=build/host/src/libtacit.so \\
        bench/python_calls.py [--runs 50]

The least time of a solve by tacit.Solver and by tacit_solver_run, in turn; a
first guess that solves leaves the call alone."""
import argparse
import time
from ctypes import byref

import numpy as np
import tacit
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    calls(parser.parse_args().runs)

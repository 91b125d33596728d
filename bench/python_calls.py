#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python module: what a call costs over C.

    PYTHONPATH=python TACIT_LIBRARY=build/host/src/libtacit.so \\
        bench/python_calls.py [--runs 50]

run    a solve by tacit.Solver and by tacit_solver_run; a first guess that
       solves leaves the call alone
whole  tacit.solve of a SciPy matrix and the same calls by hand, from the
       borrowed rows to the last destroy, set-up in
Processor time of one thread, the least of runs in turn. The last column has the
pages that the whole call touches for the first time, over those by hand, and
those of the matrix: a copy would be as many."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the library comes

import argparse  # noqa: E402
import resource  # noqa: E402
import time  # noqa: E402
from ctypes import byref, c_void_p  # noqa: E402

import numpy as np  # noqa: E402
import tacit  # noqa: E402
from tacit import _structs  # noqa: E402
from tacit._library import check, lib  # noqa: E402


def cost(work):
    """Processor seconds, and pages touched for the first time."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def least(runs, *works):
    """The least seconds and pages of each, in turn."""
    rows = [[cost(work) for work in works] for _ in range(runs)]
    return [tuple(map(min, zip(*column))) for column in zip(*rows)]


def one_run(A, b, guess):
    """A solve with what is set up already."""
    solver = tacit.Solver(A, precond="jacobi", device="host")
    stop = _structs.new(_structs.Stop, rtol=1e-8)
    result = _structs.new(_structs.Result)

    def in_c():
        x = guess.copy()
        check(lib.tacit_solver_run(
            solver.handle.pointer, b.ctypes.data, x.ctypes.data, byref(stop),
            byref(result)))

    return in_c, lambda: solver.solve(b, guess)


def whole(A, b, guess):
    """All of it, in a queue that stands."""
    with tacit.Operator("poisson2d:4", device="host") as any_operator:
        c = any_operator.context
    n, stop = len(b), _structs.new(_structs.Stop, rtol=1e-8)
    result = _structs.new(_structs.Result)
    options = _structs.new(_structs.OperatorOptions, format=b"auto", solves=1)

    def in_c():
        m, K, s = c_void_p(), c_void_p(), c_void_p()
        x = guess.copy()
        check(lib.tacit_matrix_borrow_rows32(
            c.world.pointer, n, 0, n, A.indptr.ctypes.data,
            A.indices.ctypes.data, A.data.ctypes.data, byref(m)))
        check(lib.tacit_matrix_check_symmetric(m))
        check(lib.tacit_operator_create_for(
            c.queue.pointer, m, byref(options), byref(K)))
        check(lib.tacit_solver_create(c.queue.pointer, K, b"cg", byref(s)))
        check(lib.tacit_solver_set(s, b"precond", b"jacobi"))
        check(lib.tacit_solver_run(s, b.ctypes.data, x.ctypes.data, byref(stop),
                                   byref(result)))
        lib.tacit_solver_destroy(byref(s))
        lib.tacit_operator_destroy(byref(K))
        lib.tacit_matrix_destroy(byref(m))

    return in_c, lambda: tacit.solve(A, b, precond="jacobi", device="host",
                                     x0=guess)


def calls(runs):
    print("call\trows\tC us\tPython us\tover us\tpages over, of the matrix")
    for name in ("poisson2d:32", "poisson2d:316", "poisson3d:100"):
        A = tacit.gallery(name)
        b = np.ones(A.shape[0])
        guess, _ = tacit.solve(A, b, rtol=1e-9)
        size = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
        for kind in (one_run, whole):
            # an operator may take its form anew: the set-up is long
            times = max(runs // (1 if kind is one_run else 5), 5)
            c, python = least(times, *kind(A, b, guess))
            print(f"{kind.__name__}\t{len(b)}\t{1e6 * c[0]:.1f}"
                  f"\t{1e6 * python[0]:.1f}\t{1e6 * (python[0] - c[0]):.1f}"
                  f"\t{python[1] - c[1]}, {size // resource.getpagesize()}",
                  flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=50)
    calls(parser.parse_args().runs)

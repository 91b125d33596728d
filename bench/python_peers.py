#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tacit.solve(A, b) beside what Python has: seconds to a solution, set-up in.

    PYTHONPATH=python TACIT_LIBRARY=build/host/src/libtacit.so \\
        bench/python_peers.py [MATRIX ...] [--runs 5] [--precond auto]

A is a SciPy csr matrix in memory, b = A x for a random x, the tolerance 1e-8 of
||b - A x|| / ||b||, which is formed anew from each x. One thread; the solvers
run in turn, and the least processor time of each counts. Tacit takes no hint,
each other one the best of its kinds:
  scipy   cg with the diagonal
  pyamg   cg with smoothed aggregation, Ruge and Stueben, or root nodes
  petsc   cg with jacobi, icc, SSOR (Eisenstat's), gamg or hypre's BoomerAMG;
          icc of the order rcm, too
A solver that is not installed is left out, a kind that fails or does not reach
the tolerance is named."""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy comes

import argparse  # noqa: E402
import contextlib  # noqa: E402
import importlib  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import scipy.sparse.linalg as linalg  # noqa: E402
import tacit  # noqa: E402
from scipy.sparse import csr_matrix, diags  # noqa: E402

RTOL, MOST = 1e-8, 20000
SCIPY = {"atol": 0.0, "maxiter": MOST,
         "rtol" if "rtol" in linalg.cg.__doc__.split("Returns")[0] else "tol": RTOL}


@contextlib.contextmanager
def silence():
    """No output, not that of compiled modules either."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def by_scipy(A, b):
    return linalg.cg(A, b, M=diags(1.0 / A.diagonal()), **SCIPY)[0]


def by_pyamg(make):
    def solve(A, b):
        import pyamg

        with silence():  # what it prints of weak connections
            levels = getattr(pyamg, make)(csr_matrix(A))  # arrays are new to it
        return levels.solve(b, tol=RTOL, accel="cg", maxiter=500)

    return solve


def by_petsc(pc, **options):
    def solve(A, b):
        from petsc4py import PETSc

        given = PETSc.Options()
        for name, value in options.items():
            given[name] = value
        K = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data))
        ksp = PETSc.KSP().create()
        ksp.setOperators(K)
        ksp.setType("cg")
        ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED
                        if pc != "eisenstat" else PETSc.KSP.NormType.PRECONDITIONED)
        # the norm of Eisenstat's is another: a digit more
        ksp.setTolerances(rtol=RTOL if pc != "eisenstat" else 0.1 * RTOL, atol=0.0, max_it=MOST)
        ksp.getPC().setType(pc)
        ksp.setFromOptions()
        x, f = K.createVecs()
        f.setArray(b)
        ksp.solve(f, x)
        out = x.getArray().copy()
        for thing in (ksp, K, x, f):
            thing.destroy()
        for name in options:
            given.delValue(name)
        return out

    return solve


PEERS = {
    "scipy": ("scipy", {"jacobi": by_scipy}),
    "pyamg": ("pyamg", {
        "sa": by_pyamg("smoothed_aggregation_solver"),
        "rs": by_pyamg("ruge_stuben_solver"),
        "rootnode": by_pyamg("rootnode_solver")}),
    "petsc": ("petsc4py", {
        "jacobi": by_petsc("jacobi"), "icc": by_petsc("icc"),
        "icc,rcm": by_petsc("icc", pc_factor_mat_ordering_type="rcm"),
        "ssor": by_petsc("eisenstat"), "gamg": by_petsc("gamg"),
        "hypre": by_petsc("hypre")}),
}


def installed():
    """The peers that are here; the others are named."""
    found = {}
    for name, (module, kinds) in PEERS.items():
        try:
            importlib.import_module(module)
            found.update({(name, kind): work for kind, work in kinds.items()})
        except ImportError as why:
            print(f"left out: {name}: {why}", file=sys.stderr)
    return found


def reaches(A, b, x):
    return np.linalg.norm(b - A @ x) <= 1.1 * RTOL * np.linalg.norm(b)


def timed(A, b, work):
    """Processor seconds, and does x solve? A failure is None."""
    start = time.process_time()
    try:
        x = work(A, b)
    except Exception as why:  # of the peer's own kind
        return None, f"{type(why).__name__}: {str(why).splitlines()[0] if str(why) else ''}"
    seconds = time.process_time() - start
    return (seconds, None) if reaches(A, b, x) else (None, "does not reach the tolerance")


def measure(A, b, works, runs):
    """The least seconds of each, in turn; kinds that fail once are done with, and
    so are those that take 4 times as long as the best of their peer."""
    best, fault = {}, {}
    for run in range(runs):
        for key, work in works.items():
            mine = [t for k, t in best.items() if k[0] == key[0]]
            if key in fault or run and best[key] > 4 * min(mine):
                continue
            seconds, why = timed(A, b, work)
            if seconds is None:
                fault[key] = why
                best.pop(key, None)
            else:
                best[key] = min(seconds, best.get(key, seconds))
    return best, fault


def row(name, best):
    cells, ours = [name], best[("tacit", "")]
    for peer in ["tacit", *PEERS]:
        of_peer = {k[1]: t for k, t in best.items() if k[0] == peer}
        if not of_peer:
            cells += ["-"] * (1 if peer == "tacit" else 3)
            continue
        kind = min(of_peer, key=of_peer.get)
        cells.append(f"{of_peer[kind]:.4f}")
        if peer != "tacit":
            cells += [kind, f"{ours / of_peer[kind]:.2f}"]
    print("\t".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("matrices", nargs="*", default=["poisson3d:64"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--precond", default="auto")
    given = parser.parse_args()

    def ours(A, b):
        return tacit.solve(A, b, rtol=RTOL, precond=given.precond, threads=1, device="host",
                           max_iterations=MOST)[0]

    works = {("tacit", ""): ours, **installed()}
    print("matrix\ttacit s\t" + "\t".join(f"{p} s\tkind\tratio" for p in PEERS))
    families = [usage.split(":")[0] for usage, _ in tacit.gallery()]
    for name in given.matrices:
        A = (tacit.gallery if name.split(":")[0] in families else tacit.read)(name).tocsr()
        b = A @ np.random.default_rng(1).standard_normal(A.shape[0])
        best, fault = measure(A, b, works, given.runs)
        for (peer, kind), why in fault.items():
            print(f"{name}: {peer} {kind}: {why}", file=sys.stderr)
        if ("tacit", "") not in best:
            sys.exit(f"{name}: tacit: {fault[('tacit', '')]}")
        row(os.path.basename(name), best)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Method minres beside scipy.sparse.linalg.minres: iterations to the same true
residual, and residuals iteration by iteration.

usage: minres.py [--tacit PROGRAM] [--matrices FOLDER] [--rtol R]

b = 1, 2, 3, 4, 1, 2, ..., x0 = 0. Both end at the first iteration whose ||b - A x|| <= R ||b||:
Tacit by itself; SciPy, whose own tests are others, by a callback that forms
b - A x. "apart" is the largest difference of the two ||r_k|| / ||b|| in the
first 30 iterations; later ones differ, since rounding ends the orthogonality of
the Lanczos vectors. The last column is 0 if A is definite. The exit status is 1
if iterations differ by more than a tenth and 3, if a true residual of Tacit
misses the target, or if the two are more than 1e-6 apart; a matrix that SciPy
does not solve in 10000 iterations is shown and not judged.
"""
import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse.linalg

SYSTEMS = [  # matrix, shift, preconditioner, is it a KKT matrix?
    ("like:nlpkkt80,6", 0, "none", True),
    ("like:nlpkkt80,12", 0, "none", True),
    ("poisson2d:40", -1, "none", False),
    ("poisson3d:16", -0.7, "none", False),
    ("random:2000,8,1", -9, "jacobi", False),
    ("elasticity3d:8", -0.5, "jacobi", False),
    ("lu/sherman1.mtx.gz", 0, "jacobi", False),
    ("spd/662_bus.mtx.gz", 0, "jacobi", False),
    ("derived/lap_4elt.mtx.gz", 0, "none", False),
    ("fe/heart_cbcbeat_6k_mono.mtx.gz", -0.02, "none", False),
    ("lu/reorientation_1.mtx.gz", 0, "none", True),
]
FIRST = 30
TOLERANCE = ("rtol" if "rtol" in
             inspect.signature(scipy.sparse.linalg.minres).parameters else "tol")


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    return done.stdout


def tacit(program, matrix, shift, precond, rtol, b):
    """||r_k|| / ||b|| and the recomputed last one."""
    with tempfile.TemporaryDirectory() as folder:
        rhs = os.path.join(folder, "b.txt")
        np.savetxt(rhs, b)
        report = os.path.join(folder, "report.json")
        history = run(
            [program, "solve", matrix, rhs, "--shift", str(shift), "--method",
             "minres", "--precond", precond, "--rtol", str(rtol), "--history", "/dev/stdout", "--json", report, "--quiet"])
        with open(report) as file:
            last = json.load(file)["result"]["true_relative_residual"]
    told = [line.split("\t") for line in history.splitlines()]
    return [float(r) for k, r in told if k.isdigit()], last


def read(program, matrix, shift):
    """The matrix as Tacit reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "matrix.mtx")
        run([program, "convert", matrix, path])
        A = scipy.sparse.csr_matrix(scipy.io.mmread(path))
    return (A + shift * scipy.sparse.identity(A.shape[0])).tocsr()


class Met(Exception):
    pass


def scipy_minres(A, precond, rtol, b, most):
    norm_b = np.linalg.norm(b)
    residuals = [1.0]

    def look(x):
        residuals.append(np.linalg.norm(b - A @ x) / norm_b)
        if residuals[-1] <= rtol:
            raise Met

    M = None
    if precond == "jacobi":
        M = scipy.sparse.diags(1.0 / abs(A.diagonal()))
    try:
        scipy.sparse.linalg.minres(A, b, M=M, maxiter=most, callback=look,
                                   **{TOLERANCE: 0.0})
    except Met:
        pass
    return residuals


def signs(A):
    """Negative and positive eigenvalues, of small matrices."""
    if A.shape[0] > 2500:
        return "-"
    eigenvalues = np.linalg.eigvalsh(A.toarray())
    return str(min((eigenvalues < 0).sum(), (eigenvalues > 0).sum()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tacit", default="build/dev/src/tacit")
    parser.add_argument("--matrices", default="../shared/matrices")
    parser.add_argument("--rtol", type=float, default=1e-8)
    options = parser.parse_args()
    good = True
    print("| matrix | rows | M | iterations, Tacit | SciPy | true residual, "
          "Tacit | SciPy | apart | of the rarer sign |")
    print("|---|---|---|---|---|---|---|---|---|")
    for matrix, shift, precond, kkt in SYSTEMS:
        path = matrix
        if "/" in matrix:
            path = os.path.join(options.matrices, matrix)
        A = read(options.tacit, path, shift)
        b = 1.0 + np.arange(A.shape[0]) % 4
        ours, last = tacit(options.tacit, path, shift, precond, options.rtol, b)
        theirs = scipy_minres(A, precond, options.rtol, b, 10000)
        first = min(len(ours), len(theirs), FIRST)
        apart = max(abs(a - b) for a, b in zip(ours[:first], theirs[:first]))
        more = abs(len(ours) - len(theirs))
        good = good and (theirs[-1] > options.rtol or (
            last <= options.rtol and apart <= 1e-6
            and more <= 3 + 0.1 * len(theirs)))
        name = matrix + (f" {shift:+g} I" if shift else "")
        name += " (KKT)" if kkt else ""
        print(f"| {name} | {A.shape[0]} | {precond} | {len(ours) - 1} | "
              f"{len(theirs) - 1} | {last:.2e} | {theirs[-1]:.2e} | "
              f"{apart:.0e} | {signs(A)} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Several ranks by mpi4py, each with its rows:  run -n 3 -m mpi4py ranks.py"""

import os
import re
import signal
import sys

import numpy as np
import scipy.sparse
import tacit
from mpi4py import MPI
from problems import laplacian, residual

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
A = laplacian(24)
n = A.shape[0]
b = np.arange(float(n)) % 5 - 1
ends = np.linspace(0, n, size + 1).astype(int)
own = slice(ends[rank], ends[rank + 1])


def whole(x):
    return np.concatenate(comm.allgather(x))


class Own(Exception):
    pass


def raises(kind, match, call):
    try:
        call()
    except kind as error:
        assert re.search(match, str(error)), str(error)
        assert isinstance(error, Own) or "\n" not in str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


for precond in ("auto", "none", "jacobi", "amg", "ic0"):
    x, report = tacit.solve(A[own], b[own], comm=comm, precond=precond)
    assert residual(A, whole(x), b) < 2e-8
    assert report["path"]["ranks"] == size
    assert report["matrix"]["rows"] == n

with tacit.Solver(A[own], comm=comm, precond="amg") as solver:
    X, _ = solver.solve(np.column_stack([b[own], 2 * b[own]]))
    assert np.allclose(2 * X[:, 0], X[:, 1], atol=1e-6)
    solver.update(2.0 * A[own])
    y, _ = solver.solve(b[own])
    assert np.allclose(2 * y, X[:, 0], atol=1e-6)

# new values by the order of `data`; of a null space; after the operator is closed
turned = A[own].tocoo()
turned = scipy.sparse.coo_matrix(
    (turned.data[::-1], (turned.row[::-1], turned.col[::-1])), turned.shape
)
operator = tacit.Operator(turned, comm=comm)
solver = tacit.Solver(operator, precond="jacobi")
solver.update(2.0 * turned.data)
operator.close()
x, _ = solver.solve(b[own])
assert residual(2.0 * A, whole(x), b) < 2e-8
raises(tacit.ClosedError, "operator was closed", lambda: solver.update(A[own]))
solver.close()
N = scipy.sparse.csr_matrix(A - scipy.sparse.diags(np.asarray(A.sum(1)).ravel()))
with tacit.Solver(N[own], comm=comm, null_space=np.ones(len(b[own])),
                  precond="amg") as solver:
    for factor in (2.0, 3.0):
        solver.update(factor * N[own])
        x, _ = solver.solve(b[own])
        assert residual(factor * N, whole(x), b - b.mean()) < 1e-7
    raises(tacit.InvalidError, "null vector 1 is none",
           lambda: solver.update(A[own]))
    x, _ = solver.solve(b[own])
    assert residual(3.0 * N, whole(x), b - b.mean()) < 1e-7

# rows of any rank; what a monitor of one rank says
rows, values = np.r_[0:24, n - 1], np.arange(25.0)
F, right = tacit.fix(A[own], b[own], rows[rank::size], values[rank::size],
                     comm=comm)
G, alone = tacit.fix(A, b, rows, values)
assert (F != G[own]).nnz == 0 and np.array_equal(right, alone[own])
x, report = tacit.solve(F, right, comm=comm, precond="none", rtol=1e-11)
assert np.allclose(whole(x)[rows], values, atol=1e-8)
assert len(report["result"]["history"]) == report["result"]["iterations"] + 1
x, report = tacit.solve(A[own], b[own], comm=comm, precond="none", rtol=0.0,
                        converged=lambda k, r: rank == size - 1 and r < 1e-3)
assert report["result"]["stop"] == "monitor"
raises(tacit.InvalidError, "is fixed to", lambda: tacit.fix(
    A[own], b[own], [5, 5], [0.0, float(rank == size - 1)], comm=comm))

if size > 1:
    raises(tacit.InvalidError, "the number of columns of b is 2 on rank 0 and "
           "1 on rank 1", lambda: tacit.solve(A[own], np.ones(
               (len(b[own]), 1 + (rank == 0))), comm=comm))
    raises(tacit.InvalidError, "1 columns on one rank and 2", lambda: tacit.fix(
        A[own], np.ones((len(b[own]), 1 + (rank == 0))), [5], comm=comm))

x, _ = tacit.solve("poisson2d:24", b[own], comm=comm, precond="none")
half = comm.Split(rank % 2)
x, report = tacit.solve(A, b, comm=half if half.Get_size() == 1 else None)
assert residual(A, x, b) < 2e-8

# all ranks fail alike, whoever is wrong
last = rank == size - 1
wrong = A[own].copy()
if last:
    wrong.data[0] = np.nan
raises(tacit.InputError, "not finite",
       lambda: tacit.solve(wrong, b[own], comm=comm))
raises(tacit.InvalidError, "expected",
       lambda: tacit.solve(A[own], b[own][: -1 if last else None], comm=comm))
raises(tacit.NotConverged, "after 2 iterations", lambda: tacit.solve(
    A[own], b[own], comm=comm, max_iterations=2, precond="none"))
raises(tacit.InvalidError, "communicator", lambda: tacit.solve(A, b, comm=3))


if size > 1:
    for kind, match, keywords in (
        (tacit.InvalidError, "method is cg", {"method": "minres"}),
        (tacit.InvalidError, "precond is amg", {"precond": "jacobi"}),
        (tacit.InvalidError, "triangle is", {"triangle": "left"}),
        (tacit.InvalidError, "rtol: 1e-08 .* 0.001", {"rtol": 1e-3}),
        (tacit.InvalidError, "max_iterations", {"max_iterations": 0}),
        (tacit.InvalidError, "solves", {"solves": 2}),
        (tacit.InvalidError, "whether converged", {"converged": print}),
        ((TypeError, tacit.InvalidError), "keyword", {"tol": 1e-3}),
    ):
        given = {"method": "cg", "precond": "amg", **(keywords if last else {})}
        raises(kind, match, lambda: tacit.solve(
            A[own], b[own], comm=comm, **given))
with tacit.Operator(A[own], comm=comm) as operator:
    assert np.allclose(whole(operator @ b[own]), A @ b)
    B = np.column_stack([b, 2.0 * b, b[::-1]])
    assert np.allclose(whole(operator @ B[own]), A @ B)
    assert np.allclose(whole(operator @ B[own][:, :1]), A @ B[:, :1])
    if size > 1:
        raises(tacit.InvalidError, "the columns of X: 1 .*2 on", lambda:
               operator.matmat(B[own][:, : 1 + (rank == 0)]))
    with tacit.Preconditioner(operator, "jacobi") as M:
        assert np.allclose(M @ b[own], b[own] / A.diagonal()[own])
        assert np.allclose(whole(M @ B[own]), B / A.diagonal()[:, None])
    with tacit.Solver(operator, precond="jacobi") as solver:
        assert residual(A, whole(solver @ b[own]), b) < 2e-8
        assert residual(A, whole(solver @ B[own]), B) < 2e-8


def fail(iteration, relative):
    if last and iteration == 3:
        raise Own("on one rank\nof them")


def ends_on_all(match, call):
    """An exception of the last rank comes out there, and names it elsewhere."""
    kind = Own if last else tacit.Error
    raises(kind, "on one rank" if last else f"rank {size - 1}: {match} Own", call)


for precond in ("none", "amg", "auto"):
    ends_on_all("the callback raised", lambda: tacit.solve(
        A[own], b[own], comm=comm, precond=precond, callback=fail))
ends_on_all("the callback raised", lambda: tacit.solve(
    A[own], np.column_stack([b[own]] * 2), comm=comm, precond="none",
    callback=lambda k, r, column: fail(k, r)))
ends_on_all("the callback raised", lambda: tacit.solve(
    A[own], b[own], comm=comm, precond="none", rtol=0.0, converged=fail))
calls = []


def scale(x):
    calls.append(1)
    if last and len(calls) == 12:
        raise Own("on one rank")
    return 2.0 * x


ends_on_all("the function raised", lambda: [tacit.solve(
    scale, b[own], rows=len(b[own]), comm=comm) for _ in range(9)])
with tacit.Operator(lambda x: scale(x), rows=len(b[own]), comm=comm,
                    norm=2.0) as operator:
    calls[:] = [1] * 11
    kind = Own if last else tacit.Error
    raises(kind, "on one rank", lambda: operator @ b[own])
if size > 1:
    raises(tacit.InvalidError, "give the number of rows", lambda: tacit.solve(
        lambda x: x, b[own], rows=None if last else len(b[own]), comm=comm))
try:
    tacit.solve(A[own], b[own], comm=comm, precond="none", callback=lambda k, r: (
        os.kill(os.getpid(), signal.SIGINT) if last and k == 3 else None))
    raise AssertionError("not interrupted")
except tacit.Interrupted as outcome:
    assert outcome.x.shape == b[own].shape
half = scipy.sparse.tril(A, format="csr")
raises(tacit.InputError, "lower", lambda: tacit.solve(half[own], b[own], comm=comm))
raises(tacit.InvalidError, "a square matrix", lambda: tacit.Operator(
    half[own][:, :-1] if last else half[own], comm=comm))
x, _ = tacit.solve(half[own], b[own], comm=comm, triangle="lower")
assert residual(A, whole(x), b) < 2e-8
sys.stdout.write(f"rank {rank} of {size}: passed\n")

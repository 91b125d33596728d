# SPDX-License-Identifier: BSD-3-Clause
"""On a GPU: arrays of the host, and arrays in its memory without a copy."""

import numpy as np
import pytest
import tacit
from foreign_arrays import Array
from problems import laplacian, residual
from tacit import _context

pytestmark = pytest.mark.skipif(
    not _context.probe("cuda"), reason="no GPU is usable")
A = laplacian(30)
b = np.sin(np.arange(900.0))


@pytest.mark.parametrize("precond", ["auto", "none", "jacobi", "amg", "ic0"])
def test_arrays_of_the_host(precond):
    x, report = tacit.solve(A, b, device="cuda", precond=precond)
    assert residual(A, x, b) < 2e-8 and report["path"]["device"] == "cuda"
    X, _ = tacit.solve(A, np.column_stack([b, 2 * b]), device="cuda",
                       precond=precond, settings={"loop": "host"})
    assert np.allclose(2 * X[:, 0], X[:, 1], atol=1e-5)


def test_arrays_of_the_gpu():
    with tacit.Solver(A, device="cuda", precond="jacobi") as solver:
        given = Array(solver.operator.context, b)
        x, _ = solver.solve(given)
        assert isinstance(x, Array) and residual(A, x.get(), b) < 2e-8
        assert given.streams and given.streams[-1] > 0
        again, report = solver.solve(given, x)
        assert report["result"]["iterations"] == 0
        del given, x, again


def test_operator_and_preconditioner():
    operator = tacit.Operator(A, device="cuda")
    assert np.allclose(operator @ b, A @ b)
    M = tacit.Preconditioner(operator, "amg")
    x, report = tacit.solve(operator, b, precond=M)
    assert residual(A, x, b) < 2e-8 and report["result"]["iterations"] < 20
    with pytest.raises(tacit.UnsupportedError, match="host"):
        tacit.solve(lambda v: A @ v, b, rows=900, device="cuda")


def test_jacobi_on_the_gpu():
    u = np.random.default_rng(1).random((40, 50))
    here, _ = tacit.jacobi(u, 20, device="host")
    there, _ = tacit.jacobi(u, 20, device="cuda")
    assert np.array_equal(here, there)


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    given = torch.tensor(b, device="cuda")
    x, _ = tacit.solve(A, given, device="cuda")
    assert x.is_cuda and residual(A, x.cpu().numpy(), b) < 2e-8

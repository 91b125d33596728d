# SPDX-License-Identifier: BSD-3-Clause
"""On a GPU: arrays of the host, and arrays in its memory without a copy."""

import os

import numpy as np
import pytest
import tacit
import test_foreign as small
from foreign_arrays import Array
from problems import laplacian, residual
from tacit import _context
from tacit._library import lib

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

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


def _library(name):
    """Of a library: an array on the GPU from NumPy's, and back; its address."""
    m = pytest.importorskip(name)
    if name == "torch":
        if not m.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")
        return (lambda a: m.tensor(a, device="cuda"), lambda x: x.cpu().numpy(),
                lambda x: x.data_ptr())
    if name == "cupy":
        return m.asarray, m.asnumpy, lambda x: x.data.ptr
    m.config.update("jax_enable_x64", True)
    if m.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    return (lambda a: m.block_until_ready(m.numpy.asarray(a)), np.asarray,
            lambda x: x.unsafe_buffer_pointer())


@pytest.mark.parametrize("name", ["torch", "cupy", "jax"])
def test_arrays_of_other_libraries(name, monkeypatch):
    put, get, address = _library(name)
    taken, run = [], lib.tacit_solver_run
    monkeypatch.setattr(lib, "tacit_solver_run", lambda s, b, x, *rest: (
        taken.append([b.value, x.value]), run(s, b, x, *rest))[1])
    given = put(b)
    with tacit.Solver(A, device="cuda", precond="jacobi") as solver:
        x, _ = solver.solve(given)
    assert type(x) is type(given) and residual(A, get(x), b) < 2e-8
    assert taken == [[address(given), address(x)]]
    assert np.array_equal(get(given), b)


def test_the_stream_of_the_caller():
    put, get, _ = _library("torch")
    import torch

    given, wanted = put(0 * b), put(b)
    torch.cuda.synchronize()
    with tacit.Solver(A, device="cuda", precond="jacobi") as solver:
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(100_000_000)  # cycles, until b is there
            given.copy_(wanted)
            x, _ = solver.solve(given)
            assert residual(A, get(x), b) < 2e-8


def test_gradients_of_torch():
    put, get, _ = _library("torch")
    f = tacit.torch_solve(small.A, device="cuda", rtol=1e-12, precond="jacobi")
    weights = np.cos(np.arange(36.0))
    values = put(1.5 * small.A.data).requires_grad_()
    for right in (small.b, np.column_stack([small.b, 0 * small.b])):
        values.grad, rhs = None, put(right).requires_grad_()
        x = f(values, rhs)
        (x.reshape(36, -1)[:, 0] * put(weights)).sum().backward()
        assert x.is_cuda and rhs.grad.is_cuda and values.grad.is_cuda
        small._check(get(values.grad), 1.5 * small.A.data, weights)

# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and gradients of other libraries, on the host; DLPack's struct."""

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg
import tacit
from foreign_arrays import Array
from problems import laplacian, residual
from tacit import _device

A = laplacian(6)
b = np.sin(np.arange(36.0))


def test_dlpack_view_is_no_copy():
    for array in (b, np.asfortranarray(np.ones((36, 2)))):
        view = _device.View(array, "b", None)
        assert view.pointer.value == array.ctypes.data
        assert view.shape == array.shape and view.device == 1
    with pytest.raises(tacit.InvalidError, match="column by column"):
        _device.View(np.ones((36, 2)), "b", None)
    with pytest.raises(tacit.TypeRefused, match="float64"):
        _device.View(b.astype(np.float32), "b", None)


class Elsewhere:
    """An array that says it is on a GPU."""

    def __dlpack_device__(self):
        return (2, 1)


def test_arrays_of_another_device_are_refused():
    for device in ("host",):
        with pytest.raises(tacit.InvalidError, match="one device"):
            tacit.solve(A, Elsewhere(), device=device)
    _device.require_gpu(Elsewhere(), "cuda(1)", "b")
    with pytest.raises(tacit.InvalidError, match="device 1"):
        _device.require_gpu(Elsewhere(), "cuda(0)", "b")


def test_buffers_of_a_device_with_its_own_memory():
    x, report = tacit.solve(A, b, device="memcheck:host")
    assert residual(A, x, b) < 2e-8
    assert report["path"]["device"] == "memcheck:host"
    X, _ = tacit.solve(A, np.column_stack([b, 2 * b]), device="memcheck:host")
    assert np.allclose(2 * X[:, 0], X[:, 1], atol=1e-6)
    operator = tacit.Operator(A, device="memcheck:host")
    assert np.allclose(operator @ b, A @ b)


def _differences(values, loss):
    """The derivative of loss by a symmetric change of each pair."""
    step, out = 1e-6, {}
    C = A.tocoo()
    where = {(i, j): k for k, (i, j) in enumerate(zip(C.row, C.col))}
    for (i, j), k in list(where.items())[::7]:
        up, down = values.copy(), values.copy()
        for entry in {k, where[(j, i)]}:  # both triangles
            up[entry] += step
            down[entry] -= step
        out[k, where[(j, i)]] = (loss(up) - loss(down)) / (2 * step)
    return out


def _check(gradient, values, weights):
    def loss(v):
        M = sparse.csr_matrix((v, A.indices, A.indptr), A.shape)
        return weights @ sparse.linalg.spsolve(M.tocsc(), b)

    for (k, mirror), slope in _differences(values, loss).items():
        ours = sum(gradient[entry] for entry in {k, mirror})
        assert np.isclose(ours, slope, rtol=1e-5, atol=1e-7)


def test_gradients_by_numpy():
    from tacit._gradient import _of_values, _Pattern

    weights = np.cos(np.arange(36.0))
    values = 1.5 * A.data
    system = _Pattern(A, {"rtol": 1e-13, "precond": "jacobi"})
    x, back = system.solve(values, b), system.solve(values, weights)
    _check(_of_values(back, x, *system.places), values, weights)


def test_torch():
    torch = pytest.importorskip("torch")
    f = tacit.torch_solve(A, rtol=1e-13)
    weights = np.cos(np.arange(36.0))
    values = torch.tensor(1.5 * A.data, requires_grad=True)
    rhs = torch.tensor(b, requires_grad=True)
    (f(values, rhs) * torch.tensor(weights)).sum().backward()
    M = 1.5 * A
    assert np.allclose(rhs.grad, sparse.linalg.spsolve(M.tocsc(), weights))
    _check(values.grad.numpy(), 1.5 * A.data, weights)
    two = torch.tensor(np.column_stack([0 * b, b]), requires_grad=True)
    (f(values, two)[:, 1] * torch.tensor(weights)).sum().backward()
    assert np.allclose(two.grad[:, 1], rhs.grad) and not two.grad[:, 0].any()
    x, _ = tacit.solve(A, torch.tensor(b))
    assert isinstance(x, torch.Tensor)


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    f = tacit.jax_solve(A, rtol=1e-13)
    weights = np.cos(np.arange(36.0))

    def loss(values, rhs):
        return (f(values, rhs) * weights).sum()

    g, h = jax.jit(jax.grad(loss, argnums=(0, 1)))(1.5 * A.data, b)
    M = 1.5 * A
    assert np.allclose(h, sparse.linalg.spsolve(M.tocsc(), weights))
    _check(np.asarray(g), 1.5 * A.data, weights)
    x, _ = tacit.solve(A, jax.numpy.asarray(b))
    assert isinstance(x, jax.Array)


@pytest.fixture
def pretended(monkeypatch):
    """Memory of the host passes as that of a GPU."""
    monkeypatch.setattr(_device, "require_gpu", lambda *_: None)
    monkeypatch.setattr(_device, "stream_of", lambda context: 4711)


def test_arrays_are_used_in_place(pretended):
    with tacit.Solver(A, device="host", precond="jacobi") as solver:
        given = Array(solver.operator.context, b)
        x, report = solver.solve(given)
        assert isinstance(x, Array) and residual(A, x.get(), b) < 2e-8
        assert given.streams == [4711]
        guess = x.get()
        y, report = solver.solve(given, x)
        assert report["result"]["iterations"] == 0
        assert np.array_equal(x.get(), guess) and y is not x
        B = Array(solver.operator.context, np.column_stack([b, 2 * b]))
        X = solver.solve(B)[0].get()
        assert np.allclose(2 * X[:, 0], X[:, 1], atol=1e-6)
        with pytest.raises(tacit.InvalidError, match="expected .36"):
            solver.solve(Array(solver.operator.context, b[:35]))
        with pytest.raises(tacit.NotConverged) as e:
            solver.solve(given, max_iterations=2)
        assert isinstance(e.value.x, Array)

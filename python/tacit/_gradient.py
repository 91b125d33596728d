# SPDX-License-Identifier: BSD-3-Clause
"""Solves that PyTorch and JAX differentiate.

With A x = b and the gradient g of x, the gradient of b is l = A^-1 g, one more
solve with the same preconditioner. That of the values is the one of a symmetric
change: -(l_i x_j + l_j x_i) / 2 at each stored entry (i, j)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from . import _errors as errors
from ._solver import Solver


def _of_values(back: Any, x: Any, i: Any, j: Any) -> Any:
    """The gradient of the values at rows i and columns j."""
    out = -0.5 * (back[i] * x[j] + back[j] * x[i])
    return out if out.ndim == 1 else out.sum(axis=1)


class _Pattern:
    """A solver of one pattern, whose values change."""

    def __init__(self, pattern: Any, keywords: dict[str, Any]) -> None:
        A = csr_matrix(pattern)
        self.ptr, self.cols, self.shape = A.indptr, A.indices, A.shape
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        self.places = rows, A.indices.astype(np.int64)
        self._values: Any = None
        self._solver: Solver | None = None
        self._keywords = keywords

    def solve(self, values: Any, b: Any) -> Any:
        values = np.asarray(values, dtype=np.float64)
        if values.shape != self.cols.shape:
            raise errors.InvalidError(
                f"the values have the shape {values.shape}: expected "
                f"{self.cols.shape}, one for each stored entry"
            )
        if self._solver is None:
            A = csr_matrix((values, self.cols, self.ptr), shape=self.shape)
            self._solver = Solver(A, **self._keywords)
        elif not np.array_equal(values, self._values):
            self._values = None  # until it has these
            self._solver.update(values)
        self._values = values.copy()
        return self._solver.solve(b)[0]


def torch_solve(pattern: Any, **keywords: Any) -> Any:
    """A function x = f(values, b) of tensors that PyTorch differentiates by
    both. `pattern` is a SciPy matrix; `values` [entries] are those of its csr
    form, symmetric; b is [rows] or [rows, k]; the keywords are those of
    `tacit.Solver`. Set up once, updated where values change. With a solver on a
    GPU b may be there: it is used in place, and x is there; values that change
    go through the host."""
    import torch

    system = _Pattern(pattern, keywords)

    def solve(values: Any, b: Any) -> Any:
        b = b.detach()  # column by column, as it is taken in place
        b = b.T.contiguous().T if b.ndim == 2 else b.contiguous()
        return system.solve(values.detach().cpu().numpy(), b)

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, values: Any, b: Any) -> Any:
            out = solve(values, b)
            ctx.save_for_backward(values, out)
            return out

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            values, x = ctx.saved_tensors
            back = solve(values, g)
            places = (torch.from_numpy(p).to(x.device) for p in system.places)
            return _of_values(back, x, *places).to(values.device), back

    return Solve.apply


def jax_solve(pattern: Any, **keywords: Any) -> Any:
    """The same for JAX, by `custom_vjp` and a callback to the host; needs
    64-bit floats (jax_enable_x64). It works within jit and grad."""
    import jax
    import jax.numpy as jnp

    system = _Pattern(pattern, keywords)

    def on_host(values: Any, b: Any) -> Any:
        b = np.asarray(b, dtype=np.float64)
        return np.ascontiguousarray(system.solve(values, b))

    def run(values: Any, b: Any) -> Any:
        shape = jax.ShapeDtypeStruct(b.shape, jnp.float64)
        return jax.pure_callback(on_host, shape, values, b)

    def forward(values: Any, b: Any) -> Any:
        x = run(values, b)
        return x, (values, x)

    def backward(saved: Any, g: Any) -> Any:
        values, x = saved
        back = run(values, g)
        places = (jnp.asarray(p) for p in system.places)
        return _of_values(back, x, *places), back

    solve: Any = jax.custom_vjp(run)
    solve.defvjp(forward, backward)
    return solve

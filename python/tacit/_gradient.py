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


class _Pattern:
    """A solver of one pattern, whose values change."""

    def __init__(self, pattern: Any, keywords: dict[str, Any]) -> None:
        A = csr_matrix(pattern)
        self.ptr, self.cols, self.shape = A.indptr, A.indices, A.shape
        self.rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
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
            self._solver.update(values)
        self._values = values.copy()
        return self._solver.solve(np.asarray(b, dtype=np.float64))[0]

    def of_values(self, back: Any, x: Any) -> Any:
        """The gradient of the values."""
        i, j = self.rows, self.cols
        out = -0.5 * (back[i] * x[j] + back[j] * x[i])
        return out if out.ndim == 1 else out.sum(axis=1)


def torch_solve(pattern: Any, **keywords: Any) -> Any:
    """A function x = f(values, b) of tensors on the CPU that PyTorch
    differentiates by both. `pattern` is a SciPy matrix; `values` [entries] are
    those of its csr form, symmetric; b is [rows] or [rows, k]; the keywords
    are those of `tacit.Solver`. Set up once, updated where values change."""
    import torch

    system = _Pattern(pattern, keywords)

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, values: Any, b: Any) -> Any:
            x = system.solve(values.detach().numpy(), b.detach().numpy())
            out = torch.from_numpy(x)
            ctx.save_for_backward(values, out)
            return out

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            values, x = ctx.saved_tensors
            back = system.solve(values.numpy(), g.numpy())
            of_values = system.of_values(back, x.numpy())
            return torch.from_numpy(of_values), torch.from_numpy(back)

    return Solve.apply


def jax_solve(pattern: Any, **keywords: Any) -> Any:
    """The same for JAX, by `custom_vjp` and a callback to the host; needs
    64-bit floats (jax_enable_x64). It works within jit and grad."""
    import jax
    import jax.numpy as jnp

    system = _Pattern(pattern, keywords)

    def on_host(values: Any, b: Any) -> Any:
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
        i, j = jnp.asarray(system.rows), jnp.asarray(system.cols)
        of_values = -0.5 * (back[i] * x[j] + back[j] * x[i])
        if of_values.ndim == 2:
            of_values = of_values.sum(axis=1)
        return of_values, back

    solve: Any = jax.custom_vjp(run)
    solve.defvjp(forward, backward)
    return solve

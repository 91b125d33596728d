# SPDX-License-Identifier: BSD-3-Clause
"""cg and minres with the signatures of scipy.sparse.linalg, and amg with
pyamg's."""

from __future__ import annotations

from inspect import signature
from os import PathLike
from typing import Any, Callable

import numpy as np
from scipy.sparse import csr_matrix, eye, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.sparse.linalg import cg as scipy_cg

from . import _errors as errors
from ._library import shown
from ._files import _take
from ._operator import Operator
from ._precond import Preconditioner, map_of
from ._solver import Solver

_SAME = 1e-9  # as the library has it for symmetric matrices
_TINY = 1e-300  # a norm without its estimate, which takes products
# SciPy 1.10 has them, and later versions refuse them.
_NO_ATOL = (
    (None, "legacy")
    if signature(scipy_cg).parameters["atol"].default is None
    else ()
)


def _in_own_order(A: Operator, M: Any) -> Operator:
    """A, or another of its entries, if A's rows have been reordered, or are on
    a GPU: the iterate is in memory of its own then. M, which may have A's
    order, is a function of vectors to the other one, on a queue of its own."""
    A.require_open()
    if A.matrix is None or (A.context.host and A.info["order"] == "none"):
        return A
    with A.context:
        rows = _take(A.matrix)
    return Operator(
        rows, device="host", format="auto@none", null_space=A.declared,
        threads=A.context.asked_threads if A.context.host else 0,
        _alone=M is not None,
    )


def _prepare(A: Any, tight: bool, M: Any = None) -> Operator:
    """A as an operator whose iterate is the caller's x in each step."""
    if isinstance(A, Operator):
        return _in_own_order(A, M) if tight else A
    if issparse(A) and A.format == "csc":
        A = A.tocsr()  # its columns are rows only if it is symmetric
    format = "auto@none" if tight else "auto"
    alone = M is not None and not isinstance(M, Preconditioner)
    norm = _TINY if isinstance(A, LinearOperator) else 0.0
    return Operator(
        A, device="host", format=format, norm=norm, _alone=alone
    )


def _given(A: Any, b: Any, what: str) -> Any:
    """A or M with a shape, which a function takes from b."""
    if isinstance(A, (str, PathLike)):
        raise errors.InvalidError(
            f"{shown(A)} is a name: expected a matrix, as of tacit.gallery or "
            "tacit.read, or tacit.Operator of the name"
        )
    if A is None or isinstance(A, np.ndarray) or issparse(A):
        return A
    if hasattr(A, "shape"):
        return map_of(A, what)
    if callable(A):
        n = np.size(b)
        kind = np.complex128 if _is_complex(b) else np.float64
        return LinearOperator((n, n), A, dtype=kind)
    return np.asarray(A)


def _refuse_one_triangle(A: Operator, method: str) -> None:
    if A.alone is not None:
        raise errors.InputError(
            f"A has one triangle alone, the {A.alone} one: {method} needs the "
            f"whole matrix: give it, or tacit.Operator(A, triangle='{A.alone}')"
        )


def _require_shape(A: Any, b: Any) -> None:
    n = A.shape[0]
    if np.shape(b) not in ((n,), (n, 1)):
        raise errors.InvalidError(
            f"A has the shape {tuple(A.shape)}, b {np.shape(b)}: expected "
            f"({n},) or ({n}, 1)"
        )


def _vectors(A: Operator, b: Any, x0: Any, M: Any) -> tuple[Any, Any, bool]:
    """b and the first guess, and whether x is to be a matrix of one column."""
    given = np.asarray(b)
    _require_shape(A, given)
    if isinstance(x0, str):
        if x0 != "Mb":
            raise errors.InvalidError(
                f"x0 is {shown(x0)}: expected an array or 'Mb'"
            )
        flat = given.reshape(-1)
        x0 = flat if M is None else aslinearoperator(M) @ flat
    if x0 is not None:
        x0 = np.asarray(x0).reshape(-1)
    return given.reshape(-1), x0, given.ndim == 2


class _Steps:
    """SciPy's callback, which wants the iterate."""

    def __init__(self, callback: Callable[[Any], Any] | None) -> None:
        self._callback = callback
        self.x: Any = None

    def __call__(self, iteration: int, residual: float) -> bool:
        if iteration > 0 and self._callback is not None:
            self._callback(self.x.copy())
        return False


def _is_complex(A: Any) -> bool:
    if isinstance(A, (list, tuple)):
        return bool(np.iscomplexobj(A))
    kind = getattr(A, "dtype", None)
    return kind is not None and np.dtype(kind).kind == "c"


def _as_reals(A: Any) -> Any:
    """A complex operator as a real one of twice the size, whose vectors have
    real and imaginary parts in turn; Hermitian becomes symmetric."""
    if A is None:
        return None
    given = aslinearoperator(A)
    n = 2 * given.shape[0]

    def apply(x: Any) -> Any:
        y = np.asarray(given.matvec(x.view(np.complex128)))
        return np.ascontiguousarray(y, dtype=np.complex128).view(np.float64)

    return LinearOperator((n, n), apply, dtype=np.float64)


def _run_complex(
    method: str, A: Any, b: Any, x0: Any, M: Any, callback: Any, *rest: Any
) -> tuple[Any, int]:
    """A Hermitian A, by products of its own and the real equivalent."""

    def reals(v: Any) -> Any:
        flat = np.asarray(v).reshape(-1)
        return np.ascontiguousarray(flat, dtype=np.complex128).view(np.float64)

    def seen(x: Any) -> Any:
        return callback(x.view(np.complex128))

    _require_shape(A, b)
    n = A.shape[0]
    if isinstance(x0, str) and x0 == "Mb":
        flat = np.asarray(b).reshape(-1)
        x0 = flat if M is None else aslinearoperator(M) @ flat
    elif x0 is not None and np.size(x0) != n:
        raise errors.InvalidError(
            f"x0 is {shown(x0)}: expected ({n},) numbers or 'Mb'"
        )
    if M is not None and tuple(M.shape) != (n, n):
        raise errors.InvalidError(
            f"M has the shape {tuple(M.shape)}: expected {(n, n)}"
        )
    x, info = _run(
        method, _as_reals(A), reals(b), None if x0 is None else reals(x0),
        _as_reals(M), seen if callback is not None else None, *rest,
    )
    x = x.view(np.complex128)
    return (x.reshape(-1, 1) if np.ndim(b) == 2 else x), info


def _run(
    method: str, A: Any, b: Any, x0: Any, M: Any, callback: Any,
    rtol: float, atol: float, maxiter: int | None,
) -> tuple[Any, int]:
    A, M = _given(A, b, "A"), _given(M, b, "M")
    if _is_complex(A) or _is_complex(b):
        return _run_complex(
            method, A, b, x0, M, callback, rtol, atol, maxiter
        )
    operator = _prepare(A, callback is not None, M)
    own = operator is not A
    try:
        _refuse_one_triangle(operator, method)
        given, guess, column = _vectors(operator, b, x0, M)
        most = 10 * operator.shape[0] if maxiter is None else int(maxiter)
        solver = Solver(
            operator, method=method, precond=M, rtol=rtol, atol=atol,
            max_iterations=max(most, 1),
        )
        with solver:
            x, info = _solve(solver, given, guess, callback, most)
    finally:
        if own:
            operator.close()
    return (x.reshape(-1, 1) if column else x), info


def _solve(
    solver: Solver, b: Any, x0: Any, callback: Any, most: int
) -> tuple[Any, int]:
    if most < 1:
        return np.zeros_like(b, dtype=float) if x0 is None else x0 * 1.0, 0
    steps = _Steps(callback)
    try:
        x, _ = solver.solve(
            b, x0, callback=steps if callback is not None else None,
            _sees=steps,
        )
        return x, 0
    except (errors.NotConverged, errors.Breakdown) as outcome:
        if not solver.ended_by(outcome):  # of a solve by A, M or the callback
            raise
        if isinstance(outcome, errors.Breakdown):
            return outcome.x, -1
        return outcome.x, max(int(outcome.report["result"]["iterations"]), 1)


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: Any = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], Any] | None = None,
    tol: float | None = None,
) -> tuple[Any, int]:
    """Conjugate gradients, in place of scipy.sparse.linalg.cg.

    A, M      matrices, LinearOperators, functions; or tacit's own. Whether A
              is symmetric is not looked at; `tacit.solve` does that
    b, x0     [rows] or [rows, 1]
    rtol, atol  done when ||b - A x|| <= max(rtol ||b||, atol), which is
              checked with b - A x itself; `tol` is an old name of rtol; None
              and "legacy" are an atol of 0 where the installed SciPy has them
    maxiter   10 times the rows unless given; a Hermitian A of complex numbers
              is taken as its real equivalent, by products of its own
    callback  called as callback(xk) after each iteration

    Returns x and info: 0 converged; above 0 not, the iterations; -1 breakdown,
    as of a matrix that is not positive definite.

    >>> import numpy, tacit
    >>> x, info = tacit.cg(numpy.diag([1.0, 2.0, 4.0]), [1.0, 1.0, 1.0])
    >>> info, [round(v, 4) for v in x.tolist()]
    (0, [1.0, 0.5, 0.25])
    """
    rtol = rtol if tol is None else tol
    if atol is None or isinstance(atol, str):
        atol = 0.0 if atol in _NO_ATOL else atol
    return _run("cg", A, b, x0, M, callback, rtol, atol, maxiter)


def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], Any] | None = None,
    show: bool = False,
    check: bool = False,
    tol: float | None = None,
) -> tuple[Any, int]:
    """Minimum residuals for a symmetric A, which may be indefinite, in place
    of scipy.sparse.linalg.minres: solves (A - shift I) x = b. `check` raises
    InputError, a ValueError, if A is not symmetric (complex: Hermitian), for a
    function by two products; `show` prints the outcome; the rest is as of `cg`.
    Done when ||b - A x|| <= rtol ||b||.

    >>> import numpy, tacit
    >>> x, info = tacit.minres(numpy.diag([1.0, -2.0]), [1.0, 1.0])
    >>> info, [round(v, 4) for v in x.tolist()]
    (0, [1.0, -0.5])
    """
    rtol = rtol if tol is None else tol
    A = _given(A, b, "A")
    if shift:
        A = _shifted(A, shift)
    if check:
        _check_symmetric(A)
    x, info = _run("minres", A, b, x0, M, callback, rtol, 0.0, maxiter)
    if show:
        print(f"minres: info {info}")
    return x, info


def _check_symmetric(A: Any) -> None:
    if isinstance(A, LinearOperator):
        _check_products(A)
    elif _is_complex(A):
        _check_hermitian(csr_matrix(A))
    else:
        with Operator(A, device="host", _look=True) as checked:
            _refuse_one_triangle(checked, "minres")
            checked.require_symmetric()


def _check_products(A: Any) -> None:
    """(A y, A y) is (y, A A y) for a symmetric A."""
    numbers = np.random.default_rng(0)
    y = numbers.standard_normal(A.shape[0])
    if _is_complex(A):
        y = y + 1j * numbers.standard_normal(A.shape[0])
    Ay = np.asarray(A.matvec(y)).reshape(-1)
    square = np.vdot(Ay, Ay).real
    by = abs(np.vdot(y, np.asarray(A.matvec(Ay)).reshape(-1)) - square)
    if not by <= _SAME * square:
        raise errors.InputError(
            "not symmetric: for a random vector y, (A y, A y) and (y, A A y) "
            f"differ by {by / square:.2g} of it"
        )


def _check_hermitian(A: Any) -> None:
    largest = abs(A).max() if A.nnz else 0.0
    wrong = (abs(A - A.conj().T) > _SAME * largest).tocoo()
    if wrong.nnz:
        i, j = min(zip(wrong.row.tolist(), wrong.col.tolist()))
        raise errors.InputError(
            f"not Hermitian: row {i + 1}, column {j + 1} holds {A[i, j]:.6g}, "
            f"but row {j + 1}, column {i + 1} holds {A[j, i]:.6g}"
        )


def _shifted(A: Any, shift: float) -> Any:
    if isinstance(A, LinearOperator):
        kind = np.complex128 if _is_complex(A) else np.float64
        return LinearOperator(
            A.shape, lambda x: A.matvec(x) - shift * x, dtype=kind
        )
    if issparse(A):
        return A - shift * eye(A.shape[0], format="csr")
    A = np.asarray(A)
    return A - shift * np.eye(A.shape[0])


def amg(A: Any, B: Any = None, **options: Any) -> Preconditioner:
    """Algebraic multigrid for A, with the names of pyamg's solvers:
    `tacit.amg(A).aspreconditioner()` is M for cg, `.solve(b)` solves.

    B        [rows, k] vectors that A maps close to zero, such as rigid-body
             modes; one of ones unless given
    options  of `tacit.Preconditioner`: cycle="w", degree=3, device="cuda"
    """
    if B is not None:
        options["near_null"] = B
    return Preconditioner(A, "amg", **options)

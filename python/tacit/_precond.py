# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners by name and from the caller's own functions."""

from __future__ import annotations

import re
from contextlib import nullcontext
from ctypes import byref, c_void_p
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from . import _errors as errors
from . import _structs as st
from ._arrays import at, columns_of
from ._context import Handle, Local
from ._library import check, lib, shown, whole, word
from ._function import Function
from ._mpi import agree
from ._operator import Operator, apply_handle
from ._report import precond_info, precond_of
from ._signals import Held


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """ "amg(cycle=k, degree=3)" as a name and options."""
    word(name, "precond")
    found = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", name)
    if not found:
        raise errors.InvalidError(
            f"precond is {name!r}: expected a name, or name(key=value, ...)"
        )
    options: dict[str, str] = {}
    for item in filter(None, re.split(r"\s*,\s*", found.group(2) or "")):
        key, equals, value = item.partition("=")
        if not equals:
            raise errors.InvalidError(
                f"precond is {name!r}: '{item}' has no value, as in key=value"
            )
        options[key.strip()] = value.strip()
    return found.group(1), options


class Options:
    """tacit_precond_options, and what it borrows."""

    def __init__(self, name: str, options: dict[str, Any], rows: int) -> None:
        self.struct = st.new(st.PrecondOptions)
        self._kept: list[Any] = []
        for key, value in options.items():
            if key == "near_null":
                self._set_vectors(value, rows)
            elif key == "kind":
                self.struct.kind = word(value, "kind")
            elif key == "columns":
                self.struct.columns = whole(value, "columns")
            elif key == "positive":
                self.struct.positive = bool(value)
            else:
                self._set(name, key, str(value))

    def _set(self, name: str, key: str, value: str) -> None:
        words = (
            word(name, "precond"), word(key, "an option").replace(b"_", b"-"),
            word(value, key),
        )
        self._kept.append(words)
        check(lib.tacit_precond_options_set(byref(self.struct), *words))

    def _set_vectors(self, vectors: Any, rows: int) -> None:
        array = columns_of(vectors, rows, "near_null", [])
        self._kept.append(array)
        self.struct.vectors = 1 if array.ndim == 1 else array.shape[1]
        self.struct.near_null = at(array)


class Preconditioner(Local):
    """M, an approximate inverse of A; `M @ r` applies it, and SciPy's methods
    take it.

    A        an `Operator`, or what `Operator` takes
    name     "amg", "ic0", "ic1", "jacobi", "direct"
    options  those of the name, as in `tacit help solve`: cycle="w", degree=3;
             near_null, an array [rows, k] of vectors that A maps close to
             zero (rigid-body modes in elasticity); node_rows

    Errors: InputError (A is not symmetric; a diagonal that is not positive,
    with its row), InvalidError, NoMemory.

    >>> import tacit
    >>> M = tacit.Preconditioner("poisson2d:40", "amg", degree=3)
    >>> x, report = tacit.solve(M.operator, [1.0] * 1600, precond=M)
    >>> report["path"]["precond"]
    'amg'
    """

    def __init__(
        self,
        A: Any,
        name: str = "amg",
        *,
        device: str = "auto",
        threads: int = 0,
        comm: Any = None,
        **options: Any,
    ) -> None:
        self._own = not isinstance(A, Operator)
        self._closed = False
        told = {k: v for k, v in options.items() if np.ndim(v) == 0}
        agree(
            comm if self._own else A.context.comm,
            lambda: None if self._own else A.require_open(),
            {"name": name, "options": sorted(told.items())},
        )
        if isinstance(A, Operator):
            A.refuse_options(device=device, threads=threads, comm=comm)
            self.operator = A
        else:
            self.operator = Operator(
                A, device=device, threads=threads, comm=comm, _look=True
            )
        self.context = self.operator.context
        try:
            self._set_up(name, options)
        except BaseException:
            if self._own:
                self.operator.close()
            raise
        super().__init__(np.dtype(np.float64), self.operator.shape)

    def _set_up(self, name: str, options: dict[str, Any]) -> None:
        self.name, more = split_name(name)
        if self.name != "direct":
            self.operator.require_symmetric()
        self._options = {**more, **options}
        with self.operator.context, Held():
            self.handle = make(self.operator, self.name, self._options)

    def require_open(self) -> None:
        if self._closed:
            raise errors.ClosedError(
                "this preconditioner was closed: make another"
            )

    def _matvec(self, r: Any) -> Any:
        self.require_open()
        A = self.operator
        v = columns_of(np.asarray(r).reshape(-1), A.local_rows, "r", [])
        if not self.handle.pointer:  # "none"
            return v.copy()
        return apply_handle(A.context, self.handle, None, v)

    def _rmatvec(self, r: Any) -> Any:
        return self._adjoint()._matvec(r)

    def _adjoint(self) -> LinearOperator:
        self.operator.require_own_adjoint("products")
        return self

    def aspreconditioner(self, cycle: str | None = None) -> "Preconditioner":
        """Itself, where pyamg's solvers have this method; for another `cycle`
        ("V", "W" or "K") a new one, which is set up anew."""
        self.require_open()
        made = (self.info or {}).get("detail") or ""
        if not cycle or f"cycle {cycle.lower()}" in made:
            return self
        options = {**self._options, "cycle": cycle.lower()}
        return Preconditioner(self.operator, self.name, **options)

    @property
    def varies(self) -> bool:
        """Does it change from one application to the next?"""
        return bool(precond_info(self.handle.pointer).varies)

    @property
    def info(self) -> dict[str, Any] | None:
        """Its levels, as `precond` of a report; None: it has none."""
        with self.operator.context:
            return precond_of(self.handle.pointer)

    def solve(
        self, b: Any, x0: Any = None, tol: float = 1e-8, **keywords: Any
    ) -> Any:
        """x for a right-hand side, by cg with it; as pyamg's method. See
        `tacit.Solver` for the report."""
        from ._solver import Solver

        with Solver(self.operator, precond=self, rtol=tol) as solver:
            return solver.solve(b, x0, **keywords)[0]

    def update(self) -> None:
        """Take the operator's new values, after its `update`."""
        self.require_open()
        self.operator.require_open()
        with self.operator.context, Held():
            renew(self.handle, self.operator)

    def take_values(self, matrix: Handle) -> None:
        """Those of its operator, if `matrix`, the new one of a solver of
        another operator, has them. Within the context of that one."""
        if not self.handle.pointer:  # "none"
            return
        with self._within(matrix):
            status = lib.tacit_precond_update(
                self.handle.pointer, matrix.pointer
            )
        if status == -1:
            raise errors.InvalidError(
                "precond is of another operator, which has other values: "
                "update that first, by M.operator.update, or make the solver "
                "with it: tacit.Solver(M.operator, precond=M)"
            )
        check(status)

    def _within(self, matrix: Handle) -> Any:
        same = matrix.lock is self.context.lock
        return nullcontext() if same else self.context

    def close(self) -> None:
        """Free it, and the operator if it has made that itself."""
        if not self._closed:
            with self.operator.context:
                self._closed = True
                self.handle.close()
            if self._own:
                self.operator.close()


def varies(asked: Any) -> bool:
    """Does the preconditioner that is asked for change from one application
    to the next?"""
    if isinstance(asked, Preconditioner):
        return asked.varies
    return isinstance(asked, str) and split_name(asked)[1].get("cycle") == "k"


def renew(M: Handle, operator: Operator) -> None:
    """M takes the operator's new values. Collective."""
    if not M.pointer:  # "none"
        return
    matrix = operator.matrix.pointer if operator.matrix is not None else None
    check(lib.tacit_precond_update(M.pointer, matrix))


def make(operator: Operator, name: str, options: dict[str, Any]) -> Handle:
    """The preconditioner called `name` of an operator. Collective."""
    pointer = c_void_p()
    made = Options(name, options, operator.local_rows)
    matrix = operator.matrix.pointer if operator.matrix is not None else None
    status = lib.tacit_precond_create_of(
        operator.handle.pointer, matrix, name.encode(), byref(made.struct),
        byref(pointer),
    )
    if status == -2:
        operator.require_entries(name)
    check(status)
    return Handle(pointer, lib.tacit_operator_destroy, (operator.handle,))


def map_of(M: Any, what: str) -> LinearOperator:
    """A matrix, or an object with products, as a linear operator."""
    try:
        return aslinearoperator(M)
    except TypeError:
        solves = what != "A" and hasattr(M, "solve")
        raise errors.InvalidError(
            f"{what} is {type(M).__name__}: expected a matrix, a "
            "LinearOperator or a function"
            + (", such as its method solve" if solves else "")
        ) from None


def function_of(operator: Operator, M: Any) -> Function:
    """A preconditioner of the caller's: a LinearOperator, a matrix near the
    inverse, or a function z = M r."""
    if isinstance(M, LinearOperator):
        f = M.matvec
    elif callable(M) and not hasattr(M, "shape"):
        return Function(operator.context, M, operator.local_rows, 1e-300)
    elif hasattr(M, "shape"):
        f = map_of(M, "precond").matvec
    else:
        raise errors.InvalidError(
            f"precond is {shown(M)}: expected a name, a matrix, or a function"
        )
    if tuple(M.shape) != (operator.local_rows,) * 2:
        raise errors.InvalidError(
            f"the preconditioner has the shape {tuple(M.shape)}: expected "
            f"{(operator.local_rows,) * 2}"
        )
    return Function(operator.context, f, operator.local_rows, 1e-300)

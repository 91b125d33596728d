# SPDX-License-Identifier: BSD-3-Clause
"""Unknowns whose values are known (Dirichlet)."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _errors as errors
from ._arrays import at, columns_of, doubles, rows_of
from ._context import Context, context_of
from ._files import _take
from ._library import check, lib
from ._operator import make_matrix
from ._signals import Held
from ._triangle import one_triangle


def _numbers(rows: Any, count: int, first: int) -> Any:
    """The rows as integers; a mask is of this rank's rows, `count`."""
    named = np.asarray(rows)
    if named.dtype == np.bool_:
        if named.shape != (count,):
            raise errors.InvalidError(
                f"rows is a mask of shape {named.shape}: expected ({count},)"
            )
        return np.flatnonzero(named).astype(np.int64) + first
    if named.size == 0:
        return np.zeros(0, dtype=np.int64)
    if named.dtype.kind not in "iu":
        raise errors.TypeRefused(
            f"rows has elements of type {named.dtype}: expected integers, or a "
            "mask"
        )
    return np.ascontiguousarray(named.reshape(-1), dtype=np.int64)


def _values(values: Any, count: int) -> Any:
    given = doubles(np.asarray(values), "values", [])
    if given.shape not in ((), (1,), (count,)):
        raise errors.InvalidError(
            f"values has the shape {given.shape}: expected ({count},), one for "
            "each row, or one number"
        )
    return np.ascontiguousarray(np.broadcast_to(given, (count,)))


def _columns_of_all(c: Context, b: Any) -> int:
    """Its columns, the same on all ranks. Collective."""
    columns = b.shape[1] if b.ndim > 1 else 1
    ends = (ctypes.c_double * 2)(columns, -columns)
    if c.ranks > 1:
        check(lib.tacit_world_reduce(c.world.pointer, 2, 2, ends))
    if ends[0] != -ends[1]:
        raise errors.InvalidError(
            f"b has {int(-ends[1])} columns on one rank and {int(ends[0])} on "
            "another: expected the same"
        )
    return int(columns)


def fix(
    A: Any, b: Any, rows: Any, values: Any = 0.0, *, comm: Any = None
) -> tuple[Any, Any]:
    """Fix x[rows] = values, and keep A symmetric: A and b of the new system.

    A       a square SciPy or NumPy matrix; with `comm` this rank's rows, [local
            rows, all rows]
    b       [rows] or [rows, k]
    rows    integers from 0, of all rows, or a mask [rows]. With `comm` any rank
            may name any row; a mask is of its own
    values  one for each, or one number for all

    Columns of these rows go to b, and become 0, as the rows do, but for the
    diagonal: the largest one of the other rows. Zeros stay stored, so that
    `Solver.update` takes other values, fixed alike. Returns a csr_array and an
    array; A and b stay. Collective. Errors:
    InputError (A has one triangle alone), InvalidError with the row (out of
    range, with two values, a value not finite), TypeRefused, NoMemory.

    >>> import numpy, tacit
    >>> A, b = tacit.fix(tacit.gallery("poisson1d:4"), numpy.zeros(4), [0], 3.0)
    >>> A.toarray()[0].tolist(), b.tolist()
    ([2.0, 0.0, 0.0, 0.0], [6.0, 3.0, 0.0, 0.0])
    """
    c = context_of("host", 0, comm)
    try:
        with c, Held():
            return _fix(c, A, b, rows, values)
    finally:
        if comm is not None:
            c.close()


def _fix(c: Context, A: Any, b: Any, rows: Any, values: Any) -> tuple[Any, Any]:
    notes: list[str] = []
    expected = (
        "a square matrix with its entries, as tacit.gallery and tacit.read "
        "make of a name"
    )
    given = c.together(lambda: rows_of(A, notes, True, expected))
    matrix = make_matrix(c, given)
    first = int(lib.tacit_matrix_first_row(matrix.pointer))
    try:

        def take() -> tuple[Any, Any, Any]:
            named = _numbers(rows, given.shape[0], first)
            right = columns_of(b, given.shape[0], "b", notes)
            return named, _values(values, len(named)), right

        alone = one_triangle(c, matrix)
        if alone is not None:
            raise errors.InputError(
                f"A has one triangle alone, the {alone} one: fix needs the "
                "whole matrix"
            )
        named, wanted, right = c.together(take)
        made = np.array(right, order="F", copy=True)
        for column in range(_columns_of_all(c, made)):
            if column > 0:  # the rows as they were
                matrix.close()
                matrix = make_matrix(c, given)
            of = made[:, column] if made.ndim > 1 else made
            check(
                lib.tacit_matrix_fix(
                    matrix.pointer, len(named), at(named), at(wanted), at(of)
                )
            )
        return _take(matrix), made
    finally:
        matrix.close()

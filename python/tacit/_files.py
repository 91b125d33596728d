# SPDX-License-Identifier: BSD-3-Clause
"""Matrices from files and from the gallery, as SciPy's; factors."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_int, c_void_p
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from . import _errors as errors
from . import _structs as st
from ._arrays import at, columns_of, rows_of
from ._context import Handle, NoCopy, context_of
from ._library import check, lib, number, text, word
from ._operator import make_matrix, open_matrix
from ._signals import Held

_KINDS = ("llt", "ldlt", "lu", "ic0", "ilu0")


def _array(address: int | None, count: int, kind: Any) -> Any:
    """A copy of `count` numbers of the library."""
    if not address or count == 0:
        return np.zeros(0, dtype=kind)
    size = count * np.dtype(kind).itemsize
    memory: Any = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memory, dtype=kind).copy()


def _take(matrix: Handle) -> Any:
    """The rows of a matrix as a csr_array, or a csr_matrix of old SciPy."""
    rows, info = st.Rows(), st.new(st.MatrixInfo)
    check(lib.tacit_matrix_view_rows(matrix.pointer, byref(rows)))
    check(lib.tacit_matrix_describe(matrix.pointer, byref(info)))
    ptr = _array(rows.ptr, rows.count + 1, np.int64)
    entries = int(ptr[-1]) if len(ptr) else 0
    wide = bool(rows.cols64)
    cols = _array(
        rows.cols64 if wide else rows.cols32, entries,
        np.int64 if wide else np.int32,
    )
    vals = _array(rows.vals, entries, np.float64)
    if not wide:
        ptr = ptr.astype(np.int32 if entries < 2**31 else np.int64)
    try:
        from scipy.sparse import csr_array as kind
    except ImportError:
        kind = csr_matrix
    return kind((vals, cols, ptr), shape=(rows.count, int(info.cols)))


def read(path: Any, *, shift: float = 0.0) -> Any:
    """A matrix from a file of any format that Tacit reads, which its content
    shows: Matrix Market, PETSc binary, .npz, Harwell-Boeing, METIS, .tacit;
    also packed. Returns a csr_array of doubles. Errors: FileError, InputError
    with line and column."""
    if lib.tacit_gallery_find(word(path, "path")):
        raise errors.InvalidError(
            f"'{path}' names a gallery matrix: use tacit.gallery"
        )
    return _open(os.fspath(path), shift)


def read_rhs(path: Any, rows: int) -> Any:
    """The right-hand sides [rows] or [rows, k] of a vector file, or those that
    a matrix file holds (Harwell-Boeing, PETSc)."""
    with context_of("host", 0, None) as c, Held():
        numbering = rows_of(csr_matrix((rows, rows)), [])
        matrix = make_matrix(c, numbering)
        count, vectors = c_int(), c_void_p()
        check(
            lib.tacit_matrix_read_vectors(
                matrix.pointer, word(path, "path"), byref(count),
                byref(vectors),
            )
        )
        out = _array(vectors.value, rows * count.value, np.float64)
        lib.tacit_matrix_free_vectors(byref(vectors))
        matrix.close()
    if count.value == 1:
        return out
    return out.reshape((rows, count.value), order="F")


def gallery(name: str | None = None, *, shift: float = 0.0) -> Any:
    """A matrix made from a name, "poisson3d:20", as a csr_array; without a
    name the list of all, (usage, summary).

    >>> import tacit
    >>> tacit.gallery("poisson2d:3").shape
    (9, 9)
    """
    if name is not None:
        if not lib.tacit_gallery_find(word(name, "name")):
            known = dict.fromkeys(usage.split(":")[0] for usage, _ in gallery())
            raise errors.InvalidError(
                f"'{name}' is in no gallery: expected a size after one of "
                f"{', '.join(known)}, as in poisson2d:50"
            )
        return _open(name, shift)
    rows: list[tuple[str, str]] = []
    while row := lib.tacit_gallery_at(len(rows)):
        g = row.contents
        rows.append((text(g.usage) or "", text(g.summary) or ""))
    return rows


def _open(name: str, shift: float) -> Any:
    with context_of("host", 0, None) as c, Held():
        matrix = open_matrix(c, name, number(shift, "shift"))
        out = _take(matrix)
        matrix.close()
    return out


class Factor(NoCopy):
    """Triangular factors of a matrix; see `factor`."""

    def __init__(self, A: Any, kind: str, order: str | None, threads: int):
        if kind not in _KINDS:
            raise errors.InvalidError(
                f"kind is {kind!r}: expected one of {', '.join(_KINDS)}"
            )
        self._closed = False
        self._kind = kind
        options = st.new(st.FactorOptions, kind=_KINDS.index(kind))
        options.order = word(order, "order") if order else None
        self._context = context_of("host", threads, None)
        with self._context as c, Held():
            if isinstance(A, str):
                matrix = open_matrix(c, A, 0.0)
            else:
                rows = rows_of(A, [], True, "a square matrix or a name")
                matrix = make_matrix(c, rows)
            self.rows = int(lib.tacit_matrix_global_rows(matrix.pointer))
            pointer = c_void_p()
            check(
                lib.tacit_factor_create(
                    matrix.pointer, byref(options), byref(pointer)
                )
            )
            self._handle = Handle(
                pointer, lib.tacit_factor_destroy, lock=c.lock
            )
            matrix.close()

    def solve(self, b: Any) -> Any:
        """x of A x = b for b [rows] or [rows, k]; without refinement: see
        method "direct" of `solve` for a checked residual."""
        if self._closed:
            raise errors.ClosedError("this factor was closed: make another")
        given = columns_of(b, self.rows, "b", [])
        x = np.empty_like(given, order="F", subok=False)
        columns = 1 if given.ndim == 1 else given.shape[1]
        with self._context, Held():
            check(
                lib.tacit_factor_solve(
                    self._handle.pointer, columns, at(given), self.rows,
                    at(x), self.rows,
                )
            )
        return x

    @property
    def info(self) -> dict[str, Any]:
        """rows, nonzeros of L, flops, bytes, seconds and the rest of
        `tacit_factor_info`; `kind` is a name."""
        if self._closed:
            raise errors.ClosedError("this factor was closed: make another")
        info = st.new(st.FactorInfo)
        check(lib.tacit_factor_describe(self._handle.pointer, byref(info)))
        out: dict[str, Any] = {}
        for name, kind in st.FactorInfo._fields_[1:]:  # type: ignore[misc]
            value = getattr(info, name)
            out[name] = text(value) if kind is ctypes.c_char_p else value
        out["kind"] = _KINDS[info.kind]
        return out

    def __repr__(self) -> str:
        rows = f"{self.rows}x{self.rows} Factor {self._kind}"
        return f"<{rows}, closed>" if self._closed else f"<{rows}>"

    def close(self) -> None:
        """Free it; later uses raise ClosedError."""
        with self._context:
            self._closed = True
            self._handle.close()

    def __enter__(self) -> "Factor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def factor(
    A: Any, kind: str = "llt", order: str | None = None, threads: int = 0
) -> Factor:
    """Factor A: kind "llt" (positive definite), "ldlt" (symmetric), "lu" (any
    square), "ic0", "ilu0" (incomplete); `order` "nd", "top-nd", "natural",
    "multicolor". None pivots; a pivot of rounding alone is InputError with its
    row.

    >>> import tacit
    >>> F = tacit.factor([[2.0, 1.0], [1.0, 2.0]])
    >>> [round(v, 6) for v in F.solve([3.0, 3.0]).tolist()]
    [1.0, 1.0]
    """
    return Factor(A, kind, order, threads)

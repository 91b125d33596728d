# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and vectors of the caller as the library takes them: doubles, rows
in compressed form; copied only where they are not that already."""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from . import _errors as errors
from ._library import warn

_byte_of = c_char.from_buffer


class Rows(NamedTuple):
    """Compressed rows: `ptr` [rows + 1], `cols` and `vals` [ptr[rows]]; the
    integers of both are of 32 or of 64 bits."""

    shape: tuple[int, int]
    ptr: Any
    cols: Any
    vals: Any
    turned: bool  # columns taken as rows: right if the matrix is symmetric


def doubles(array: Any, what: str, notes: list[str]) -> Any:
    """`array` with elements of native doubles; copied only to convert."""
    kind = array.dtype.kind
    if kind == "c":
        raise errors.TypeRefused(
            f"{what} is complex: Tacit solves real systems; split it into "
            "real and imaginary parts"
        )
    if kind not in "fiub":
        raise errors.TypeRefused(
            f"{what} has elements of type {array.dtype}: expected numbers"
        )
    if array.dtype == np.float64:
        return array
    if array.dtype.itemsize > 8:
        warn(f"{what} is {array.dtype}: rounded to double")
    elif kind in "iu" and array.dtype.itemsize == 8 and array.size:
        if max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
            raise errors.InputError(
                f"{what} has integers above 2^53, which doubles do not hold"
            )
    notes.append(f"{what} was {array.dtype}: converted to double")
    return array.astype(np.float64)


def _compressed(A: Any) -> tuple[Any, bool]:
    """A SciPy matrix by rows, and whether its columns were taken for rows."""
    if A.format == "csr":
        return A, False
    if A.format == "csc" and A.shape[0] == A.shape[1]:
        return A, True
    return A.tocsr(), False


def _indices(A: Any) -> tuple[Any, Any]:
    ptr, cols = A.indptr, A.indices
    wide = ptr.dtype.itemsize > 4 or cols.dtype.itemsize > 4
    kind = np.int64 if wide else np.int32
    return (
        np.ascontiguousarray(ptr, dtype=kind),
        np.ascontiguousarray(cols, dtype=kind),
    )


def rows_of(
    A: Any, notes: list[str], ordered: bool = False,
    expected: str = "a square matrix, a name or a function",
) -> Rows:
    """The rows of a SciPy or NumPy matrix; `ordered`: columns of a csc matrix
    are never taken for rows. No copy of a csr matrix of doubles. `expected`:
    what the caller may give, for a sentence."""
    if isinstance(A, np.ma.MaskedArray):
        raise errors.TypeRefused("A is a masked array: fill it first")
    if not sparse.issparse(A):
        try:
            dense = np.asarray(A)
        except Exception as error:
            raise errors.TypeRefused(f"A is no matrix: {error}") from error
        if dense.ndim != 2:
            what = f"has the shape {dense.shape}"
            if dense.ndim == 0:
                what = f"is {type(A).__name__}"
            raise errors.InvalidError(
                f"A {what}: expected {expected}"
            )
        A = sparse.csr_matrix(doubles(dense, "A", notes))
    if A.ndim != 2:
        raise errors.InvalidError(
            f"A has {A.ndim} dimensions: expected a square matrix"
        )
    if A.dtype == object:
        raise errors.TypeRefused("A has elements of type object: expected numbers")
    by_rows, turned = (A.tocsr(), False) if ordered else _compressed(A)
    ptr, cols = _indices(by_rows)
    vals = np.ascontiguousarray(doubles(by_rows.data, "A", notes))
    if len(ptr) != by_rows.shape[0] + 1 or len(cols) < ptr[-1] or len(vals) < ptr[-1]:
        raise errors.InvalidError(
            "A's arrays do not belong together: indptr needs rows + 1 "
            "elements, indices and data indptr[-1]"
        )
    return Rows((int(A.shape[0]), int(A.shape[1])), ptr, cols, vals, turned)


def _array_of(b: Any, what: str) -> Any:
    """Of a list, or of an array of another kind than NumPy's own."""
    if sparse.issparse(b):
        raise errors.TypeRefused(f"{what} is sparse: pass {what}.toarray()")
    if isinstance(b, np.ma.MaskedArray):
        raise errors.TypeRefused(f"{what} is a masked array: fill it first")
    try:
        return np.asarray(b)
    except Exception as error:
        raise errors.TypeRefused(
            f"{what} is not an array of numbers: {error}"
        ) from error


def columns_of(b: Any, rows: int, what: str, notes: list[str]) -> Any:
    """A vector [rows] or several [rows, k] as doubles, column by column in
    memory; the caller's own array where it is so already."""
    array = b if type(b) is np.ndarray else _array_of(b, what)
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise errors.InvalidError(
            f"{what} has the shape {array.shape}: expected ({rows},) or "
            f"({rows}, columns)"
        )
    if array.ndim == 2 and array.shape[1] == 0:
        raise errors.InvalidError(f"{what} has no columns")
    array = doubles(array, what, notes)
    if array.ndim == 1:
        return np.ascontiguousarray(array)
    return np.asfortranarray(array)


def guess_of(x0: Any, b: Any, notes: list[str]) -> Any:
    """A new array shaped as `b` with the first guess, or zeros."""
    if x0 is None:
        return np.zeros_like(b, order="F", subok=False)
    guess = columns_of(x0, b.shape[0], "x0", notes)
    if guess.shape != b.shape:
        raise errors.InvalidError(
            f"x0 has the shape {guess.shape}, b {b.shape}: expected the same"
        )
    return np.array(guess, order="F", copy=True)


def require_finite(x0: Any) -> None:
    """InputError for a guess that a solve cannot start from."""
    if x0 is None:
        return
    if not np.isfinite(np.asarray(x0, dtype=np.float64)).all():
        raise errors.InputError("x0 holds numbers that are not finite")


def like(b: Any, x: Any) -> Any:
    """`x` as an array of the library of `b`: PyTorch, JAX, else NumPy."""
    if isinstance(b, np.ndarray):
        return x
    maker = type(b).__module__.split(".")[0]
    if maker == "torch":
        import torch

        return torch.from_numpy(x)
    if maker in ("jax", "jaxlib"):
        import jax.numpy

        return jax.numpy.asarray(x)
    return x


def at(array: Any) -> int | None:
    """Its address; None for an empty one."""
    if not array.size:
        return None
    try:  # in less time than by array.ctypes
        return addressof(_byte_of(array))
    except (BufferError, TypeError, ValueError):  # read-only, by columns
        return int(array.ctypes.data)

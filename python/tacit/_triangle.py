# SPDX-License-Identifier: BSD-3-Clause
"""Matrices with one triangle alone, as files and codes keep symmetric ones."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import numpy as np

from . import _structs as st
from ._context import Context, Handle
from ._library import check, lib

_CHUNK = 4096  # rows


def _view(address: int, start: int, end: int, kind: Any) -> Any:
    """Elements [start, end) of an array of the library, in place."""
    size = np.dtype(kind).itemsize
    memory: Any = (ctypes.c_char * (size * (end - start))).from_address(
        address + size * start
    )
    return np.frombuffer(memory, dtype=kind)


def _sides(rows: st.Rows) -> tuple[bool, bool]:
    """Are there nonzeros below the diagonal, and above it? It ends where both
    were seen: of a whole matrix in the first rows."""
    below = above = False
    for start in range(0, rows.count, _CHUNK):
        end = min(start + _CHUNK, rows.count)
        ptr = _view(rows.ptr, start, end + 1, np.int64)
        part = int(ptr[0]), int(ptr[-1])
        if part[0] == part[1]:
            continue
        cols = (
            _view(rows.cols64, *part, np.int64) if rows.cols64
            else _view(rows.cols32, *part, np.int32)
        )
        numbers = np.arange(rows.first + start, rows.first + end)
        by = cols - np.repeat(numbers, np.diff(ptr))
        by = by[_view(rows.vals, *part, np.float64) != 0.0]
        below = below or bool((by < 0).any())
        above = above or bool((by > 0).any())
        if below and above:
            break
    return below, above


def one_triangle(context: Context, matrix: Handle) -> str | None:
    """"lower" or "upper" if the matrix has nonzeros there alone, besides the
    diagonal. Collective."""
    rows = st.Rows()
    check(lib.tacit_matrix_view_rows(matrix.pointer, byref(rows)))
    sides = (ctypes.c_double * 2)(*_sides(rows))
    if context.ranks > 1:
        check(lib.tacit_world_reduce(context.world.pointer, 0, 2, sides))
    if (sides[0] > 0) == (sides[1] > 0):
        return None
    return "lower" if sides[0] > 0 else "upper"


def refusal(alone: str) -> str:
    """The sentence for methods that take A for symmetric."""
    return (
        f"A has one triangle alone, the {alone} one: say triangle='{alone}', "
        "or give the whole matrix; method='direct' solves with the triangle "
        "as it is"
    )

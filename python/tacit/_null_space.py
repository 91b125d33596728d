# SPDX-License-Identifier: BSD-3-Clause
"""A null space that the caller declares of a singular matrix."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any

from . import _errors as errors
from . import _structs as st
from ._arrays import at, columns_of
from ._context import Context, Handle
from ._library import check, lib


class NullSpace:
    """ "constants", or vectors [local rows, k], which it copies."""

    def __init__(self, given: Any, local_rows: int) -> None:
        self._space = st.new(st.NullSpace)
        self._vectors: Any = None
        if isinstance(given, str):
            if given != "constants":
                raise errors.InvalidError(
                    f"null_space is {given!r}: expected 'constants', or vectors"
                )
            self._space.constants = True
            return
        vectors = columns_of(given, local_rows, "null_space", [])
        self._vectors = vectors = vectors.copy(order="F")
        self._space.vectors = 1 if vectors.ndim == 1 else vectors.shape[1]
        self._space.values = at(vectors)

    def declare(self, operator: Any, matrix: Handle | None) -> None:
        """Of an operator of the library, made of `matrix`; InvalidError: a
        vector is not null. Collective."""
        entries = matrix.pointer if matrix is not None else None
        check(
            lib.tacit_operator_set_null_space(
                operator, entries, byref(self._space)
            )
        )

    def require_of(self, context: Context, matrix: Handle) -> None:
        """InvalidError if it is not null of `matrix`, by an operator made for
        this alone. Collective."""
        options = st.new(st.OperatorOptions, format=b"csr@none", solves=1)
        operator = c_void_p()
        check(
            lib.tacit_operator_create_for(
                context.queue.pointer, matrix.pointer, byref(options),
                byref(operator),
            )
        )
        try:
            self.declare(operator, matrix)
        finally:
            lib.tacit_operator_destroy(byref(operator))


def null_space_of(given: Any, local_rows: int) -> NullSpace:
    """What a caller gives, or another operator has."""
    if isinstance(given, NullSpace):
        return given
    return NullSpace(given, local_rows)

# SPDX-License-Identifier: BSD-3-Clause
"""A function of the caller's as an operator of the library."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import Any, Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _errors as errors
from . import _structs as st
from ._context import Context, Handle
from ._library import check, lib, set_error
from ._watch import Watch


def of_adjoint(A: Any, x: Any) -> Any:
    """A' x of a LinearOperator that has it; UnsupportedError for others."""
    if isinstance(A, LinearOperator):
        try:
            return A.rmatvec(x)
        except NotImplementedError:
            pass
    raise errors.UnsupportedError(
        "A is a function, whose product with A' is not known: give a "
        "LinearOperator with rmatvec"
    )


class Function:
    """A Python function y = f(x) as an operator; its exception is kept, and
    ends the solve."""

    def __init__(
        self,
        context: Context,
        f: Callable[[Any], Any],
        rows: int,
        norm: float,
        varies: bool = False,
    ) -> None:
        self._f = f
        self._rows = rows
        self._context = context
        self.raised: BaseException | None = None
        self._apply = st.Apply(self._call)
        self.struct = st.new(
            st.OperatorFunction, apply=self._apply, norm=norm, varies=varies
        )
        pointer = c_void_p()
        with Watch(None, 1) as watch:  # signals are no exceptions in callbacks
            status = lib.tacit_operator_from_function(
                context.queue.pointer, rows, byref(self.struct), byref(pointer)
            )
        watch.raise_kept()
        self.settle(status)
        self.handle = Handle(
            pointer, lib.tacit_operator_destroy, (context.queue,)
        )

    def settle(self, status: int) -> int:
        """`check`, but what the function raised comes out again."""
        raised, self.raised = self.raised, None
        if raised is not None:
            self._context.spoiled = True
            raise raised
        return check(status)

    def _call(self, _ctx: Any, _queue: Any, x: int, y: int) -> int:
        try:
            size = 8 * self._rows
            source: Any = (ctypes.c_char * size).from_address(x)
            target: Any = (ctypes.c_char * size).from_address(y)
            # a copy, since the function may keep what it is given
            given = np.frombuffer(source, dtype=np.float64).copy()
            if not given.any():  # as of a first guess of zeros
                np.frombuffer(target, dtype=np.float64)[:] = 0.0
                return 0
            made = np.asarray(self._f(given))
            if made.size != self._rows or made.dtype.kind not in "fiub":
                raise errors.InvalidError(
                    f"the function returned {made.dtype} of shape "
                    f"{made.shape}: expected {self._rows} real numbers"
                )
            np.frombuffer(target, dtype=np.float64)[:] = made.reshape(-1)
            return 0
        except BaseException as error:
            self.raised = error
            line = f"the function raised {type(error).__name__}: {error}"
            if self._context.ranks > 1:
                line = f"rank {self._context.rank}: {line}"
            return set_error(-1, line)

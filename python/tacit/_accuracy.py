# SPDX-License-Identifier: BSD-3-Clause
"""Residuals and backward errors of solutions."""

from __future__ import annotations

from ctypes import byref
from typing import Any

from . import _errors as errors
from . import _structs as st
from ._arrays import at, columns_of
from ._device import Buffer
from ._library import check, lib
from ._watch import Watch


def _measure(c: Any, handle: Any, b: Any, x: Any, found: st.Backward) -> int:
    """tacit_backward_error of arrays of the host."""
    if c.host:
        return int(
            lib.tacit_backward_error(handle, at(b), at(x), byref(found))
        )
    there = [Buffer(c, v.size) for v in (b, x)]
    try:
        for buffer, v in zip(there, (b, x)):
            buffer.put(v)
        given = [buffer.pointer for buffer in there]
        return int(lib.tacit_backward_error(handle, *given, byref(found)))
    finally:
        for buffer in there:
            buffer.free()


def _vector(v: Any, rows: int, name: str) -> Any:
    """`v` [rows], or of one column, as doubles."""
    array = columns_of(v, rows, name, [])
    if array.size != rows:
        raise errors.InvalidError(
            f"{name} has the shape {array.shape}: expected ({rows},)"
        )
    return array.reshape(-1)


def accuracy_of(operator: Any, x: Any, b: Any) -> dict[str, float | None]:
    """`Operator.accuracy`."""

    n = operator.local_rows

    def take() -> list[Any]:
        return [_vector(v, n, name) for name, v in (("b", b), ("x", x))]

    found, f = st.new(st.Backward), operator.function
    with operator.context as c, Watch(None, 1) as watch:
        given = c.together(take)
        status = _measure(c, operator.handle.pointer, *given, found)
        if f is not None:
            c.together(lambda: f.settle(status))
        check(status)
    watch.raise_kept()
    values = {
        "residual": found.residual,
        "backward_error": found.normwise,
        "componentwise_backward_error": found.componentwise,
        "attainable": found.attainable,
    }
    return {name: v if v == v else None for name, v in values.items()}

# SPDX-License-Identifier: BSD-3-Clause
"""Vectors in a device's memory: buffers of a queue, and arrays of other
libraries by DLPack, without a copy."""

from __future__ import annotations

import ctypes
import importlib
from ctypes import POINTER, byref, c_int, c_int32, c_int64, c_uint8, c_uint16
from ctypes import c_uint64, c_void_p
from typing import Any

import numpy as np

from . import _errors as errors
from ._arrays import at
from ._context import Context, Handle
from ._library import check, lib, optional

_HOSTS = (1, 3)  # kDLCPU, kDLCUDAHost
_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged


class Buffer:
    """`count` doubles on the device of a context."""

    def __init__(self, context: Context, count: int) -> None:
        self._context = context
        self.count = count
        self.pointer = c_void_p()
        check(
            lib.tacit_queue_alloc(
                context.queue.pointer, max(count, 1), byref(self.pointer)
            )
        )

    def put(self, array: Any) -> None:
        """From a host array, column by column in memory."""
        q = self._context.queue.pointer
        check(lib.tacit_queue_put(q, self.count, at(array), self.pointer))

    def get(self, array: Any) -> None:
        q = self._context.queue.pointer
        check(lib.tacit_queue_get(q, self.count, self.pointer, at(array)))

    def free(self) -> None:
        lib.tacit_queue_free(self._context.queue.pointer, byref(self.pointer))


def through_device(context: Context, v: Any, y: Any, handle: Handle) -> int:
    """y = handle v by buffers; the status of the product."""
    given, made = Buffer(context, v.size), Buffer(context, y.size)
    try:
        given.put(v)
        status: int = lib.tacit_operator_apply(
            handle.pointer, given.pointer, made.pointer
        )
        if status == 0:
            made.get(y)
        return status
    finally:
        given.free()
        made.free()


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack's header."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class View:
    """An array of another library, seen through DLPack: its memory stays
    theirs, and is kept as long as this object."""

    def __init__(self, array: Any, what: str, stream: int | None) -> None:
        self._array = array
        try:
            how = {} if stream is None else {"stream": stream}
            self._capsule = array.__dlpack__(**how)
        except (BufferError, RuntimeError, ValueError) as error:
            raise errors.TypeRefused(
                f"{what} is not given away by DLPack: {error}"
            ) from error
        t = _Tensor.from_address(_capsule_pointer(self._capsule, b"dltensor"))
        if (t.code, t.bits, t.lanes) != (2, 64, 1):
            raise errors.TypeRefused(
                f"{what} has elements of type {getattr(array, 'dtype', '?')}: "
                "on a GPU expected float64"
            )
        self.device = int(t.device_type)
        self.number = int(t.device_id)
        self.shape = tuple(t.shape[i] for i in range(t.ndim))
        self._check_order(t, what)
        self.pointer = c_void_p((t.data or 0) + t.byte_offset)

    def _check_order(self, t: _Tensor, what: str) -> None:
        if not t.strides or len(self.shape) == 0:
            ordered = len(self.shape) <= 1 or 1 in self.shape
        else:
            step, ordered = 1, True
            for i in range(t.ndim):  # the first index runs fastest
                ordered = ordered and (
                    self.shape[i] == 1 or t.strides[i] == step
                )
                step *= self.shape[i]
        if not ordered:
            raise errors.InvalidError(
                f"{what} is not contiguous column by column: copy it first, "
                "as {0}.T.contiguous().T or its like".format(what)
            )


def is_foreign(array: Any) -> bool:
    """Is it an array in the memory of a GPU?"""
    if isinstance(array, (np.ndarray, list, tuple)):
        return False
    where = getattr(array, "__dlpack_device__", None)
    return where is not None and int(where()[0]) not in _HOSTS


def require_gpu(array: Any, device: str, what: str) -> None:
    """The array must be where the solver is."""
    kind, number = (int(v) for v in array.__dlpack_device__())
    fits = kind in _CUDA and device.startswith("cuda")
    if fits and device.startswith("cuda("):
        fits = int(device[5:].split(")")[0]) == number
    if not fits:
        raise errors.InvalidError(
            f"{what} is in the memory of device {number} of kind {kind}, the "
            f"solver on {device}: bring both to one device"
        )


def stream_of(context: Context) -> int:
    """The stream of the queue, which orders the producers' work before ours.
    A solve has drained it when it returns."""
    take = optional("tacit_queue_stream", c_int, [c_void_p, POINTER(c_void_p)])
    stream = c_void_p()
    check(take(context.queue.pointer, byref(stream)))
    return int(stream.value or 0)


def zeros_like(array: Any) -> Any:
    """Zeros of the same kind, in the same memory."""
    name = type(array).__module__.split(".")[0]
    name = "jax.numpy" if name in ("jax", "jaxlib") else name
    made = importlib.import_module(name)
    return made.zeros_like(array)

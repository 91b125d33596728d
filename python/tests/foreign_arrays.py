# SPDX-License-Identifier: BSD-3-Clause
"""A small array library that speaks DLPack: its arrays are in the memory of a
queue, of a GPU or of the host. It stands for CuPy, PyTorch and JAX."""

import ctypes

import numpy as np
from tacit import _device

CUDA = 2


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _device._Tensor), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """[rows] or [rows, k] column by column, which says that it is on a GPU."""

    def __init__(self, context, values):
        self.context, self.shape = context, values.shape
        self.buffer = _device.Buffer(context, values.size)
        self.buffer.put(np.asfortranarray(values))
        self.streams = []

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        t = _device._Tensor(
            self.buffer.pointer, CUDA, 0, len(self.shape), 2, 64, 1)
        steps = [1] + [int(np.prod(self.shape[:k]))
                       for k in range(1, len(self.shape))]
        kind = ctypes.c_int64 * len(self.shape)
        self.kept = kind(*self.shape), kind(*steps)
        t.shape, t.strides = (
            ctypes.cast(part, ctypes.POINTER(ctypes.c_int64))
            for part in self.kept)
        self.managed = _Managed(t, None, None)
        return _new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __add__(self, other):
        return Array(self.context, self.get() + other.get())

    def get(self):
        out = np.empty(self.shape, order="F")
        self.buffer.get(out)
        return out


def zeros_like(array):
    return Array(array.context, np.zeros(array.shape))

# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of mpi4py's communicators. MPI is called only here and by objects
made with `comm`."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_int, c_void_p
from typing import Any

from . import _errors as errors
from ._library import check, optional


def _check_one_mpi() -> None:
    """Two MPI libraries in a process do not know each other's handles."""
    found = set()
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split()[-1]
            name = path.rsplit("/", 1)[-1]
            if name.startswith(("libmpi.so", "libmpich.so", "libmpi_abi.so")):
                found.add(path)
    if len(found) > 1:
        raise errors.UnsupportedError(
            "mpi4py and Tacit use different MPI libraries, "
            + " and ".join(sorted(found))
            + ": build both with the same one"
        )


def world_of(comm: Any) -> c_void_p:
    """A world of the processes of an mpi4py communicator. Collective."""
    wrong = errors.InvalidError(
        f"comm is {type(comm).__name__}: expected a communicator of mpi4py"
    )
    if not hasattr(comm, "Get_rank"):  # without the import, which starts MPI
        raise wrong
    try:
        from mpi4py import MPI
    except ImportError:
        raise errors.UnsupportedError(
            "comm needs mpi4py: pip install mpi4py, or leave comm out"
        ) from None
    if not isinstance(comm, MPI.Comm):
        raise wrong
    wide = MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_void_p)
    kind: Any = c_void_p if wide else c_int
    make = optional("tacit_world_from_mpi", c_int, [kind, POINTER(c_void_p)])
    _check_one_mpi()
    world = c_void_p()
    value = kind.from_address(MPI._addressof(comm)).value
    check(make(kind(value), byref(world)))
    return world

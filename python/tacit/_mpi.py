# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of mpi4py's communicators. MPI is called only here and by objects
made with `comm`."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_int, c_void_p
from typing import Any, Callable

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


def _mpi_of(comm: Any) -> Any:
    """The module mpi4py.MPI, if `comm` is one of its communicators."""
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
    return MPI


def agree(comm: Any, work: Callable[[], Any], same: dict[str, Any]) -> Any:
    """The result of `work`, of this rank alone, after all ranks have it, and
    all have the same strings of `same`. Without `comm` that of this process.
    Collective."""
    if comm is None:
        return work()
    _mpi_of(comm)
    out, raised = None, None
    try:
        out = work()
    except Exception as error:
        raised = error
    mine = None if raised is None else str(raised)
    words = {name: str(value) for name, value in same.items()}
    heard = comm.allgather((mine, words))
    if raised is not None:
        raise raised
    for rank, (fault, others) in enumerate(heard):
        if fault is not None:
            raise errors.InvalidError(f"rank {rank}: {fault}")
        for name, value in words.items():
            if others[name] != heard[0][1][name]:
                raise errors.InvalidError(
                    f"{name} is {heard[0][1][name]} on rank 0 and "
                    f"{others[name]} on rank {rank}: expected the same"
                )
    return out


def world_of(comm: Any) -> c_void_p:
    """A world of the processes of an mpi4py communicator. Collective."""
    MPI = _mpi_of(comm)
    wide = MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_void_p)
    kind: Any = c_void_p if wide else c_int
    make = optional("tacit_world_from_mpi", c_int, [kind, POINTER(c_void_p)])
    _check_one_mpi()
    world = c_void_p()
    value = kind.from_address(MPI._addressof(comm)).value
    check(make(kind(value), byref(world)))
    return world

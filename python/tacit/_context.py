# SPDX-License-Identifier: BSD-3-Clause
"""A world with a queue, and the handles of the objects made on it.

A context is for one thread at a time; other threads wait. Objects that others
borrow are destroyed after these, whatever the order of `close` and of the
collector."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import warnings
from ctypes import byref, c_void_p
from typing import Any, Callable, Self

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _errors as errors
from ._library import check, lib, say, set_error, text, whole, word
from ._signals import Held

_exiting = False


@atexit.register
def _leave() -> None:
    global _exiting
    _exiting = True


class NoCopy:
    """Objects that own one of the library's."""

    def __reduce__(self) -> Any:
        raise TypeError(
            "objects of the library cannot be copied or pickled: make another"
        )


class Handle(NoCopy):
    """A pointer of the library, with what it borrows."""

    def __init__(
        self,
        pointer: c_void_p,
        destroy: Callable[[Any], None],
        needs: tuple["Handle", ...] = (),
        lock: Any = None,
    ) -> None:
        self.pointer = pointer
        self._destroy = destroy
        self._needs = needs
        self._users = 0
        self._closing = False
        self.keeps: Any = None  # arrays that the library uses in place
        self._pid = os.getpid()
        self.lock: Any = lock if lock is not None else needs[0].lock
        for needed in needs:
            needed._users += 1

    def close(self) -> None:
        """Destroy it now, or as soon as nothing borrows it."""
        self._closing = True
        if self._users > 0 or not self.pointer:
            return
        pointer, self.pointer = self.pointer, c_void_p()
        if self._pid == os.getpid() and not _exiting:
            self._destroy(byref(pointer))
        for needed in self._needs:
            needed._users -= 1
            if needed._closing:
                needed.close()

    def __del__(self) -> None:
        # The collector may run in any thread, also during a solve.
        if _exiting or not self.pointer:
            return
        if not self.lock.enter_now():
            self.lock.pending.append(self)
            return
        self.close()
        self.lock.__exit__()


class Lock:
    """Held during calls; refuses its own thread and children of fork. Handles
    that were collected meanwhile are destroyed at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.pending: list[Handle] = []
        self.owner: int | None = None
        self.pid = os.getpid()

    def __enter__(self) -> "Lock":
        if os.getpid() != self.pid:
            raise errors.ClosedError(
                "this object was made before fork: its threads are not in "
                "this process; make it anew here"
            )
        me = threading.get_ident()
        if self.owner == me:
            raise errors.ClosedError(
                "this object is in use by the solve that calls this function, "
                "or shares its queue: make one inside the function, or give "
                "one of both a queue of its own (threads=1)"
            )
        self._lock.acquire()
        self.owner = me
        return self

    def enter_now(self) -> bool:
        """Enter if no one is in, this thread neither."""
        if not self._lock.acquire(blocking=False):
            return False
        self.owner = threading.get_ident()
        return True

    def __exit__(self, *_: Any) -> None:
        while self.pending:
            self.pending.pop().close()
        self.owner = None
        self._lock.release()


class Context:
    """A world, a queue on a device, and a lock for both."""

    def __init__(self, device: str, threads: int, comm: Any = None) -> None:
        self.lock = Lock()
        self.device = device
        self.asked_threads = threads
        self.comm = comm
        self.spoiled = False
        self._name: str | None = None
        world = c_void_p()
        if comm is None:
            check(lib.tacit_world_self(byref(world)))
        else:
            from ._mpi import world_of

            world = world_of(comm)
        self.world = Handle(world, lib.tacit_world_destroy, lock=self.lock)
        self.rank = int(lib.tacit_world_rank(world))
        self.ranks = int(lib.tacit_world_size(world))
        queue = c_void_p()
        with Held():
            check(
                lib.tacit_queue_create(
                    world, device.encode(), threads, byref(queue)
                )
            )
            self.queue = Handle(queue, lib.tacit_queue_destroy, (self.world,))

    @property
    def host(self) -> bool:
        """Are pointers of the host vectors of the device?"""
        return self.device.split("@")[0] == "host"

    @property
    def device_name(self) -> str | None:
        if self._name is None:
            room = ctypes.create_string_buffer(256)
            lib.tacit_queue_describe(self.queue.pointer, room, 256)
            self._name = text(room.value) or ""
        return self._name

    def together(self, work: Callable[[], Any]) -> Any:
        """The result of `work`, of this rank alone; an exception on any rank
        is one on all: its own, elsewhere its sentence. Collective."""
        if self.ranks == 1:
            return work()
        raised: Exception | None = None
        out, status = None, 0
        try:
            out = work()
        except Exception as error:
            raised = error
            codes = [c for c, k in errors.BY_STATUS.items() if isinstance(error, k)]
            status = set_error(
                codes[0] if codes else -1, f"rank {self.rank}: {error}"
            )
        status = lib.tacit_world_agree(self.world.pointer, status)
        if raised is not None:
            raise raised
        check(status)
        return out

    def place(self, count: int) -> tuple[int, int]:
        """The first row of this rank, which has `count`, and the rows of all.
        Collective."""
        counts = (ctypes.c_double * self.ranks)()
        counts[self.rank] = count
        check(
            lib.tacit_world_reduce(self.world.pointer, 0, self.ranks, counts)
        )
        return int(sum(counts[: self.rank])), int(sum(counts))

    def require_same(self, values: dict[str, float]) -> None:
        """InvalidError on all ranks if one has another number. Collective."""
        both = [float(v) for v in values.values()]
        most = (ctypes.c_double * (2 * len(both)))(*both, *(-v for v in both))
        check(
            lib.tacit_world_reduce(self.world.pointer, 2, len(most), most)
        )
        for k, name in enumerate(values):
            least = -most[len(both) + k]
            if least != most[k]:
                raise errors.InvalidError(
                    f"{name}: {least:g} on one rank and {most[k]:g} on "
                    "another: expected the same"
                )

    def close(self) -> None:
        """Destroy both, after all that borrows them. Collective."""
        self.queue.close()
        self.world.close()

    def __enter__(self) -> "Context":
        self.lock.__enter__()
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        self.lock.__exit__(kind, *rest)
        if kind is None:
            say()

    def __del__(self) -> None:
        if _exiting or not getattr(self, "queue", None):
            return
        if self.comm is not None and self.ranks > 1 and not self.queue._closing:
            self.queue._closing = self.world._closing = False
            self.queue.pointer = self.world.pointer = c_void_p()
            warnings.warn(
                "an object of several ranks was not closed: call close() on "
                "all ranks, or use `with`",
                ResourceWarning,
            )


class Local(NoCopy, LinearOperator):
    """A linear operator; with several ranks it takes each one's rows."""

    context: Context

    def matvec(self, x: Any) -> Any:
        """Its product with x, [rows], or this rank's rows. Collective."""
        if self.context.ranks == 1:
            return super().matvec(x)
        return self._matvec(x).reshape(np.shape(x))

    def matmat(self, X: Any) -> Any:
        """The same for several columns [rows, k]. Collective."""
        if self.context.ranks == 1:
            return super().matmat(X)
        return self._matmat(X)

    def _matmat(self, X: Any) -> Any:
        given = np.asarray(X)
        if self.context.ranks > 1:
            with self.context as c:
                c.require_same({"the columns of X": given.shape[1]})
        made = [self._matvec(x) for x in given.T]
        return np.column_stack(made) if made else np.zeros(given.shape)

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def probe(device: str) -> bool:
    """Can this process have a queue there?"""
    return bool(lib.tacit_device_probe(device.encode()) == 0)


_auto: list[str] = []


def settle_device(device: str) -> str:
    """The device that "auto" is, a GPU where there is one; "cuda:1", as other
    libraries write it, is "cuda(1)"."""
    if device != "auto":
        parts = str(device).split(":")
        number = parts[-1].isdecimal() and parts[:-1] == ["cuda"]
        return f"cuda({parts[1]})" if number else device
    if not _auto:
        _auto.append("cuda" if probe("cuda") else "host")
    return _auto[0]


_own = threading.local()


def own_context(device: str, threads: int, comm: Any) -> Context:
    """A new context, which its object closes."""
    word(device, "device")
    threads = whole(threads, "threads")
    return Context(settle_device(device), threads, comm)


def context_of(device: str, threads: int, comm: Any) -> Context:
    """This thread's context on the device, made once; with a communicator a
    new one, which its object closes."""
    word(device, "device")
    threads = whole(threads, "threads")
    device = settle_device(device)
    if comm is not None:
        return Context(device, threads, comm)
    key = (device, threads, os.getpid())
    known: dict[Any, Context] = _own.__dict__.setdefault("contexts", {})
    found = known.get(key)
    if found is None or found.spoiled or found.lock.owner is not None:
        found = Context(device, threads)
        known[key] = found
    return found



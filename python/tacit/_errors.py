# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions: one sentence each, that of the library where it has spoken."""

from __future__ import annotations

import re
from typing import Any


class Error(Exception):
    """A call that failed; `str()` is one sentence: what is wrong, where, what
    to do. Rows and columns of a matrix count from 1, as in its files; elements
    of arrays, such as rows[0] or x[0], from 0. `status` is the library's name
    of it, such as "INVALID"."""

    status = "INVALID"

    def __init__(self, sentence: Any = "") -> None:
        # names and exceptions of the caller's may hold new lines
        super().__init__(re.sub(r"\s*[\r\n]+\s*", " ", str(sentence).strip()))


class InvalidError(Error, ValueError):
    """An argument or an option that is wrong."""


class TypeRefused(Error, TypeError):
    """An argument of a type that is not taken, such as complex numbers."""


class UnsupportedError(Error, NotImplementedError):
    """Not in this build, on this machine or for this matrix."""

    status = "UNSUPPORTED"


class InputError(Error, ValueError):
    """Bad data: a file, a matrix, a right-hand side."""

    status = "INPUT"


class FileError(Error, OSError):
    """Reading or writing failed."""

    status = "IO"


class NoMemory(Error, MemoryError):
    """Memory, a file or a device that is needed is not free."""

    status = "NO_MEMORY"


class DeviceError(Error, RuntimeError):
    """The device failed."""

    status = "DEVICE"


class CommError(Error, RuntimeError):
    """A message, or another process, failed."""

    status = "COMM"


class ClosedError(Error, RuntimeError):
    """An object used after `close`, in a child of fork, or by a function that
    its own solve calls."""


class Outcome(Error):
    """A solve that ended without a solution; `x` is the best iterate, shaped
    as b, and `report` the report (see `tacit.solve`)."""

    def __init__(self, text: str, x: Any, report: Any) -> None:
        super().__init__(text)
        self.x = x
        self.report = report

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.x, self.report)


class NotConverged(Outcome, RuntimeError):
    """The iteration limit, or no further progress."""

    status = "NOT_CONVERGED"


class Breakdown(Outcome, ArithmeticError):
    """A or M is not positive definite, or numbers are not finite."""

    status = "BREAKDOWN"


class Interrupted(Outcome, KeyboardInterrupt):
    """Ctrl-C during a solve."""

    status = "INTERRUPTED"


class RankError(Outcome, RuntimeError):
    """The callback of another rank raised an exception, which ended the solve;
    the sentence names the rank and the exception."""

    status = "INTERRUPTED"


class TacitWarning(UserWarning):
    """A warning of the library, or of a conversion that loses digits."""


BY_STATUS: dict[int, type[Error]] = {
    -1: InvalidError,
    -2: UnsupportedError,
    -3: InputError,
    -4: FileError,
    -6: NoMemory,
    -7: DeviceError,
    -8: CommError,
}

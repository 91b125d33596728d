# SPDX-License-Identifier: BSD-3-Clause
"""Looks in each iteration: the caller's callback and Ctrl-C."""

from __future__ import annotations

import signal
import threading
from typing import Any, Callable

from . import _structs as st

Callback = Callable[..., Any]


class Watch:
    """The monitor of a run. An exception of the callback, or of a signal's
    handler, is kept and ends the run; so does a true result, and Ctrl-C."""

    def __init__(self, callback: Callback | None, columns: int) -> None:
        self._callback = callback
        self._old: Any = None
        self._columns = columns
        self.first_column = 0  # of a run with fewer columns
        self._function = st.Monitor(self._see)
        self.raised: BaseException | None = None
        self.ctrl_c = False
        self.asked = False
        if columns > 1:
            self._column_function = st.ColumnMonitor(self._see_column)

    def stop(self, rtol: float, atol: float, most: int) -> st.Stop:
        """The struct for the library, which borrows this object."""
        stop = st.new(st.Stop, rtol=rtol, atol=atol, max_iterations=most)
        stop.monitor = self._function
        if self._columns > 1:
            stop.column_monitor = self._column_function
        return stop

    @property
    def ended(self) -> bool:
        """Has someone asked for the end?"""
        return bool(self._end())

    def _end(self) -> int:
        return int(self.ctrl_c or self.asked or self.raised is not None)

    def _see(self, _ctx: Any, iteration: int, residual: float) -> int:
        if self._columns > 1:  # of the first one, alone
            return self._see_column(None, 0, iteration, residual)
        if self._callback is not None and not self._end():
            try:
                self.asked = bool(self._callback(iteration, residual))
            except BaseException as error:
                self.raised = error
        return self._end()

    def _see_column(
        self, _ctx: Any, column: int, iteration: int, residual: float
    ) -> int:
        if self._callback is not None and not self._end():
            try:
                column += self.first_column
                self.asked = bool(self._callback(iteration, residual, column))
            except BaseException as error:
                self.raised = error
        return self._end()

    # Python calls handlers between instructions, so also where an exception
    # would be lost between the library and the callback: they raise nothing.

    def _on_signal(self, number: int, frame: Any) -> None:
        if self._old is signal.default_int_handler:
            self.ctrl_c = True
            return
        try:
            self._old(number, frame)
        except BaseException as error:
            self.raised = error

    def raise_kept(self) -> None:
        """The exception of a signal or the callback."""
        if self.raised is not None:
            raise self.raised
        if self.ctrl_c:
            raise KeyboardInterrupt

    def __enter__(self) -> "Watch":
        if threading.current_thread() is threading.main_thread():
            old = signal.getsignal(signal.SIGINT)
            if callable(old):
                self._old = old
                signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._old is not None:
            signal.signal(signal.SIGINT, self._old)

# SPDX-License-Identifier: BSD-3-Clause
"""Looks in each iteration: the caller's callback and Ctrl-C."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _structs as st
from ._context import Context
from ._library import lib, message, set_error
from ._signals import Signals

Callback = Callable[..., Any]
_HISTORY_MOST = 65536


class Watch(Signals):
    """The monitor of a run. An exception of the callback, or of a signal's
    handler, is kept and ends the run; so does a true result, and Ctrl-C.
    `converged` is asked whether the run has converged."""

    def __init__(
        self, callback: Callback | None, columns: int,
        converged: Callback | None = None,
    ) -> None:
        super().__init__()
        self._callback = callback
        self._converged = converged
        self.history: Any = None  # [columns, room], of the last run
        self._columns = columns
        self.first_column = 0  # of a run with fewer columns
        asked = callback is not None or converged is not None
        self._function = st.Monitor(self._see if asked else self._look)
        self._stop: st.Stop | None = None
        self.asked = False
        # by column, of a method that ended before: iterations, history
        self._before = [0] * columns
        self._earlier: list[Any] = []
        self.elsewhere: str | None = None  # of a callback on another rank
        if columns > 1:
            self._column_function = st.ColumnMonitor(self._see_column)

    def stop(self, rtol: float, atol: float, most: int) -> st.Stop:
        """The struct for the library, which borrows this object."""
        room = min(most + 1, _HISTORY_MOST)
        stop = self._stop
        if stop is None or stop.history_room != room or self._columns > 1:
            stop = self._stop = self._new_stop(room)
        stop.rtol, stop.atol, stop.max_iterations = rtol, atol, most
        return stop

    def _new_stop(self, room: int) -> st.Stop:
        stop = st.new(st.Stop, history_room=room)
        stop.monitor = self._function
        stop.monitor_decides = self._converged is not None
        if self._columns > 1:
            stop.column_monitor = self._column_function
        if self.history is None or self.history.shape[1] != room:
            self.history = np.empty((self._columns, room))
        stop.history = self.history[self.first_column :].ctypes.data
        return stop

    @property
    def may_serve_again(self) -> bool:
        """Has it no callbacks, and has no one asked for the end?"""
        asked = self._callback is not None or self._converged is not None
        over = self._end() or self.elsewhere is not None
        return not (asked or self._columns > 1 or over)

    @property
    def ended(self) -> bool:
        """Has someone asked for the end?"""
        return bool(self._end())

    def _end(self) -> int:
        """The value of a monitor: it ends the run, or is 0."""
        over = self.ctrl_c or self.asked or self.raised is not None
        return -1 if over else 0

    def keep_earlier(self, results: Any) -> None:
        """The next method continues these: so do its iterations."""
        self._before = [int(r.iterations) for r in results]
        kept = zip(self.history, results)
        self._earlier = [h[: int(r.history)].copy() for h, r in kept]

    def join_history(self, results: Any) -> None:
        """The history with that of the method before, which has the residual
        of the first x of this one."""
        both = [
            np.concatenate([old, new[1 : int(r.history)]])[:_HISTORY_MOST]
            for old, new, r in zip(self._earlier, self.history, results)
        ]
        self.history = np.full((len(both), max(map(len, both))), np.nan)
        for row, values, r in zip(self.history, both, results):
            row[: len(values)] = values
            r.history = len(values)
        self._stop = None  # which has the old one
        self._before, self._earlier = [0] * len(both), []

    def _ask(self, iteration: int, residual: float, column: int = 0) -> int:
        """The callbacks, and what the monitor returns."""
        before = self._before[column]
        if before > 0 and iteration == 0:  # seen before
            return self._end()
        seen: list[Any] = [before + iteration, residual]
        if self._columns > 1:
            seen.append(column)
        done = False
        try:
            if self._callback is not None and not self._end():
                self.asked = bool(self._callback(*seen))
            if self._converged is not None and not self._end():
                done = bool(self._converged(*seen))
        except BaseException as error:
            self.raised = error
        return self._end() or int(done)

    def _look(self, _ctx: Any, iteration: int, residual: float) -> int:
        """Without callbacks, for signals."""
        return -1 if self.ctrl_c or self.raised is not None else 0

    def _see(self, _ctx: Any, iteration: int, residual: float) -> int:
        if self._columns > 1:  # of the first one, alone
            return self._see_column(None, 0, iteration, residual)
        return self._ask(iteration, residual)

    def _see_column(
        self, _ctx: Any, column: int, iteration: int, residual: float
    ) -> int:
        return self._ask(iteration, residual, column + self.first_column)

    def hear_ranks(self, c: Context) -> None:
        """A run that ended on one rank ends on all. Collective."""
        if c.ranks == 1:
            return
        mine = 2 if self.ctrl_c else 0
        if self.raised is not None:
            kind = type(self.raised).__name__
            mine = set_error(
                -1, f"rank {c.rank}: the callback raised {kind}: {self.raised}"
            )
        heard = lib.tacit_world_agree(c.world.pointer, mine)
        if heard < 0:
            self.elsewhere = message()
        self.ctrl_c = self.ctrl_c or heard == 2

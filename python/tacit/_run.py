# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a solver: one column, several, a race, and minres after cg."""

from __future__ import annotations

import ctypes
import math
import re
from ctypes import byref, c_void_p
from typing import Any

from . import _device as dev
from . import _errors as errors
from . import _structs as st
from ._context import Handle, Local
from ._library import check, lib, lib_message, message, set_error, warn
from ._function import Function
from ._joined import Earlier
from ._operator import Operator
from ._precond import Options
from ._report import race_of
from ._watch import Callback, Watch

_Results = ctypes.POINTER(st.Result)


def _one_column_on(said: str) -> str:
    """A sentence on columns of a run, in which the first one had no part."""
    return re.sub(
        r"^column (\d+):", lambda k: f"column {int(k[1]) + 1}:", said
    )


def _after(pointer: Any, count: int) -> int | None:
    """The address `count` doubles on."""
    start = pointer.value if isinstance(pointer, c_void_p) else pointer
    return None if start is None else int(start) + 8 * count


class Runs(Local):
    """The part of `tacit.Solver` that runs; pointers are the device's."""

    operator: Operator
    handle: Handle | None  # of the solver; None: method direct
    method: str
    path: dict[str, Any]
    notes: list[str]
    _M: Handle | None
    _function: Function | None
    _race: dict[str, Any] | None
    _asked: Any
    _auto: bool
    _own: bool
    _solves: int
    _loop: bytes | None
    _watch: Watch | None = None  # of the last solve, without callbacks
    earlier_race: Any = None  # of cg, where minres continued
    _ended: int = 0  # id of the report of the last solve

    def _make_solver(self, method: str) -> None:
        raise NotImplementedError

    def _describe_precond(self) -> None:
        raise NotImplementedError

    def ended_by(self, outcome: errors.Outcome) -> bool:
        """Is it of this solver's last solve, not of one by the caller's A, M or
        callback, whose exceptions come out of a solve, too?"""
        return id(outcome.report) == self._ended

    def _watch_for(
        self, callback: Callback | None, columns: int,
        converged: Callback | None,
    ) -> Watch:
        """The one of the last solve, if neither has callbacks. Within the lock
        of the context."""
        kept, self._watch = self._watch, None
        if kept is None or callback or converged or columns > 1:
            return Watch(callback, columns, converged)
        return kept

    def _run_by_buffers(
        self, b: Any, x: Any, columns: int, watch: Watch, limits: Any
    ) -> tuple[int, str, Any]:
        there = [dev.Buffer(self.operator.context, b.size) for _ in range(2)]
        try:
            there[0].put(b)
            there[1].put(x)
            run = self._run(
                there[0].pointer, there[1].pointer, columns, watch, limits
            )
            there[1].get(x)
            return run
        finally:
            for buffer in there:
                buffer.free()

    def _run(
        self, b: Any, x: Any, columns: int, watch: Watch, limits: Any
    ) -> tuple[int, str, Any]:
        """One run; its status, sentence and results."""
        self._ended = 0
        results = (st.Result * columns)()
        status = self._run_once(b, x, columns, watch, limits, results)
        if status == 3 and self._auto and self.method == "cg":
            status = self._go_on_by_minres(
                b, x, columns, watch, limits, results
            )
        said = message() if status > 0 else ""
        if status < 0:
            self.operator.context.spoiled = True
            self._raise_kept(watch)
            check(status)
        watch.hear_ranks(self.operator.context)
        return status, said, results

    def _run_once(
        self, b: Any, x: Any, columns: int, watch: Watch, limits: Any,
        results: Any,
    ) -> int:
        for r in results:
            r.size = ctypes.sizeof(st.Result)
        stop = watch.stop(*limits)
        A, n = self.operator, self.operator.local_rows
        if self.handle is None:
            assert self._M is not None
            return int(
                lib.tacit_precond_solve(
                    A.handle.pointer, self._M.pointer, columns, b, n, x, n,
                    byref(stop), results,
                )
            )
        solver = self.handle.pointer
        if self._race is not None:
            status = self._run_race(b, x, stop, results[0])
            if status < 0 or columns == 1:
                return status
            said = f"column 1: {lib_message()}" if status > 0 else ""
            others = self._run_others(b, x, columns, watch, limits, results)
            if 0 <= others <= status:
                return set_error(status, said) if status > 0 else 0
            return set_error(others, _one_column_on(lib_message()))
        if columns == 1:
            return int(
                lib.tacit_solver_run(solver, b, x, byref(stop), results)
            )
        return int(
            lib.tacit_solver_run_block(
                solver, columns, b, n, x, n, byref(stop), results
            )
        )

    def _run_others(
        self, b: Any, x: Any, columns: int, watch: Watch, limits: Any,
        results: Any,
    ) -> int:
        """All columns but the first, which the race has solved."""
        n = self.operator.local_rows
        assert self.handle is not None
        if watch.ended:
            for r in results[1:]:
                r.stop = 5
            return 2
        watch.first_column = 1
        others = byref(results, ctypes.sizeof(st.Result))
        status = lib.tacit_solver_run_block(
            self.handle.pointer, columns - 1, _after(b, n), n, _after(x, n), n,
            byref(watch.stop(*limits)), ctypes.cast(others, _Results),
        )
        watch.first_column = 0
        return int(status)

    def _run_race(self, b: Any, x: Any, stop: st.Stop, result: Any) -> int:
        """The first solve, of the first column, which finds M."""
        A, options = self.operator, self._race
        assert self.handle is not None and options is not None
        made = Options("auto", options, A.local_rows)
        race = st.new(st.PrecondRace, solves=self._solves)
        race.matrix = A.matrix.pointer if A.matrix is not None else None
        race.options.contents = made.struct
        race.loop = self._loop
        status = int(
            lib.tacit_solver_race(
                self.handle.pointer, byref(race), b, x, byref(stop),
                byref(result),
            )
        )
        if status >= 0:
            self._race = None
            if self._own:
                A.drop_entries()
            self._describe_precond()
        return status

    def _go_on_by_minres(
        self, b: Any, x: Any, columns: int, watch: Watch, limits: Any,
        results: Any,
    ) -> int:
        """A is not positive definite: method auto continues from x."""
        if not (self._asked is None or isinstance(self._asked, str)):
            return 3
        if not any(r.breakdown_quantity for r in results):
            return 3  # as x beyond the range of doubles
        if not all(math.isfinite(r.breakdown_value) for r in results):
            return 3
        if max(r.iterations for r in results) >= limits[2]:
            return 3
        if self._asked not in (None, "none", "auto", "jacobi"):
            return 3
        self.notes.append(
            "A is not positive definite: minres continued where cg broke down"
        )
        warn(self.notes[-1])
        old, self._asked = self.handle, "jacobi"
        try:
            self._make_solver("minres")
        except errors.InputError:  # a diagonal with zeros
            self._asked = "none"
            self._make_solver("minres")
        assert old is not None
        self.earlier_race = race_of(old.pointer)
        old.close()
        self.method = self.path["method"] = "minres"
        self._race = None
        self._describe_precond()
        return self._run_rest(b, x, columns, watch, limits, results)

    def _run_rest(
        self, b: Any, x: Any, columns: int, watch: Watch, limits: Any,
        results: Any,
    ) -> int:
        """What is left of the iterations, by the method that continues."""
        earlier = Earlier(results, watch)
        rtol, atol, most = limits
        left = (rtol, atol, most - earlier.most)
        status = self._run_once(b, x, columns, watch, left, results)
        if status < 0:
            return status
        said = lib_message()
        earlier.add_to(results, watch)
        if status == 0:
            return 0
        return set_error(status, earlier.add_to_sentence(said))

    def _raise_kept(self, watch: Watch) -> None:
        """Exceptions of the caller's functions come out again."""
        for f in (self._function, self.operator.function):
            if f is not None and f.raised is not None:
                raised, f.raised = f.raised, None
                raise raised
        if watch.raised is not None:
            raise watch.raised

# SPDX-License-Identifier: BSD-3-Clause
"""Solves A x = b."""

from __future__ import annotations

import time
from ctypes import byref, c_void_p
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _device as dev
from . import _errors as errors
from ._arguments import count_columns, is_own, note_of_factor
from ._arguments import refuse_beside_a_factor, refuse_unknown, settings_of
from ._arguments import target
from ._arrays import at, columns_of, guess_of, like, require_finite
from ._context import Handle
from ._library import check, lib, shown, whole, word
from ._mpi import agree
from ._operator import Operator
from ._precond import Preconditioner, function_of, make, renew, split_name
from ._precond import varies
from ._report import Report, describe, path_of, precond_info, precond_of
from ._report import report_of
from ._run import Runs
from ._signals import Held
from ._watch import Callback, Watch

_MOST = 2**62
_OUTCOMES = {1: errors.NotConverged, 3: errors.Breakdown}


@cache
def _known() -> tuple[str, ...]:
    of_solver = signature(Solver.__init__).parameters
    return (*of_solver, *signature(Operator.__init__).parameters)


class Solver(Runs):
    """Solves with one matrix for many right-hand sides; set up once. As a
    LinearOperator it is the inverse: `solver @ b` is x.

    A        what `tacit.Operator` takes, or one
    method   "auto": "cg", or "direct" if A is not symmetric; if cg finds that
             A is not positive definite, "minres" continues. Else a name of
             `tacit help methods`: "cg", "single", "pipelined", "flexible",
             "pipe-pr", "sstep", "minres", "direct"
    precond  "auto": found out by the first solve; "none", "jacobi", "amg",
             "ic0", "ic1", "amg(cycle=k, degree=3)"; a `Preconditioner`; a
             LinearOperator, matrix or function that applies M. With method
             "minres" "auto" is "jacobi", or "none" where a diagonal entry is 0
    rtol, atol      done when ||b - A x|| <= max(rtol ||b||, atol)
    max_iterations  at most
    solves   how many it is for: "auto" counts the set-up
    check    look whether A is symmetric: InputError names the first entry
             without its partner
    settings        of the method by name: steps=4, basis="newton", loop="graph"
    device, threads, format, shift, norm, rows, comm   as for `tacit.Operator`

    >>> import tacit
    >>> with tacit.Solver("poisson3d:8", precond="jacobi") as s:
    ...     x, report = s.solve([1.0] * 512)
    >>> report["result"]["converged"]
    True
    """

    def __init__(
        self,
        A: Any,
        *,
        method: str = "auto",
        precond: Any = "auto",
        rtol: float = 1e-8,
        atol: float = 0.0,
        max_iterations: int = 10000,
        solves: int = 1,
        check: bool = True,
        settings: dict[str, Any] | None = None,
        **of_operator: Any,
    ) -> None:
        self._closed = False
        self._auto = method == "auto"
        self._own = not isinstance(A, Operator)
        self._asked = precond

        def take() -> None:
            self.rtol, self.atol = target(rtol, "rtol"), target(atol, "atol")
            self.max_iterations = whole(
                max_iterations, "max_iterations", 1, _MOST
            )
            self._solves = whole(solves, "solves", 1, _MOST)
            self._settings = settings_of(settings)
            if isinstance(method, str) and method == "direct":
                refuse_beside_a_factor(precond, self._settings)
            refuse_unknown(of_operator, _known())
            if isinstance(A, Operator):
                A.require_open()
                A.refuse_options(**of_operator)

        comm = of_operator.get("comm") if self._own else A.context.comm
        agree(comm, take, {
            "method": method, "settings": settings, "check": check,
            "precond": "a function" if is_own(precond) else
            getattr(precond, "name", precond),
        })
        plain = precond is None or (
            isinstance(precond, str) and precond in ("none", "jacobi")
        )
        if isinstance(A, Operator):
            self.operator = A
        else:
            self.operator = Operator(
                A, _take=plain and method != "direct", _look=check,
                solves=self._solves, _alone=is_own(precond), **of_operator,
            )
        self.context = self.operator.context
        self.notes = list(self.operator.notes)
        start = time.perf_counter()
        try:
            with self.operator.context, Held():
                self._set_up(method)
        except BaseException:
            if self._own:
                self.operator.close()
            raise
        self.setup_seconds = time.perf_counter() - start
        super().__init__(np.dtype(np.float64), self.operator.shape)

    # --- set-up

    def _set_up(self, method: str) -> None:
        A = self.operator
        self.operator_info = describe(A.handle)
        self.handle = None
        self._M = None
        self._function = None
        self._race = None
        if self._auto and A.symmetric is False:
            A.require_whole()
            method = "direct"
            self.notes.append(note_of_factor(self._asked, self._settings))
        elif self._auto:
            method = "flexible" if varies(self._asked) else "cg"
        word(method, "method")
        if method == "direct":
            self._M = make(A, "direct", {"kind": "auto"})
        else:
            A.require_symmetric()
            self._make_solver(method)
        self.method = method
        self.path = path_of(A, self.operator_info, method)
        if self._own and self._race is None:
            A.drop_entries()
        self._describe_precond()

    def _make_solver(self, method: str) -> None:
        A = self.operator
        pointer = c_void_p()
        check(
            lib.tacit_solver_create(
                A.context.queue.pointer, A.handle.pointer, word(method, "method"),
                byref(pointer),
            )
        )
        self.handle = Handle(
            pointer, lib.tacit_solver_destroy, (A.handle, A.context.queue)
        )
        for name, value in self._settings.items():
            words = (
                word(name, "a setting").replace(b"_", b"-"),
                word(str(value), str(name)),
            )
            check(lib.tacit_solver_set(pointer, *words))
        named = self._asked if isinstance(self._asked, str) else ""
        if method == "minres" and named == "auto":
            self._asked = self._plain_precond(pointer)
        self._set_precond(self._asked)
        # on a GPU the fastest loop, as the program has it
        here = A.context.host or "loop" in self._settings
        self._loop = None if here else b"auto"
        if self._loop and self._race is None:
            check(lib.tacit_solver_set(pointer, b"loop", self._loop))

    def _plain_precond(self, solver: Any) -> str:
        """A name that suits every symmetric matrix: jacobi, or none
        where an entry of it is 0."""
        if lib.tacit_solver_set(solver, b"precond", b"jacobi") == 0:
            return "jacobi"
        return "none"

    def _set_precond(self, asked: Any) -> None:
        assert self.handle is not None
        solver = self.handle.pointer
        if asked is None:
            return
        if isinstance(asked, Preconditioner):
            asked.require_open()
        if isinstance(asked, Preconditioner) and (
            asked.operator.context is self.operator.context
        ):
            self._use(asked.handle)
        elif not isinstance(asked, str):
            self._function = function_of(self.operator, asked)
            self._use(self._function.handle)
        else:
            name, options = split_name(asked)
            if name == "auto":
                self._race = options
            elif name in ("none", "jacobi") and not options:
                status = lib.tacit_solver_set(solver, b"precond", name.encode())
                if status == -2:
                    self.operator.require_entries(name)
                check(status)
            else:
                self._M = make(self.operator, name, options)
                self._use(self._M)

    def _use(self, M: Handle) -> None:
        assert self.handle is not None
        check(lib.tacit_solver_set_precond(self.handle.pointer, M.pointer))
        M._users += 1  # until the solver is destroyed
        self.handle._needs += (M,)

    def _describe_precond(self) -> None:
        if self.handle is not None:
            M = lib.tacit_solver_precond(self.handle.pointer)
        else:
            M = self._M.pointer if self._M is not None else None
        if self._function is not None:
            self.precond_name, self.precond_report = "function", None
        else:
            name = precond_info(M).name
            self.precond_name = name.decode() if name else "none"
            self.precond_report = precond_of(M)

    # --- a solve

    def solve(
        self,
        b: Any,
        x0: Any = None,
        *,
        callback: Callback | None = None,
        converged: Callback | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_iterations: int | None = None,
        _sees: Any = None,
    ) -> tuple[Any, Report]:
        """Solve A x = b.

        b         [rows] or [rows, k], k systems at once; with `comm` this
                  rank's rows. On a GPU an array of CuPy, PyTorch or JAX there
                  is used in place, as is the x returned
        x0        first guess, shaped as b; zeros
        callback  called as callback(iteration, relative_residual), for several
                  columns with the column as a third argument; a true result
                  ends the solve, an exception comes out of this call, on other
                  ranks as RankError
        converged called alike: a convergence test besides rtol and atol, which
                  may be 0; a true result ends the solve as converged, stop
                  "monitor". With several ranks it must be true on one; not for
                  method "direct"

        The report's result has `history`, the relative residual of each
        iteration. Returns x, shaped as b, and the report. Raises NotConverged,
        Breakdown, RankError, and Interrupted after Ctrl-C on any rank: all of
        them have x and report.
        """
        if self._closed:
            raise errors.ClosedError("this solver was closed: make another")
        functions = {"callback": callback, "converged": converged}

        def limit() -> tuple[float, float, int]:
            for what, f in functions.items():
                if f is not None and not callable(f):
                    raise errors.InvalidError(
                        f"{what} is {shown(f)}, no function"
                    )
            if converged is not None and self.handle is None:
                raise errors.InvalidError(
                    "converged is not for method 'direct': give rtol or atol"
                )
            return (
                self.rtol if rtol is None else target(rtol, "rtol"),
                self.atol if atol is None else target(atol, "atol"),
                self.max_iterations if max_iterations is None
                else whole(max_iterations, "max_iterations", 1, _MOST),
            )

        if dev.is_foreign(b):
            return self._solve_there(b, x0, callback, converged, limit())
        notes: list[str] = []
        given, x, limits = self._take(
            b, x0, notes, limit, converged is not None
        )
        if _sees is not None:
            _sees.x = x
        for note in notes:
            if note not in self.notes:
                self.notes.append(note)
        columns = 1 if given.ndim == 1 else given.shape[1]
        with (
            self.operator.context as c,
            self._watch_for(callback, columns, converged) as watch,
        ):
            if c.host:
                run = self._run(at(given), at(x), columns, watch, limits)
            else:
                run = self._run_by_buffers(given, x, columns, watch, limits)
            if run[0] == 3:  # looked at only now, since it is long
                c.together(lambda: require_finite(x0))
        return self._conclude(run, like(b, x), given.ndim > 1, watch)

    def _take(
        self, b: Any, x0: Any, notes: list[str], limit: Any, decides: bool
    ) -> tuple[Any, Any, Any]:
        """b, the first guess and the limits as the library takes them."""

        def take() -> tuple[Any, Any, Any]:
            given = columns_of(b, self.operator.local_rows, "b", notes)
            x = guess_of(x0, given, notes)
            if self.handle is None:
                require_finite(x0)
            return given, x, limit()

        c = self.operator.context
        if c.ranks == 1:
            return take()
        with c:
            given, x, limits = c.together(take)
            columns = 0 if given.ndim == 1 else given.shape[1]
            c.require_same({
                "the columns of b": columns, "rtol": limits[0],
                "atol": limits[1], "max_iterations": limits[2],
                "whether converged is given": decides,
            })
        return given, x, limits

    def _solve_there(
        self, b: Any, x0: Any, callback: Callback | None,
        converged: Callback | None, limits: Any,
    ) -> tuple[Any, Report]:
        """For b in the memory of a GPU."""
        c = self.operator.context
        dev.require_gpu(b, c.device, "b")
        with c:
            stream = dev.stream_of(c)
            given = dev.View(b, "b", stream)
            rows = self.operator.local_rows
            if given.shape[:1] != (rows,) or len(given.shape) > 2:
                raise errors.InvalidError(
                    f"b has the shape {given.shape}: expected ({rows},) or "
                    f"({rows}, columns)"
                )
            x = dev.zeros_like(b) if x0 is None else x0 + dev.zeros_like(b)
            made = dev.View(x, "x0", stream)
            several = len(given.shape) > 1
            columns = given.shape[1] if several else 1
            with self._watch_for(callback, columns, converged) as watch:
                run = self._run(
                    given.pointer, made.pointer, columns, watch, limits
                )
        return self._conclude(run, x, several, watch)

    def _conclude(
        self, run: tuple[int, str, Any], x: Any, several: bool, watch: Watch
    ) -> tuple[Any, Report]:
        status, said, results = run
        self._raise_kept(watch)
        report = report_of(self, results, several, watch.history)
        self._ended = id(report)
        if watch.elsewhere is not None:
            raise errors.RankError(watch.elsewhere, x, report)
        if watch.ctrl_c:
            raise errors.Interrupted(
                "interrupted by Ctrl-C: x and report are in this exception",
                x, report,
            )
        if watch.may_serve_again:
            self._watch = watch
        if status in _OUTCOMES:
            raise _OUTCOMES[status](said, x, report)
        return x, report

    @property
    def condition(self) -> float | None:
        """A lower bound for the condition number of M A, from the last solve;
        None: not known, as of several columns, minres, sstep and on a GPU."""
        if self._closed:
            raise errors.ClosedError("this solver was closed: make another")
        if self.handle is None:
            return None
        with self.operator.context:
            found = lib.tacit_solver_condition(self.handle.pointer)
        return float(found) or None

    # --- a linear operator: the inverse

    def _matvec(self, b: Any) -> Any:
        return self.solve(np.asarray(b).reshape(-1))[0]

    def _matmat(self, B: Any) -> Any:
        return self.solve(B)[0]

    def _rmatvec(self, b: Any) -> Any:
        return self._adjoint()._matvec(b)

    def _adjoint(self) -> LinearOperator:
        if self.handle is None:  # other methods take A for symmetric
            self.operator.require_own_adjoint("solves")
        return self

    # --- new values

    def update(self, A: Any = None) -> None:
        """New values of the same pattern, as `Operator.update`; the
        preconditioner takes them, too; one of another operator, if that has
        them: else InvalidError. Precond "auto" is found anew by the next
        solve."""
        if self._closed:
            raise errors.ClosedError("this solver was closed: make another")
        M = self._asked
        other = isinstance(M, Preconditioner) and M.operator is not self.operator
        with Held():  # to the end, since M belongs to the values
            self.operator.update(A, _first=M.take_values if other else None)
            with self.operator.context:
                if self._M is not None:
                    renew(self._M, self.operator)
                elif isinstance(M, Preconditioner) and not other:
                    renew(M.handle, self.operator)
                if isinstance(self._asked, str) and self.handle is not None:
                    name, options = split_name(self._asked)
                    self._race = options if name == "auto" else None
                if self._own and self._race is None:
                    self.operator.drop_entries()

    def close(self) -> None:
        """Free it, and the operator if it has made that itself. Collective
        with several ranks."""
        if self._closed:
            return
        with self.operator.context:
            self._closed = True
            for handle in (self.handle, self._M):
                if handle is not None:
                    handle.close()
            if self._function is not None:
                self._function.handle.close()
        if self._own:
            self.operator.close()


def solve(
    A: Any,
    b: Any,
    rtol: float = 1e-8,
    method: str = "auto",
    precond: Any = "auto",
    device: str = "auto",
    *,
    x0: Any = None,
    callback: Callback | None = None,
    converged: Callback | None = None,
    **keywords: Any,
) -> tuple[Any, Report]:
    """Solve A x = b for a sparse symmetric A: x and a report.

    A and the keywords are those of `tacit.Solver`, b, x0, callback and
    converged those of its `solve`. A csr matrix of doubles with ascending
    columns is used in place, and no other thread may change it meanwhile; with
    functions of the caller's, which could, it is copied. The residual b - A x
    is formed anew before a solve ends.

    >>> import numpy, scipy.sparse, tacit
    >>> A = scipy.sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (100, 100))
    >>> x, report = tacit.solve(A, numpy.ones(100))
    >>> bool(abs(A @ x - 1).max() < 1e-6), report["result"]["stop"]
    (True, 'rtol')
    """
    called = callback is not None or converged is not None or is_own(precond)
    if isinstance(A, Operator):
        A.refuse_options(device=device)
        solver = Solver(
            A, method=method, precond=precond, rtol=rtol, **keywords
        )
    else:
        columns = count_columns(keywords.get("comm"), b)
        solver = Solver(
            A, method=method, precond=precond, rtol=rtol, device=device,
            **{"solves": columns, "_borrow": not called, **keywords},
        )
    with solver:
        return solver.solve(b, x0, callback=callback, converged=converged)

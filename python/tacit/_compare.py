# SPDX-License-Identifier: BSD-3-Clause
"""Methods and preconditioners on one problem, ranked by time."""

from __future__ import annotations

import html
from typing import Any, Sequence

import numpy as np

from . import _errors as errors
from ._operator import Operator
from ._solver import Solver


class Comparison(list[dict[str, Any]]):
    """Rows of `compare`, the fastest first; those that failed, last."""

    _NAMES = ("method", "precond", "iterations", "true_relative_residual",
              "setup", "solve", "total", "stop")

    def _cell(self, value: Any) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    def __str__(self) -> str:
        lines = ["\t".join(self._NAMES)]
        for row in self:
            lines.append("\t".join(self._cell(row[n]) for n in self._NAMES))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = str(self).split("\n")
        rows = (
            "".join(f"<td>{html.escape(c)}</td>" for c in line.split("\t"))
            for line in lines
        )
        return "<table>" + "".join(f"<tr>{r}</tr>" for r in rows) + "</table>"


def _report(A: Operator, solver: Solver, b: Any) -> Any:
    """The report of a solve, or the error of the library that ended it. What
    the caller's function raises, and Ctrl-C, end the comparison."""
    try:
        return solver.solve(b)[1]
    except (errors.NotConverged, errors.Breakdown) as outcome:
        if not solver.ended_by(outcome):
            raise
        return outcome.report
    except (errors.Interrupted, errors.RankError):
        raise
    except errors.Error as error:
        if A.function is not None:
            raise
        return error


def _row(A: Operator, b: Any, method: str, precond: str, keywords: Any) -> Any:
    row: dict[str, Any] = {"method": method, "precond": precond}
    try:
        solver = Solver(A, method=method, precond=precond, **keywords)
    except errors.Error as error:
        report: Any = error
    else:
        with solver:
            report, setup = _report(A, solver, b), solver.setup_seconds
    if isinstance(report, errors.Error):
        blank = dict.fromkeys(Comparison._NAMES[2:])
        return {**row, **blank, "stop": str(report), "converged": False}
    r = report["result"]
    solve = report["time"]["solve"]
    return {
        **row, "iterations": r["iterations"], "stop": r["stop"],
        "true_relative_residual": r["true_relative_residual"],
        "setup": setup, "solve": solve, "total": setup + solve,
        "converged": r["converged"],
    }


def _names(given: Sequence[str] | str) -> list[str]:
    """One name, or several."""
    try:
        return [given] if isinstance(given, str) else list(given)
    except TypeError:
        raise errors.InvalidError(f"{given!r}: expected names") from None


def compare(
    A: Any,
    b: Any = None,
    methods: Sequence[str] | str = ("cg", "single", "pipelined", "sstep"),
    preconds: Sequence[str] | str = ("none", "jacobi", "amg", "ic0"),
    *,
    device: str = "auto",
    threads: int = 0,
    **keywords: Any,
) -> Comparison:
    """Solve A x = b, b of ones unless given, with each method and each
    preconditioner ("direct" has none), and rank them by the time of set-up and solve in seconds;
    the set-up of the matrix is shared. The program `tacit compare` has more
    paths. `keywords` are those of `Solver`: rtol, max_iterations.

    >>> import tacit
    >>> rows = tacit.compare("poisson2d:12", preconds=["none", "jacobi"])
    >>> len(rows), rows[0]["converged"]
    (8, True)
    """
    given = isinstance(A, Operator)
    methods, preconds = _names(methods), _names(preconds)
    if given:
        A.require_open()
        A.refuse_options(device=device, threads=threads)
    operator = A if given else Operator(
        A, device=device, threads=threads, _look=True
    )
    try:
        operator.require_symmetric()
        if b is None:
            b = np.ones(operator.local_rows)
        if np.ndim(b) != 1:
            raise errors.InvalidError("compare takes one right-hand side")
        rows = [
            _row(operator, b, m, p, keywords) for m in methods
            for p in (["none"] if m == "direct" else preconds)
        ]
    finally:
        if not given:
            operator.close()
    rows.sort(key=lambda r: (not r["converged"], r["total"] or 0.0))
    return Comparison(rows)

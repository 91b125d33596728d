# SPDX-License-Identifier: BSD-3-Clause
"""The report of a solve: a dict with the names of `tacit solve --json`."""

from __future__ import annotations

import html
import math
from ctypes import byref
from typing import Any

from . import _structs as st
from ._library import lib, text, version

_STOPS = (
    "rtol",
    "atol",
    "max_iterations",
    "stagnation",
    "breakdown",
    "interrupted",
    "least_squares",
    "iterations",
    "monitor",
    "singular",
)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


_OPERATOR_INFO = [row[0] for row in st.OperatorInfo._fields_[1:]]


class Report(dict[str, Any]):
    """The course of a solve: `matrix`, `path`, `precond`, `precond_race`,
    `result` (or `results`, one for each column), `time` in seconds, `notes`.
    Keys that do not apply are None, as in the program's JSON."""

    def __missing__(self, key: Any) -> Any:
        for part in ("result", "path", "time", "matrix"):
            if key in self.get(part, ()):
                raise KeyError(f"{key!r} is in report[{part!r}]")
        if key == "result":
            raise KeyError("several columns have 'results', a list")
        raise KeyError(key)

    @property
    def worst(self) -> dict[str, Any]:
        """The result of the column that needed most, or the only one."""
        if "result" in self:
            return dict(self["result"])
        return dict(
            max(
                self["results"],
                key=lambda r: (not r["converged"], r["iterations"]),
            )
        )

    def _lines(self) -> list[tuple[str, str]]:
        r, p, t = self.worst, self["path"], self["time"]
        out = "converged" if r["converged"] else "not converged"
        lines = [
            ("result", f"{out} after {r['iterations']} iterations "
             f"(stop: {r['stop']})"),
            ("||b - A x|| / ||b||", f"{r['true_relative_residual']:.6e}"),
            ("path", " ".join(
                f"{k}={p[k]}" for k in
                ("method", "loop", "comm", "device", "format", "precond",
                 "ranks", "threads"))),
            ("time", f"set-up {t['setup']:.3g} s, solve {t['solve']:.3g} s"),
        ]
        return lines + [("note", note) for note in self["notes"]]

    def __str__(self) -> str:
        return "\n".join(f"{name:<21}{what}" for name, what in self._lines())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(what)}</td></tr>"
            for name, what in self._lines()
        )
        return f"<table>{rows}</table>"


def describe(handle: Any) -> dict[str, Any]:
    """tacit_operator_describe as a dict."""
    info = st.new(st.OperatorInfo)
    lib.tacit_operator_describe(handle.pointer, byref(info))
    out = {}
    for name in _OPERATOR_INFO:
        value = getattr(info, name)
        out[name] = text(value) if type(value) is bytes else value
    return out


def history_of(r: st.Result, kept: Any) -> list[float | None] | None:
    """The relative residual of each iteration, from 0, None for one that the
    method did not look at; of the first 65,536."""
    if kept is None:
        return None
    values: list[float | None] = kept[: r.history].tolist()
    return [v if v == v else None for v in values]


def result_of(r: st.Result, mixed: bool, kept: Any = None) -> dict[str, Any]:
    """One result, as in the JSON, and its history."""
    made = {
        m.method.decode(): m.iterations for m in r.made if m.method is not None
    }
    broken = None
    if r.breakdown_quantity:
        broken = {
            "iteration": r.breakdown_iteration,
            "quantity": text(r.breakdown_quantity),
            "value": _number(r.breakdown_value),
        }
    return {
        "converged": r.converged,
        "stop": _STOPS[r.stop] if 0 <= r.stop < len(_STOPS) else "unknown",
        "iterations": r.iterations,
        "relative_residual": _number(r.relative_residual),
        "true_relative_residual": _number(r.true_relative_residual),
        "measure": _number(r.measure),
        "error_2norm": None,
        "norm_b": _number(r.norm_b),
        "restarts": r.restarts,
        "replacements": r.replacements,
        "extra_products": r.extra_products,
        "bits": r.bits,
        "reliable_updates": r.reliable_updates if mixed else None,
        "fallback": r.fell_back if mixed else None,
        "fallback_at": r.fell_back_at if r.fell_back else None,
        "rescued_by": text(r.rescued_by),
        "rescued_at": r.rescued_at if r.rescued_by else None,
        "made": made or None,
        "attainable": r.attainable if r.attainable > 0.0 else None,
        "backward_error": None,  # Operator.accuracy, of two products
        "componentwise_backward_error": None,
        "null_vectors": r.null_vectors,
        "outside": r.outside if r.null_vectors > 0 else None,
        "breakdown": broken,
        "history": history_of(r, kept),
    }


def precond_info(pointer: Any) -> st.PrecondInfo:
    info = st.new(st.PrecondInfo)
    if pointer:
        lib.tacit_precond_describe(pointer, byref(info))
    return info


def precond_of(pointer: Any) -> dict[str, Any] | None:
    """The levels of a preconditioner that has some."""
    info = precond_info(pointer)
    if info.levels == 0:
        return None
    levels: list[dict[str, Any]] = []
    while row := lib.tacit_precond_level_at(pointer, len(levels)):
        level = row.contents
        levels.append(
            {
                "rows": level.rows,
                "nonzeros": level.nonzeros,
                "bytes": level.bytes,
                "format": text(level.format),
                "bits": level.bits,
                "largest_eigenvalue": level.largest or None,
            }
        )
    return {
        "name": text(info.name),
        "detail": text(info.detail),
        "end": text(info.end),
        "bytes": info.bytes,
        "grid_complexity": info.grid_complexity,
        "operator_complexity": info.operator_complexity,
        "setup": info.setup_seconds,
        "convergence": None,
        "levels": levels,
    }


def race_of(solver: Any) -> list[dict[str, Any]] | None:
    """The trials of a race."""
    trials: list[dict[str, Any]] = []
    while row := lib.tacit_solver_trial_at(solver, len(trials)):
        t = row.contents
        trials.append(
            {
                "name": text(t.name),
                "picked": t.picked,
                "reason": text(t.reason),
                "setup": t.setup_seconds,
                "seconds": t.seconds,
                "iterations": t.iterations,
                "reached": t.reached if t.iterations else None,
                "solve": t.solve_seconds or None,
                "alone": t.alone,
            }
        )
    return trials or None


def decisions_of(operator: Any) -> list[dict[str, Any]]:
    """Decisions of the operator during solves."""
    made: list[dict[str, Any]] = []
    pointer = operator.handle.pointer
    while row := lib.tacit_operator_decision_at(pointer, len(made)):
        d = row.contents
        made.append(
            {
                "what": text(d.what),
                "outcome": text(d.outcome),
                "products": d.products,
                "cost": d.cost,
                "gain": _number(d.gain),
            }
        )
    return made


def path_of(operator: Any, info: dict[str, Any], method: str) -> dict[str, Any]:
    """Choices; `loop` and `precond` come with the solve."""
    c = operator.context
    q = c.queue.pointer
    bits = info["low_bits"]
    return {
        "method": method,
        "loop": None,
        "loop_detail": None,
        "comm": text(lib.tacit_queue_link(q)),
        "comm_detail": text(lib.tacit_queue_link_detail(q)),
        "device": c.device,
        "device_name": c.device_name,
        "format": info["format"],
        "format_detail": info["detail"],
        "bytes_per_nonzero": info["bytes_per_nonzero"],
        "precision": {0: "double", 32: "mixed", 48: "mixed48"}.get(bits),
        "order": info["order"],
        "order_seconds": info["order_seconds"],
        "copy_seconds": info["copy_seconds"] or None,
        "store_seconds": info["store_seconds"] or None,
        "precond": None,
        "partition": "contiguous",
        "ranks": c.ranks,
        "threads": info["threads"] or lib.tacit_queue_threads(q),
        "oversubscribed": None,
    }


def matrix_of(operator: Any, info: dict[str, Any]) -> dict[str, Any]:
    rows, entries = operator.shape[0], info["nonzeros"]
    known = entries > 0
    return {
        "name": operator.name,
        "rows": rows,
        "nonzeros": entries if known else None,
        "shift": 0.0,
        "nonzeros_per_row": {
            "min": info["row_min"],
            "mean": entries / rows if rows else 0.0,
            "max": info["row_max"],
        }
        if known
        else None,
        "explicit_zeros": None,
        "summed": None,
        "format": "function" if operator.matrix is None else None,
    }


def times_of(operator: Any, solver: Any, r: st.Result) -> dict[str, Any]:
    setup = operator.setup_seconds + solver.setup_seconds
    return {
        "whole": setup + r.seconds,
        "read": 0.0,
        "check": operator.check_seconds,
        "partition": 0.0,
        "context": None,
        "setup": setup,
        "solve": r.seconds,
        "per_iteration": r.seconds / r.iterations if r.iterations else None,
        "all_solves": [r.seconds],
        "total": None,
    }


def report_of(
    solver: Any, results: Any, several: bool, history: Any = None
) -> Report:
    """The report of a run; `results` and the rows of `history` are those of
    the columns."""
    info = st.new(st.OperatorInfo)
    lib.tacit_operator_describe(solver.operator.handle.pointer, byref(info))
    mixed = info.low_bits > 0
    longest = first = results[0]
    if several:
        longest = max(results, key=lambda r: int(r.iterations))
        first = next((r for r in results if r.loop), longest)
    path = solver.path.copy()
    path["format"] = text(info.format)  # which a solve may change
    path["format_detail"] = text(info.detail)
    path["bytes_per_nonzero"] = info.bytes_per_nonzero
    path["loop"] = text(first.loop)
    path["loop_detail"] = text(first.loop_detail)
    path["precond"] = solver.precond_name
    out = Report(
        tacit=version(),
        matrix=matrix_of(solver.operator, solver.operator_info),
        path=path,
        precond=solver.precond_report,
        factor=None,
        precond_race=solver.earlier_race or (
            race_of(solver.handle.pointer) if solver.handle else None
        ),
    )
    kept = [None] * len(results) if history is None else history
    made = [result_of(r, mixed, h) for r, h in zip(results, kept)]
    if several:
        out["results"] = made
    else:
        out["result"] = made[0]
    out["norm"] = "residual"
    out["condition"] = None  # Solver.condition, which takes time
    out["decisions"] = decisions_of(solver.operator)
    out["time"] = times_of(solver.operator, solver, longest)
    out["operations"] = out["rate"] = out["memory"] = None
    out["notes"] = list(solver.notes)
    return out

# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi iterations on grids."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any, Callable

import numpy as np

from . import _errors as errors
from . import _structs as st
from ._arguments import target
from ._arrays import at, doubles
from ._context import Handle, context_of, settle_device
from ._library import check, lib, message, number, shown, text, version
from ._library import whole, word
from ._report import Report
from ._watch import Watch

_AXES = {"x": 1, "y": 2, "z": 4}


def _stencil(
    u: Any, shape: str | None, periodic: str, boundary: float, weights: Any
) -> st.Stencil:
    if u.ndim not in (2, 3) or 0 in u.shape:
        raise errors.InvalidError(
            f"u has the shape {u.shape}: expected (ny, nx) or (nz, ny, nx)"
        )
    s = st.new(st.Stencil, boundary=number(boundary, "boundary"))
    s.shape = word(shape or f"star{u.ndim}d1r", "shape")
    s.type = b"float" if u.dtype == np.float32 else b"double"
    for axis, cells in enumerate(reversed(u.shape)):
        s.n[axis] = cells
    if not isinstance(periodic, str) or set(periodic) - set(_AXES):
        raise errors.InvalidError(
            f"periodic is {periodic!r}: expected letters of 'xyz'"
        )
    s.periodic = sum(_AXES[letter] for letter in set(periodic))
    if weights is not None:
        s.weights = 1
        try:
            s.centre, s.neighbours = (float(w) for w in weights)
        except (TypeError, ValueError):
            raise errors.InvalidError(
                f"weights is {shown(weights)}: expected two numbers, C and N"
            ) from None
    return s


def _report(r: st.FieldResult, device: str, u: Any, seconds: float) -> Report:
    way = text(r.way)
    trials = [
        {
            "way": text(t.way),
            "depth": t.depth,
            "step_seconds": t.step_seconds,
        }
        for t in r.trial[: r.trials]
    ]
    measured = bool(np.isfinite(r.change))
    return Report(
        tacit=version(),
        grid={"n": list(reversed(u.shape)), "cells": int(u.size),
              "type": "float" if u.dtype == np.float32 else "double"},
        path={"way": way, "depth": r.depth, "device": device,
              "threads": r.threads, "loop": text(r.loop), "trials": trials},
        result={"converged": None, "steps": r.steps,
                "change": r.change if measured else None,
                "changed_at": r.changed_at if measured else None,
                "first_change": r.first_change if measured else None},
        time={"steps": seconds, "step_min": r.step_seconds},
        rate={"bytes_a_step": r.bytes, "moved_bytes_a_step": r.moved_bytes},
        notes=[],
    )


class _GridReport(Report):
    def _lines(self) -> list[tuple[str, str]]:
        r, p = self["result"], self["path"]
        return [
            ("result", f"{r['steps']} steps, change {r['change']}"),
            ("path", f"way={p['way']} depth={p['depth']} "
             f"device={p['device']} threads={p['threads']}"),
            ("time", f"{self['time']['steps']:.3g} s"),
        ]


def jacobi(
    u: Any,
    steps: int,
    *,
    shape: str | None = None,
    periodic: str = "",
    boundary: float = 0.0,
    weights: tuple[float, float] | None = None,
    rtol: float = 0.0,
    norm_every: int = 0,
    callback: Callable[[int, float], Any] | None = None,
    way: str = "auto",
    depth: int = 0,
    device: str = "auto",
    threads: int = 0,
) -> tuple[Any, Report]:
    """Make steps of Jacobi's iteration on a grid.

    u         [ny, nx] or [nz, ny, nx] of float64, or float32, which stays so;
              not changed
    shape     of the stencil: "star2d1r", "box2d1r", "star3d1r", "box3d1r"; a
              star unless given
    periodic  directions that close, letters of "xyz"
    boundary  value of the cells outside the other sides
    weights   (C, N): a cell becomes C c + N (sum of neighbours); None: the
              mean of its neighbours
    rtol      stop when a step's change is at most rtol times the first one's
    norm_every  the change is measured at multiples of this
    callback  called as callback(step, change) after these; a true result ends
    way, depth  how steps are made, "auto": measured; the same bits in any case

    Returns the new grid and a report with the names of `tacit jacobi --json`.
    Raises NotConverged if rtol is not met, with x the grid.

    >>> import numpy, tacit
    >>> u, report = tacit.jacobi(numpy.ones((4, 4)), 1)
    >>> float(u[0, 0]), float(u[1, 1]), report["result"]["steps"]
    (0.5, 1.0, 1)
    """
    notes: list[str] = []
    start = np.asarray(u)
    if start.dtype != np.float32:
        start = doubles(start, "u", notes)
    stencil = _stencil(start, shape, periodic, boundary, weights)
    cells = np.ascontiguousarray(start, dtype=np.float64)
    options = st.new(
        st.FieldOptions, steps=whole(steps, "steps", 0, 2**62),
        way=word(way, "way"), depth=whole(depth, "depth"),
        norm_every=whole(norm_every, "norm_every", 0, 2**62),
        rtol=target(rtol, "rtol"),
    )
    result = st.new(st.FieldResult)
    device = settle_device(device)
    out = np.empty(cells.shape)
    with context_of(device, threads, None) as c, Watch(callback, 1) as watch:
        options.monitor = watch.stop(0.0, 0.0, 0).monitor
        field = c_void_p()
        check(
            lib.tacit_field_create(c.queue.pointer, byref(stencil), byref(field))
        )
        handle = Handle(field, lib.tacit_field_destroy, (c.queue,))
        check(lib.tacit_field_put(field, 0, cells.size, at(cells)))
        status = lib.tacit_field_run(field, byref(options), byref(result))
        said = message()
        if watch.raised is not None:
            raise watch.raised
        check(status)
        check(lib.tacit_field_get(field, 0, out.size, at(out)))
        handle.close()
    grid = out.astype(start.dtype, copy=False)
    report = _GridReport(_report(result, device, start, result.seconds))
    report["result"]["converged"] = status == 0 if rtol > 0.0 else None
    report["notes"] = notes
    if watch.ctrl_c:
        raise errors.Interrupted("interrupted by Ctrl-C", grid, report)
    if status in (1, 3):
        kind = errors.NotConverged if status == 1 else errors.Breakdown
        raise kind(said, grid, report)
    return grid, report



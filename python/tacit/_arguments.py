# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, names and functions that the caller gives to a solver."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Sequence

from . import _errors as errors
from ._library import double, shown
from ._mpi import agree
from ._precond import Preconditioner


_ARGUMENTS = ("precond", "rtol", "atol", "max_iterations")
_OTHER_ENDS = ("norm", "relative_to", "iterations")


def target(value: Any, what: str) -> float:
    """A tolerance."""
    found = double(value)
    if not found >= 0.0:
        raise errors.InvalidError(
            f"{what} is {shown(value)}: expected 0 or more"
        )
    return min(found, 1e300)


def is_own(precond: Any) -> bool:
    """Is it applied by a function of the caller's?"""
    named = precond is None or isinstance(precond, (str, Preconditioner))
    return not named


def count_columns(comm: Any, b: Any) -> int:
    """Of b, the same on all ranks. Collective."""
    shape = tuple(getattr(b, "shape", ()))
    columns = max(int(shape[1]), 1) if len(shape) == 2 else 1
    agree(comm, lambda: None, {"the number of columns of b": columns})
    return columns


def settings_of(given: Any) -> dict[str, Any]:
    if given is not None and not isinstance(given, dict):
        raise errors.InvalidError(
            f"settings is {shown(given)}: expected a dict"
        )
    for name in given or ():
        plain = str(name).replace("-", "_")
        if plain in _ARGUMENTS:
            raise errors.InvalidError(
                f"settings has {shown(name)}: give it as an argument, {plain}="
            )
        if plain in _OTHER_ENDS:
            raise errors.InvalidError(
                f"settings has {shown(name)}, which solves in Python do not "
                "take: they end by rtol, atol, max_iterations and converged="
            )
    return dict(given or {})


def refuse_beside_a_factor(precond: Any, settings: dict[str, Any]) -> None:
    """InvalidError for what method direct has no use for."""
    if not _is_one_of(precond, "auto", "none", "direct"):
        what = precond if isinstance(precond, str) else type(precond).__name__
        raise errors.InvalidError(
            "method 'direct' has its factor, and no use for precond "
            f"{shown(what)}: leave it out"
        )
    for name, value in settings.items():
        if name != "loop" or str(value) not in ("host", "auto"):
            raise errors.InvalidError(
                "method 'direct' has no settings: leave out "
                f"{shown(name)}: {shown(value)}"
            )


def note_of_factor(precond: Any, settings: dict[str, Any]) -> str:
    """Of a matrix that is not symmetric, for method auto."""
    unused = [] if _is_one_of(precond, "auto", "none") else ["precond"]
    unused += ["settings"] if settings else []
    without = f", without {' and '.join(unused)}" if unused else ""
    return f"A is not symmetric: solved by its LU factors{without}"


def _is_one_of(given: Any, *names: str) -> bool:
    return given is None or (isinstance(given, str) and given in names)


def refuse_unknown(keywords: dict[str, Any], known: Sequence[str]) -> None:
    """TypeError that names the nearest of the known ones."""
    for name in keywords:
        if name in known:
            continue
        same = {"tol": "rtol", "maxiter": "max_iterations", "M": "precond"}
        public = [k for k in known if k != "self" and k[0] != "_"]
        near = same.get(name) or next(
            iter(get_close_matches(name, public)), None
        )
        hint = f": did you mean {near!r}?" if near else ""
        raise TypeError(f"no keyword argument {name!r}{hint}")

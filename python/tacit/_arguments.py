# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, names and functions that the caller gives to a solver."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Sequence

from . import _errors as errors
from ._library import double, shown
from ._mpi import agree
from ._precond import Preconditioner


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
    if given and "precond" in given:
        raise errors.InvalidError(
            "settings has 'precond': give it as an argument, precond="
        )
    return dict(given or {})


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

# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, names and functions that the caller gives to a solver."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Any, Sequence

from . import _errors as errors
from ._precond import Preconditioner


def target(value: Any, what: str) -> float:
    """A tolerance."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number >= 0.0:
        raise errors.InvalidError(f"{what} is {value!r}: expected 0 or more")
    return min(number, 1e300)


def is_own(precond: Any) -> bool:
    """Is it applied by a function of the caller's?"""
    named = precond is None or isinstance(precond, (str, Preconditioner))
    return not named


def settings_of(given: Any) -> dict[str, Any]:
    if given is not None and not isinstance(given, dict):
        raise errors.InvalidError(f"settings is {given!r}: expected a dict")
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

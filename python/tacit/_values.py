# SPDX-License-Identifier: BSD-3-Clause
"""New values of a matrix that is known: an array of its stored entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from . import _errors as errors
from ._arrays import Rows, doubles, rows_of

_IN_ORDER = ("csr", "csc", "coo", "bsr")  # have all entries in `data`, no more


def with_values(
    source: Any, known: Rows | None, values: Any, notes: list[str]
) -> Rows:
    """The rows of the matrix `source`, taken before as `known`, with these
    values for its stored entries, in the order of `source.data`."""
    kind = type(source).__name__
    kind = source.format if issparse(source) else kind
    if kind not in _IN_ORDER or known is None:
        raise errors.InvalidError(
            "an array of values is for an A that is csr, csc, coo or bsr, this "
            f"one is {kind}: give update a whole matrix"
        )
    entries = source.data.size
    if source.format == "csr" or known.turned:
        entries = known.vals.size
    if values.shape not in ((entries,), source.data.shape):
        raise errors.InvalidError(
            f"the values have the shape {values.shape}: expected "
            f"{(entries,)}, one for each stored entry of A"
        )
    vals = np.ascontiguousarray(doubles(values, "values", notes)).ravel()
    if source.format == "csr" or known.turned:
        return known._replace(vals=vals)
    like = source.copy()
    like.data = vals.reshape(source.data.shape)
    return rows_of(like, notes, ordered=True)

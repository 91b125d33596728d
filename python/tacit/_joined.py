# SPDX-License-Identifier: BSD-3-Clause
"""One solve by two methods: minres continues where cg broke down."""

from __future__ import annotations

from typing import Any

from . import _structs as st
from ._watch import Watch


def _add_made(r: st.Result, earlier: st.Result) -> None:
    """The iterations that methods have made, by method."""
    for made in earlier.made:
        if made.method is None:
            continue
        same = [m for m in r.made if m.method in (made.method, None)]
        if same:
            same[0].method = made.method
            same[0].iterations += made.iterations


class Earlier:
    """The part of a solve that has ended."""

    def __init__(self, results: Any, watch: Watch) -> None:
        self._results = [st.Result.from_buffer_copy(r) for r in results]
        self.most = max(int(r.iterations) for r in results)
        broken = next(r for r in results if r.breakdown_quantity)
        self._where = int(broken.breakdown_iteration)
        watch.keep_earlier(self._results)

    def add_to(self, results: Any, watch: Watch) -> None:
        """Count this part in the results of the next one. A breakdown of the
        next one is the one that stands."""
        for r, earlier in zip(results, self._results):
            before = int(earlier.iterations)
            if r.breakdown_quantity:
                r.breakdown_iteration += before
            else:
                for name in ("iteration", "quantity", "value"):
                    name = f"breakdown_{name}"
                    setattr(r, name, getattr(earlier, name))
            if r.rescued_by:
                r.rescued_at += before
            if r.fell_back:
                r.fell_back_at += before
            for name in ("iterations", "restarts", "replacements",
                         "extra_products", "seconds"):
                setattr(r, name, getattr(r, name) + getattr(earlier, name))
            _add_made(r, earlier)
        watch.join_history(results)

    def add_to_sentence(self, said: str) -> str:
        """The library counts the iterations of the next part alone."""
        return f"{said}; before, cg broke down at iteration {self._where}"

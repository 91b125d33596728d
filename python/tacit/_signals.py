# SPDX-License-Identifier: BSD-3-Clause
"""Signals during calls of the library. Python calls handlers between
instructions, so also in a callback of the library, where an exception would be
lost: meanwhile handlers raise nothing, and what they raise is kept."""

from __future__ import annotations

import importlib
import signal
import threading
from typing import Any, Self

# The functions of `signal` without its enums, which take 60 us after a solve:
# its vectors have emptied the caches.
_handlers: Any = importlib.import_module("_signal")
_SIGNALS = [
    int(getattr(signal, name))
    for name in (
        "SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGVTALRM", "SIGPROF",
        "SIGUSR1", "SIGUSR2",
    )
    if hasattr(signal, name)
]


class Signals:
    """Notes Ctrl-C and exceptions of handlers; `raise_kept` raises them."""

    def __init__(self) -> None:
        self._old: dict[int, Any] = {}  # handlers by number
        self.raised: BaseException | None = None
        self.ctrl_c = False

    def _on_signal(self, number: int, frame: Any) -> None:
        if self._old[number] is signal.default_int_handler:
            self.ctrl_c = True
            return
        try:
            self._old[number](number, frame)
        except BaseException as error:
            self.raised = error

    def raise_kept(self) -> None:
        """The exception of a signal or the callback."""
        if self.raised is not None:
            raise self.raised
        if self.ctrl_c:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        if threading.get_ident() == threading.main_thread().ident:
            for number in _SIGNALS:
                old = _handlers.getsignal(number)
                if callable(old):
                    self._old[number] = old
                    _handlers.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: Any) -> None:
        for number, old in self._old.items():
            if _handlers.getsignal(number) == self._on_signal:
                _handlers.signal(number, old)
        self._old.clear()


class Held(Signals):
    """For a set-up, which nothing can end early: its end raises what was
    kept, in place of an error of the set-up."""

    def __exit__(self, *rest: Any) -> None:
        super().__exit__(*rest)
        self.raise_kept()

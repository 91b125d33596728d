# SPDX-License-Identifier: BSD-3-Clause
"""The shared library: found, loaded, its functions declared."""

from __future__ import annotations

import ctypes
import glob
import logging
import math
import operator
import os
import re
import sys
import threading
import warnings
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64
from ctypes import c_size_t, c_void_p
from functools import cache
from types import SimpleNamespace
from typing import Any

from . import _errors as errors
from . import _structs as st

_logger = logging.getLogger("tacit")
_HERE = os.path.dirname(os.path.abspath(__file__))


def _candidates() -> list[str]:
    named = os.environ.get("TACIT_LIBRARY")
    if named:
        return [named]
    own = sorted(glob.glob(os.path.join(_HERE, "lib*", "libtacit.so*")))
    return own[:1] + ["libtacit.so.0.2", "libtacit.so"]


def _load() -> ctypes.CDLL:
    faults = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            faults.append(str(error))
    raise ImportError(
        "the library libtacit.so was not found: build the wheel, install "
        "Tacit, or name it in TACIT_LIBRARY (" + "; ".join(faults) + ")"
    )


_library = _load()
_P = c_void_p
_S = c_int  # tacit_status

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "tacit_error_message": (c_char_p, []),
    "tacit_version": (c_char_p, []),
    "tacit_set_log": (None, [st.Log, _P]),
    "tacit_world_self": (_S, [POINTER(_P)]),
    "tacit_world_rank": (c_int, [_P]),
    "tacit_world_size": (c_int, [_P]),
    "tacit_world_agree": (_S, [_P, _S]),
    "tacit_world_reduce": (_S, [_P, c_int, c_size_t, POINTER(c_double)]),
    "tacit_world_destroy": (None, [POINTER(_P)]),
    "tacit_queue_create": (_S, [_P, c_char_p, c_int, POINTER(_P)]),
    "tacit_queue_destroy": (None, [POINTER(_P)]),
    "tacit_queue_alloc": (_S, [_P, c_size_t, POINTER(_P)]),
    "tacit_queue_free": (None, [_P, POINTER(_P)]),
    "tacit_queue_put": (_S, [_P, c_size_t, _P, _P]),
    "tacit_queue_get": (_S, [_P, c_size_t, _P, _P]),
    "tacit_queue_link": (c_char_p, [_P]),
    "tacit_queue_link_detail": (c_char_p, [_P]),
    "tacit_queue_threads": (c_int, [_P]),
    "tacit_queue_describe": (None, [_P, c_char_p, c_size_t]),
    "tacit_device_probe": (_S, [c_char_p]),
    "tacit_matrix_from_rows": (
        _S, [_P, c_int64, c_int64, c_int64, _P, _P, _P, POINTER(_P)],
    ),
    "tacit_matrix_from_rows32": (
        _S, [_P, c_int64, c_int64, c_int64, _P, _P, _P, POINTER(_P)],
    ),
    "tacit_matrix_borrow_rows32": (
        _S, [_P, c_int64, c_int64, c_int64, _P, _P, _P, POINTER(_P)],
    ),
    "tacit_matrix_from_triangle": (
        _S, [_P, c_int64, c_int64, c_int64, _P, _P, _P, c_int, POINTER(_P)],
    ),
    "tacit_matrix_from_triangle32": (
        _S, [_P, c_int64, c_int64, c_int64, _P, _P, _P, c_int, POINTER(_P)],
    ),
    "tacit_matrix_fix": (_S, [_P, c_int64, _P, _P, _P]),
    "tacit_matrix_open": (
        _S, [_P, c_char_p, POINTER(st.MatrixOptions), POINTER(_P)],
    ),
    "tacit_gallery_at": (POINTER(st.Gallery), [c_int]),
    "tacit_gallery_find": (POINTER(st.Gallery), [c_char_p]),
    "tacit_matrix_destroy": (None, [POINTER(_P)]),
    "tacit_matrix_describe": (_S, [_P, POINTER(st.MatrixInfo)]),
    "tacit_matrix_check_symmetric": (_S, [_P]),
    "tacit_matrix_drop_entries": (None, [_P]),
    "tacit_matrix_local_rows": (c_int64, [_P]),
    "tacit_matrix_first_row": (c_int64, [_P]),
    "tacit_matrix_global_rows": (c_int64, [_P]),
    "tacit_matrix_nonzeros": (c_int64, [_P]),
    "tacit_matrix_view_rows": (_S, [_P, POINTER(st.Rows)]),
    "tacit_matrix_read_vectors": (
        _S, [_P, c_char_p, POINTER(c_int), POINTER(_P)],
    ),
    "tacit_matrix_free_vectors": (None, [POINTER(_P)]),
    "tacit_operator_create_for": (
        _S, [_P, _P, POINTER(st.OperatorOptions), POINTER(_P)],
    ),
    "tacit_operator_take_for": (
        _S, [_P, _P, POINTER(st.OperatorOptions), POINTER(_P)],
    ),
    "tacit_operator_decision_at": (POINTER(st.Decision), [_P, c_int]),
    "tacit_solver_condition": (c_double, [_P]),
    "tacit_backward_error": (_S, [_P, _P, _P, POINTER(st.Backward)]),
    "tacit_operator_from_function": (
        _S, [_P, c_int64, POINTER(st.OperatorFunction), POINTER(_P)],
    ),
    "tacit_operator_set_null_space": (_S, [_P, _P, POINTER(st.NullSpace)]),
    "tacit_operator_update": (_S, [_P, _P]),
    "tacit_operator_apply": (_S, [_P, _P, _P]),
    "tacit_operator_describe": (_S, [_P, POINTER(st.OperatorInfo)]),
    "tacit_operator_destroy": (None, [POINTER(_P)]),
    "tacit_solver_create": (_S, [_P, _P, c_char_p, POINTER(_P)]),
    "tacit_solver_set": (_S, [_P, c_char_p, c_char_p]),
    "tacit_solver_run": (
        _S, [_P, _P, _P, POINTER(st.Stop), POINTER(st.Result)],
    ),
    "tacit_solver_run_block": (
        _S,
        [_P, c_int, _P, c_size_t, _P, c_size_t, POINTER(st.Stop),
         POINTER(st.Result)],
    ),
    "tacit_solver_destroy": (None, [POINTER(_P)]),
    "tacit_solver_set_precond": (_S, [_P, _P]),
    "tacit_solver_precond": (_P, [_P]),
    "tacit_solver_race": (
        _S,
        [_P, POINTER(st.PrecondRace), _P, _P, POINTER(st.Stop),
         POINTER(st.Result)],
    ),
    "tacit_solver_trial_at": (POINTER(st.PrecondTrial), [_P, c_int]),
    "tacit_precond_create_of": (
        _S, [_P, _P, c_char_p, POINTER(st.PrecondOptions), POINTER(_P)],
    ),
    "tacit_precond_options_set": (
        _S, [POINTER(st.PrecondOptions), c_char_p, c_char_p, c_char_p],
    ),
    "tacit_precond_update": (_S, [_P, _P]),
    "tacit_precond_describe": (_S, [_P, POINTER(st.PrecondInfo)]),
    "tacit_precond_level_at": (POINTER(st.PrecondLevel), [_P, c_int]),
    "tacit_precond_solve": (
        _S,
        [_P, _P, c_int, _P, c_size_t, _P, c_size_t, POINTER(st.Stop),
         POINTER(st.Result)],
    ),
    "tacit_factor_create": (
        _S, [_P, POINTER(st.FactorOptions), POINTER(_P)],
    ),
    "tacit_factor_solve": (
        _S, [_P, c_int, _P, c_size_t, _P, c_size_t],
    ),
    "tacit_factor_describe": (_S, [_P, POINTER(st.FactorInfo)]),
    "tacit_factor_destroy": (None, [POINTER(_P)]),
    "tacit_field_create": (_S, [_P, POINTER(st.Stencil), POINTER(_P)]),
    "tacit_field_destroy": (None, [POINTER(_P)]),
    "tacit_field_put": (_S, [_P, c_int64, c_int64, _P]),
    "tacit_field_get": (_S, [_P, c_int64, c_int64, _P]),
    "tacit_field_put_weights": (_S, [_P, c_int, c_int64, c_int64, _P]),
    "tacit_field_run": (
        _S, [_P, POINTER(st.FieldOptions), POINTER(st.FieldResult)],
    ),
}

# Only what is declared, since ctypes would pass pointers as int otherwise.
lib = SimpleNamespace()
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_library, _name)
    _function.restype = _result
    _function.argtypes = _arguments
    setattr(lib, _name, _function)

_error_set = _library.tacit_error_set  # variadic: its arguments are made by hand
_error_set.restype = _S


def set_error(status: int, line: str) -> int:
    """Make `line` this thread's sentence; returns `status`."""
    sentence = ctypes.c_char_p(line.encode("utf-8", "replace")[:900])
    return int(_error_set(status, ctypes.c_char_p(b"%s"), sentence))


def optional(name: str, result: Any, arguments: list[Any]) -> Any:
    """A function that builds may lack; UnsupportedError says so."""
    try:
        function = getattr(_library, name)
    except AttributeError:
        raise errors.UnsupportedError(
            f"this build of the library has no {name}: build Tacit with MPI, "
            "or CUDA, to use it"
        ) from None
    function.restype = result
    function.argtypes = arguments
    return function


@cache
def version() -> str:
    """The version of the library that runs, such as "0.2.0"."""
    return text(lib.tacit_version()) or ""


def text(value: bytes | None) -> str | None:
    """A string of the library; an empty one is None, as in the JSON."""
    return value.decode("utf-8", "replace") if value else None


_KNOWN_AS = {
    "tacit_operator_update": "update() of Operator",
    "tacit_precond_update": "update() of Preconditioner or Solver",
    "tacit_precond_create": "tacit.Preconditioner",
    "tacit_solver_run": "other methods",
}


def _in_python(said: str) -> str:
    """A sentence of the library without the names of its functions."""
    said = re.sub(r"\btacit_\w+: ", "", said)
    return re.sub(
        r"\btacit_\w+", lambda name: _KNOWN_AS.get(name[0], name[0]), said
    )


def lib_message() -> str:
    """The library's last sentence, with names of C, as `set_error` takes it."""
    return text(lib.tacit_error_message()) or ""


def message() -> str:
    """The sentence of this thread's last error or outcome."""
    said = lib_message()
    return _in_python(said) if said else "the library gave no reason"


def check(status: int) -> int:
    """The status of a call; below 0 its exception."""
    if status < 0:
        raise errors.BY_STATUS.get(status, errors.Error)(message())
    return status


def word(value: Any, what: str) -> bytes:
    """A name of the caller's as the library takes it."""
    if not isinstance(value, (str, os.PathLike)) or "\0" in str(value):
        raise errors.InvalidError(f"{what} is {shown(value)}: expected a name")
    return os.fsencode(value)


def shown(value: Any) -> str:
    """A value of the caller's in a sentence: one line, not a whole array."""
    line = " ".join(repr(value).split())
    return line if len(line) < 80 else line[:60] + " ..."


def double(value: Any) -> float:
    """NaN if it is no number."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def number(value: Any, what: str) -> float:
    """A finite number of the caller's."""
    found = double(value)
    if not math.isfinite(found):
        raise errors.InvalidError(
            f"{what} is {shown(value)}: expected a number"
        )
    return found


def whole(value: Any, what: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number of the caller's."""
    try:
        number = least - 1 if value is True else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise errors.InvalidError(
            f"{what} is {shown(value)}: expected a whole number from {least}"
        )
    return number


# --- messages of the library: warnings are Python's, the rest goes to logging

_pending = threading.local()
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


def _log(_context: Any, level: int, line: bytes) -> None:
    try:
        said = _in_python(line.decode("utf-8", "replace").strip())
        if level == 0:
            _pending.__dict__.setdefault("lines", []).append(said)
        elif _logger.isEnabledFor(_LEVELS[min(level, 2)]):
            _logger.log(_LEVELS[min(level, 2)], "%s", said)
    except Exception:  # nothing may leave a callback of C
        pass


_log_function = st.Log(_log)
lib.tacit_set_log(_log_function, None)


def _outside() -> int:
    """The stack level of the first frame that is not the package's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    return level


def warn(line: str) -> None:
    """A TacitWarning at the caller's line."""
    line = " ".join(line.splitlines())
    warnings.warn(line, errors.TacitWarning, stacklevel=_outside())


def say() -> list[str]:
    """Issue what the library has warned of in this thread; return it."""
    lines: list[str] = _pending.__dict__.pop("lines", None) or []
    for line in lines:
        warn(line)
    return lines



# SPDX-License-Identifier: BSD-3-Clause
"""The structs of the public headers, member by member (include/tacit)."""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_void_p,
)
from typing import Any, TypeVar

_T = TypeVar("_T", bound=ctypes.Structure)

Monitor = CFUNCTYPE(c_int, c_void_p, c_int64, c_double)
ColumnMonitor = CFUNCTYPE(c_int, c_void_p, c_int, c_int64, c_double)
Apply = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)
Diagonal = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
Log = CFUNCTYPE(None, c_void_p, c_int, c_char_p)



class Stop(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rtol", c_double),
        ("atol", c_double),
        ("max_iterations", c_int64),
        ("monitor", Monitor),
        ("monitor_ctx", c_void_p),
        ("column_monitor", ColumnMonitor),
        ("iterations", c_int64),
        ("norm", c_int),
        ("relative_to_first", c_bool),
        ("monitor_decides", c_bool),
        ("history", c_void_p),
        ("history_room", c_int64),
    ]


class Made(ctypes.Structure):
    _fields_ = [("method", c_char_p), ("iterations", c_int64)]


class Result(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("converged", c_bool),
        ("stop", c_int),
        ("iterations", c_int64),
        ("norm_b", c_double),
        ("relative_residual", c_double),
        ("true_relative_residual", c_double),
        ("restarts", c_int64),
        ("replacements", c_int64),
        ("extra_products", c_int64),
        ("rescued_by", c_char_p),
        ("rescued_at", c_int64),
        ("bits", c_int),
        ("reliable_updates", c_int64),
        ("fell_back", c_bool),
        ("fell_back_at", c_int64),
        ("breakdown_iteration", c_int64),
        ("breakdown_quantity", c_char_p),
        ("breakdown_value", c_double),
        ("seconds", c_double),
        ("loop", c_char_p),
        ("loop_detail", c_char * 96),
        ("made", Made * 4),
        ("attainable", c_double),
        ("measure", c_double),
        ("history", c_int64),
        ("null_vectors", c_int64),
        ("outside", c_double),
        ("null_declared", c_bool),
    ]


class MatrixOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("shift", c_double),
        ("drop_zeros", c_bool),
        ("no_entries", c_bool),
    ]


class MatrixInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("rows", c_int64), ("cols", c_int64)]


class Rows(ctypes.Structure):
    _fields_ = [
        ("first", c_int64),
        ("count", c_int64),
        ("ptr", c_void_p),
        ("cols32", c_void_p),
        ("cols64", c_void_p),
        ("vals", c_void_p),
    ]


class Gallery(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("usage", c_char_p), ("summary", c_char_p)]


class OperatorFunction(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("apply", Apply),
        ("diagonal", Diagonal),
        ("ctx", c_void_p),
        ("norm", c_double),
        ("varies", c_bool),
    ]


class NullSpace(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("constants", c_bool),
        ("vectors", c_int),
        ("values", c_void_p),
    ]


class OperatorInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("nonzeros", c_int64),
        ("row_min", c_int64),
        ("row_max", c_int64),
        ("format", c_char_p),
        ("detail", c_char_p),
        ("bytes_per_nonzero", c_double),
        ("padding", c_double),
        ("ghosts", c_int64),
        ("sent", c_int64),
        ("neighbours", c_int),
        ("messages", c_int64),
        ("volume", c_int64),
        ("low_bytes_per_nonzero", c_double),
        ("low_bits", c_int),
        ("order", c_char_p),
        ("order_seconds", c_double),
        ("setup_seconds", c_double),
        ("threads", c_int),
        ("packed", c_bool),
        ("copy_seconds", c_double),
        ("store_seconds", c_double),
    ]


class OperatorOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_char_p),
        ("solves", c_int64),
        ("deterministic", c_bool),
    ]


class Decision(ctypes.Structure):
    _fields_ = [
        ("what", c_char_p),
        ("outcome", c_char_p),
        ("products", c_int64),
        ("cost", c_double),
        ("gain", c_double),
    ]


class Backward(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("residual", c_double),
        ("normwise", c_double),
        ("attainable", c_double),
        ("componentwise", c_double),
    ]


class PrecondNamed(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class PrecondOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("cycle", c_char_p),
        ("smoother", c_char_p),
        ("degree", c_int),
        ("levels", c_int),
        ("node_rows", c_int),
        ("vectors", c_int),
        ("near_null", c_void_p),
        ("precision", c_char_p),
        ("order", c_char_p),
        ("leaves", c_int),
        ("kind", c_char_p),
        ("columns", c_int),
        ("grid", c_int * 3),
        ("positive", c_bool),
        ("named", PrecondNamed * 32),
    ]


class PrecondInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("detail", c_char_p),
        ("end", c_char_p),
        ("levels", c_int),
        ("bytes", c_double),
        ("grid_complexity", c_double),
        ("operator_complexity", c_double),
        ("setup_seconds", c_double),
        ("varies", c_bool),
        ("factor", c_void_p),
        ("factor_info", c_void_p),
        ("grid", c_int * 3),
        ("messages", c_int64),
        ("message_bytes", c_double),
    ]


class PrecondLevel(ctypes.Structure):
    _fields_ = [
        ("rows", c_int64),
        ("nonzeros", c_int64),
        ("bytes", c_double),
        ("format", c_char_p),
        ("largest", c_double),
        ("bits", c_int),
    ]


class PrecondRace(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("matrix", c_void_p),
        ("options", POINTER(PrecondOptions)),
        ("solves", c_int64),
        ("loop", c_char_p),
    ]


class PrecondTrial(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("picked", c_bool),
        ("reason", c_char_p),
        ("setup_seconds", c_double),
        ("seconds", c_double),
        ("iterations", c_int64),
        ("reached", c_double),
        ("solve_seconds", c_double),
        ("alone", c_bool),
    ]


class FactorOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("leaves", c_int),
        ("width", c_int),
        ("kind", c_int),
        ("order", c_char_p),
    ]


class FactorInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("nonzeros", c_int64),
        ("stored", c_int64),
        ("supernodes", c_int32),
        ("panels", c_int32),
        ("depth", c_int32),
        ("leaves", c_int),
        ("flops", c_double),
        ("bytes", c_double),
        ("peak_bytes", c_double),
        ("order_seconds", c_double),
        ("symbolic_seconds", c_double),
        ("numeric_seconds", c_double),
        ("dense", c_char_p),
        ("kind", c_int),
        ("order", c_char_p),
        ("added", c_int64),
        ("shift", c_double),
        ("least_pivot", c_double),
        ("least_row", c_int64),
        ("least_share", c_double),
        ("backward_error", c_double),
        ("trials", c_int),
        ("repaired", c_int64),
        ("refined_error", c_double),
        ("pairs", c_int64),
        ("positive", c_int64),
        ("negative", c_int64),
    ]


class Stencil(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("shape", c_char_p),
        ("n", c_int64 * 3),
        ("type", c_char_p),
        ("periodic", c_uint),
        ("boundary", c_double),
        ("weights", c_int),
        ("centre", c_double),
        ("neighbours", c_double),
        ("blocks", c_int * 3),
    ]


class FieldOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("steps", c_int64),
        ("way", c_char_p),
        ("depth", c_int),
        ("norm_every", c_int64),
        ("rtol", c_double),
        ("monitor", Monitor),
        ("monitor_ctx", c_void_p),
        ("loop", c_char_p),
        ("skip", c_int),
        ("boundary_tiles", c_int),
    ]


class FieldTrial(ctypes.Structure):
    _fields_ = [
        ("way", c_char_p),
        ("depth", c_int),
        ("step_seconds", c_double),
        ("boundary_tiles", c_int),
    ]


class FieldResult(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("steps", c_int64),
        ("seconds", c_double),
        ("way", c_char_p),
        ("depth", c_int),
        ("threads", c_int),
        ("step_seconds", c_double),
        ("bytes", c_double),
        ("moved_bytes", c_double),
        ("change", c_double),
        ("first_change", c_double),
        ("changed_at", c_int64),
        ("trials", c_int),
        ("trial", FieldTrial * 24),
        ("halo_bytes", c_double),
        ("loop", c_char_p),
        ("ghost", c_int),
        ("tiles", c_int),
        ("boundary_tiles", c_int),
        ("boundary_formula", c_double),
        ("on_chip", c_double),
    ]


# The name of each struct in the headers, for the test of their layout.
NAMES: dict[str, type[ctypes.Structure]] = {
    "tacit_stop": Stop,
    "tacit_made": Made,
    "tacit_result": Result,
    "tacit_matrix_options": MatrixOptions,
    "tacit_matrix_info": MatrixInfo,
    "tacit_rows": Rows,
    "tacit_gallery": Gallery,
    "tacit_operator_function": OperatorFunction,
    "tacit_null_space": NullSpace,
    "tacit_operator_info": OperatorInfo,
    "tacit_operator_options": OperatorOptions,
    "tacit_decision": Decision,
    "tacit_backward": Backward,
    "tacit_precond_named": PrecondNamed,
    "tacit_precond_options": PrecondOptions,
    "tacit_precond_info": PrecondInfo,
    "tacit_precond_level": PrecondLevel,
    "tacit_precond_race": PrecondRace,
    "tacit_precond_trial": PrecondTrial,
    "tacit_factor_options": FactorOptions,
    "tacit_factor_info": FactorInfo,
    "tacit_stencil": Stencil,
    "tacit_field_options": FieldOptions,
    "tacit_field_trial": FieldTrial,
    "tacit_field_result": FieldResult,
}


def new(struct: type[_T], /, **members: Any) -> _T:
    """A struct whose size is set."""
    return struct(size=ctypes.sizeof(struct), **members)

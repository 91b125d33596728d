# SPDX-License-Identifier: BSD-3-Clause
"""Tacit: large sparse symmetric linear systems on CPUs and GPUs.

    x, report = tacit.solve(A, b)

A is a SciPy or NumPy matrix, a file, a gallery name or a function. See
`solve`, `Solver`, `Operator`, `Preconditioner`, `amg`; `cg` and `minres` stand
in for SciPy's; `fix` sets known values; `read`, `gallery`, `compare`,
`factor`, `jacobi`.
"""

from ._compare import Comparison, compare
from ._errors import (
    Breakdown,
    ClosedError,
    CommError,
    DeviceError,
    Error,
    FileError,
    InputError,
    Interrupted,
    InvalidError,
    NoMemory,
    NotConverged,
    Outcome,
    RankError,
    TacitWarning,
    TypeRefused,
    UnsupportedError,
)
from ._files import Factor, factor, gallery, read, read_rhs
from ._fix import fix
from ._gradient import jax_solve, torch_solve
from ._grid import jacobi
from ._library import version
from ._operator import Operator
from ._precond import Preconditioner
from ._report import Report
from ._scipy import amg, cg, minres
from ._solver import Solver, solve

__version__ = version()
__all__ = [
    "Breakdown",
    "ClosedError",
    "CommError",
    "Comparison",
    "DeviceError",
    "Error",
    "Factor",
    "FileError",
    "InputError",
    "Interrupted",
    "InvalidError",
    "NoMemory",
    "NotConverged",
    "Operator",
    "Outcome",
    "Preconditioner",
    "RankError",
    "Report",
    "Solver",
    "TacitWarning",
    "TypeRefused",
    "UnsupportedError",
    "amg",
    "cg",
    "compare",
    "factor",
    "fix",
    "gallery",
    "jacobi",
    "jax_solve",
    "minres",
    "read",
    "read_rhs",
    "solve",
    "torch_solve",
    "version",
]

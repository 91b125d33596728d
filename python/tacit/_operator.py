# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and functions as operators of the library."""

from __future__ import annotations

import os
import time
from ctypes import byref, c_void_p
from typing import Any, Callable

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from . import _errors as errors
from . import _structs as st
from ._accuracy import accuracy_of
from ._arrays import Rows, at, columns_of, rows_of
from ._context import Context, Handle, Local, context_of, own_context
from ._function import Function, of_adjoint
from ._library import check, lib, number, shown, text, whole, word
from ._mpi import agree
from ._null_space import NullSpace, null_space_of
from ._report import describe
from ._signals import Held
from ._triangle import one_triangle, refusal
from ._values import with_values
from ._watch import Watch


def _is_map(A: Any) -> bool:
    """Is it a linear map without entries?"""
    return isinstance(A, LinearOperator) or (
        callable(A) and not issparse(A) and not hasattr(A, "__array__")
    )


_TRIANGLES = {None: 0, "upper": 1, "lower": 2}


def make_matrix(
    context: Context, rows: Rows, triangle: int = 0, borrow: bool = False
) -> Handle:
    """A matrix of the library of these rows, which it copies, or uses in place
    until the handle is destroyed; a triangle is mirrored. Collective."""
    count, order = rows.shape
    first, total = 0, count
    if context.ranks > 1:
        first, total = context.place(count)
    context.together(lambda: _require_square(total, order))
    wide = rows.ptr.dtype.itemsize > 4
    kind = "triangle" if triangle else "rows"
    make = getattr(lib, f"tacit_matrix_from_{kind}{'' if wide else '32'}")
    borrow = borrow and not (wide or triangle)
    if borrow:
        make = lib.tacit_matrix_borrow_rows32
    which = (triangle,) if triangle else ()
    pointer = c_void_p()
    check(
        make(
            context.world.pointer, total, first, count, at(rows.ptr),
            at(rows.cols), at(rows.vals), *which, byref(pointer),
        )
    )
    made = Handle(pointer, lib.tacit_matrix_destroy, (context.world,))
    made.keeps = rows if borrow else None
    return made


def _require_square(rows: int, columns: int) -> None:
    if rows != columns:
        raise errors.InvalidError(
            f"A is {rows} x {columns}: expected a square matrix"
        )


def open_matrix(context: Context, name: str, shift: float) -> Handle:
    """A file or a gallery matrix. Collective."""
    options = st.new(st.MatrixOptions, shift=shift)
    pointer = c_void_p()
    check(
        lib.tacit_matrix_open(
            context.world.pointer, word(name, "A"), byref(options),
            byref(pointer),
        )
    )
    return Handle(pointer, lib.tacit_matrix_destroy, (context.world,))


def _kind(A: Any) -> str:
    if isinstance(A, (str, os.PathLike)):
        return str(A)
    return "a function" if _is_map(A) else "a matrix"


def _rows_of_function(A: Any, rows: Any) -> int:
    """Its rows; refused if they are not known, or A is not as it should be."""
    if isinstance(A, LinearOperator):
        if A.shape[0] != A.shape[1]:
            raise errors.InvalidError(
                f"A has the shape {A.shape}: expected a square operator"
            )
        if np.dtype(A.dtype or float).kind == "c":
            raise errors.TypeRefused("A is complex: Tacit solves real systems")
        rows = A.shape[0]
    if rows is None:
        raise errors.InvalidError(
            "A is a function: give the number of rows, rows=n"
        )
    return whole(rows, "rows")


def _check(
    A: Any, rows: Any, norm: Any, shift: Any, triangle: Any, solves: Any
) -> None:
    """Refuse options that do not belong to such an A."""
    shifted = number(shift, "shift") != 0.0
    if shifted and not isinstance(A, (str, os.PathLike)):
        raise errors.InvalidError(
            "shift is for names of matrices: add it to A itself"
        )
    if not isinstance(triangle, (str, type(None))) or (
        triangle not in _TRIANGLES
    ):
        raise errors.InvalidError(
            f"triangle is {shown(triangle)}: expected 'upper', 'lower' or None"
        )
    bound = number(norm, "norm")
    for what, given in (("rows", rows is not None), ("norm", bound != 0.0)):
        if given and not _is_map(A):
            raise errors.InvalidError(f"{what} is for functions")
    if triangle and (_is_map(A) or isinstance(A, (str, os.PathLike))):
        raise errors.InvalidError("triangle is for matrices with entries")
    if _is_map(A):
        _rows_of_function(A, rows)
        if not bound >= 0.0:
            raise errors.InvalidError(f"norm is {norm!r}: expected 0 or more")
    whole(solves, "solves", 1, 2**62)


class Operator(Local):
    """A matrix, or a linear function, as the library multiplies by it.

    A       a square SciPy matrix of any format or a NumPy array; the name of a
            file or of a gallery matrix ("poisson3d:50"); a LinearOperator; or
            a function y = f(x) of arrays [rows], with `rows` given. It must be
            symmetric for all methods but "direct".
    device  "host", "cuda", "cuda:1", or "auto": a GPU where there is one
    threads at most so many; 0: OMP_NUM_THREADS, or all processors
    format  of the stored matrix, "auto": measured
    shift   A + shift I instead of A; only of names
    triangle  "upper" or "lower": A has this triangle alone and the diagonal;
            InvalidError with row and column if it has more
    solves  how many it is for; 1: formats are measured in the solve, and only
            as far as that pays
    norm    a bound of ||A|| of a function; 0: estimated by 8 products
    null_space  of a singular A, declared: "constants", or vectors [rows, k].
            Solves then take what b has outside A's range for meant, and x has
            no part in the null space. InvalidError: a vector is not null
    comm    a communicator of mpi4py: A is then this rank's rows, [local rows,
            all rows]. Collective, as is `close`

    Values are copied. Entries given twice are added. It is a LinearOperator:
    `A @ x`, and SciPy's methods take it. Errors: InvalidError, TypeRefused,
    InputError with row and column, UnsupportedError, NoMemory.

    >>> import tacit
    >>> A = tacit.Operator("poisson2d:8")
    >>> A.shape
    (64, 64)
    """

    def __init__(
        self,
        A: Any,
        *,
        rows: int | None = None,
        device: str = "auto",
        threads: int = 0,
        format: str = "auto",
        shift: float = 0.0,
        triangle: str | None = None,
        norm: float = 0.0,
        null_space: Any = None,
        solves: int = 100,
        comm: Any = None,
        _context: Context | None = None,
        _take: bool = False,
        _look: bool = False,
        _borrow: bool = False,
        _alone: bool = False,
    ) -> None:
        start = time.perf_counter()
        self.notes: list[str] = []
        self.function: Function | None = None
        self.matrix: Handle | None = None
        self._source: Any = A
        self._closed = False
        # a function that raises spoils its queue, and may itself solve
        alone = comm is None and _context is None and (_alone or _is_map(A))
        self._own = alone or (comm is not None and _context is None)
        self.check_seconds = 0.0
        self.symmetric: bool | None = None
        self.declared: NullSpace | None = None
        self._looked: int | None = None  # of an A that was not checked
        self._why_not = ""
        self.alone: str | None = None  # the triangle that A has alone
        given = null_space if isinstance(null_space, str) else (
            null_space is not None
        )
        agree(
            None if _context is not None else comm,
            lambda: _check(A, rows, norm, shift, triangle, solves),
            {"A": _kind(A), "format": format, "shift": shift,
             "triangle": triangle, "solves": solves, "null_space": given,
             "device": str(device).split("(")[0]},
        )
        find = own_context if alone else context_of
        c = _context or find(device, threads, comm)
        self.context = c
        self.name = A if isinstance(A, str) else None
        self._triangle = _TRIANGLES[triangle]
        self._borrow = _borrow
        try:
            with c, Held():
                if _is_map(A):
                    self._make_function(A, rows, norm)
                else:
                    take = _take and null_space is None
                    self._make_matrix(
                        A, shift, format, take, _look, int(solves)
                    )
                if null_space is not None:
                    self.declared = null_space_of(null_space, self.local_rows)
                    self.declared.declare(self.handle.pointer, self.matrix)
        except BaseException:
            if self._own:
                c.close()
            raise
        super().__init__(np.dtype(np.float64), self.shape)
        self.setup_seconds = time.perf_counter() - start - self.check_seconds

    def _make_function(self, A: Any, rows: int | None, norm: float) -> None:
        c = self.context
        if c.device.split("@")[0] != "host":
            raise errors.UnsupportedError(
                "a Python function is an operator on the host: device='host'"
            )
        f = A.matvec if isinstance(A, LinearOperator) else A
        self.local_rows = rows = _rows_of_function(A, rows)
        self.function = Function(c, f, self.local_rows, norm)
        self.handle = self.function.handle
        total = c.place(self.local_rows)[1] if c.ranks > 1 else rows
        self.shape = (int(total), int(total))

    def _make_matrix(
        self, A: Any, shift: float, format: str, take: bool, check_it: bool,
        solves: int,
    ) -> None:
        c = self.context
        if isinstance(A, (str, os.PathLike)):
            self._rows: Rows | None = None
            self.matrix = open_matrix(c, os.fspath(A), shift)
        else:
            self._rows = c.together(
                lambda: rows_of(
                    A, self.notes, ordered=c.ranks > 1 or self._triangle > 0
                )
            )
            self.matrix = make_matrix(
                c, self._rows, self._triangle, self._borrow
            )
        turned = self._rows is not None and self._rows.turned
        if check_it or turned:
            start = time.perf_counter()
            self._check_symmetric(A, turned)
            self.check_seconds = time.perf_counter() - start
        self._find_triangle()
        m = self.matrix.pointer
        self.local_rows = int(lib.tacit_matrix_local_rows(m))
        total = int(lib.tacit_matrix_global_rows(m))
        self.shape = (total, total)
        take = take and self.symmetric is not False
        take = take and self.matrix.keeps is None  # which is shared instead
        make = lib.tacit_operator_create_for
        if take:
            make = lib.tacit_operator_take_for
        options = st.new(
            st.OperatorOptions, format=word(format, "format"), solves=solves
        )
        pointer = c_void_p()
        check(make(c.queue.pointer, m, byref(options), byref(pointer)))
        self.handle = Handle(
            pointer, lib.tacit_operator_destroy, (c.queue, self.matrix)
        )

    def _check_symmetric(self, A: Any, turned: bool) -> None:
        assert self.matrix is not None
        c = self.context
        status = lib.tacit_matrix_check_symmetric(self.matrix.pointer)
        if status == -3 and turned:  # rows and columns were exchanged
            self.matrix.close()
            self._rows = rows_of(A, self.notes, ordered=True)
            self.matrix = make_matrix(c, self._rows)
            status = lib.tacit_matrix_check_symmetric(self.matrix.pointer)
        self.symmetric = status == 0
        if status == -3:
            self._why_not = text(lib.tacit_error_message()) or ""
        else:
            check(status)

    def _find_triangle(self) -> None:
        """Note it if A, which was not found symmetric, is one alone."""
        if self.symmetric or self._triangle:
            return
        if self._rows is None and self.symmetric is None:
            return  # a file, not looked at
        assert self.matrix is not None
        self.alone = one_triangle(self.context, self.matrix)

    def require_whole(self) -> None:
        """InputError if A has one triangle alone: methods that take A for
        symmetric would solve no system of the caller's."""
        if self.alone is not None:
            raise errors.InputError(refusal(self.alone))

    def require_symmetric(self) -> None:
        """InputError if the check has failed, with its sentence, or if A has
        one triangle alone."""
        self.require_whole()
        if self.symmetric is False:
            raise errors.InputError(self._why_not)

    def require_entries(self, name: str) -> None:
        """UnsupportedError if it is a function, which has none."""
        if self.matrix is None:
            raise errors.UnsupportedError(
                f"A is a function, without entries to make precond {name!r} "
                "of: give 'none', or a function of your own"
            )

    def refuse_options(self, **given: Any) -> None:
        """InvalidError for options of another operator than this one."""
        for name, value in given.items():
            plain = np.ndim(value) == 0 and (not value or value == "auto")
            if not plain:
                raise errors.InvalidError(
                    f"{name} is for a new operator: this one has its own"
                )

    def require_open(self) -> None:
        if self._closed:
            raise errors.ClosedError("this operator was closed: make another")

    # --- products

    def _matvec(self, x: Any) -> Any:
        """y = A x for x [local rows]. Collective."""
        self.require_open()
        v = columns_of(np.asarray(x).reshape(-1), self.local_rows, "x", [])
        return apply_handle(self.context, self.handle, self.function, v)

    def _rmatvec(self, x: Any) -> Any:
        if self.function is not None:
            return of_adjoint(self._source, x)
        return self._adjoint()._matvec(x)

    def _rmatmat(self, X: Any) -> Any:
        return np.column_stack([self._rmatvec(x) for x in X.T])

    def _adjoint(self) -> "LinearOperator":
        if self.function is not None:
            return super()._adjoint()
        self.require_own_adjoint("products")
        return self

    def require_own_adjoint(self, what: str) -> None:
        """UnsupportedError if A is not known to be symmetric, which is looked
        for once. Collective."""
        if self.matrix is None or self.symmetric:
            return
        if self._looked is None and self.symmetric is None:
            with self.context:
                self._looked = int(
                    lib.tacit_matrix_check_symmetric(self.matrix.pointer)
                )
        if self._looked != 0:
            raise errors.UnsupportedError(
                f"{what} with A' are not there, and A is not known to be "
                "symmetric: make another object, of A.T"
            )

    def accuracy(self, x: Any, b: Any) -> dict[str, float | None]:
        """How well x solves A x = b, both [local rows]: `residual`,
        ||b - A x|| / ||b||; `backward_error`, the relative change of A and b
        after which x is exact, and `componentwise_backward_error`, that of each
        entry; `attainable`, the residual that rounding allows. None: not known,
        as of a function. Two products. Collective."""
        self.require_open()
        return accuracy_of(self, x, b)

    # --- new values

    def update(
        self, A: Any = None, *, _first: Callable[[Handle], None] | None = None
    ) -> None:
        """Take new values of the same pattern: a matrix like the first one, or
        an array as `A.data` of the first one, if that is csr, csc, coo or bsr;
        None: those that the first one has now.
        Preconditioners need `Preconditioner.update`, a `Solver` its own. A
        null space that was declared stays so. InvalidError names the first
        entry that only one of both has, or a vector that is not null of the
        new values, and InputError one that is not symmetric, if the first
        matrix was. Collective."""
        self.require_open()
        if self.matrix is None:
            raise errors.InvalidError("a function has no values to update")
        with self.context as c, Held():
            rows = c.together(lambda: self._new_rows(A))
            matrix = make_matrix(c, rows, self._triangle)
            if self.symmetric:
                check(lib.tacit_matrix_check_symmetric(matrix.pointer))
            if self.declared is not None:
                self.declared.require_of(c, matrix)
            if _first is not None:
                _first(matrix)
            check(lib.tacit_operator_update(self.handle.pointer, matrix.pointer))
            old, self.matrix = self.matrix, matrix
            old.close()
            self._looked = None
            if self.declared is not None:
                self.declared.declare(self.handle.pointer, matrix)

    def _new_rows(self, A: Any) -> Rows:
        known = self._rows
        if known is None and getattr(A, "ndim", 0) != 2:
            raise errors.InvalidError(
                "A was a name: update needs a matrix with its entries, as "
                "tacit.gallery and tacit.read make of one"
            )
        if A is None:
            A = self._source
        if isinstance(A, np.ndarray) and A.ndim in (1, 3):  # 3: of bsr
            return with_values(self._source, known, A, self.notes)
        turned = known is not None and known.turned
        return rows_of(A, self.notes, ordered=not turned)

    def drop_entries(self) -> None:
        """Free the entries that preconditioners are made of."""
        if self.matrix is not None:
            lib.tacit_matrix_drop_entries(self.matrix.pointer)

    @property
    def info(self) -> dict[str, Any]:
        """The stored form: rows, nonzeros, format, detail, order, bytes,
        threads, seconds of set-up, as in `path` of a report."""
        self.require_open()
        with self.context:
            return describe(self.handle)

    def close(self) -> None:
        """Free it; later uses raise ClosedError. Solvers made with it go on
        until they are closed. Collective with several ranks."""
        if self._closed:
            return
        with self.context as c:
            self._closed = True
            self.handle.close()
            if self.matrix is not None:
                self.matrix.close()
        if self._own:
            c.close()


def apply_handle(
    context: Context, handle: Handle, function: Function | None, v: Any
) -> Any:
    """y = handle v, on arrays of the host."""
    y = np.empty(v.shape[0])
    with context as c, Watch(None, 1) as watch:
        if c.host:
            status = lib.tacit_operator_apply(handle.pointer, at(v), at(y))
        else:
            from ._device import through_device

            status = through_device(c, v, y, handle)
        if function is not None:
            c.together(lambda: function.settle(status))
        check(status)
    watch.raise_kept()
    return y

# SPDX-License-Identifier: BSD-3-Clause
"""Errors and interrupts come out, with the sentence that belongs to them."""

import contextlib
import logging
import signal
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
import tacit
from problems import laplacian, residual

A = laplacian(20)
b = np.random.default_rng(1).standard_normal(400)
one = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(20, 20)).tolil()
one[0, 0] = one[-1, -1] = 1.0
NEUMANN = sparse.kronsum(one, one).tocsr()


@pytest.mark.parametrize("precond", ["auto", "jacobi"])
def test_an_error_names_its_column(precond):
    for column in (1, 2, 3):
        B = np.ones((400, 4))
        B[3, column] = np.inf
        with pytest.raises(tacit.InputError, match=f"^column {column + 1}: "):
            tacit.solve(A, B, precond=precond)
    inside = b - b.mean()
    for column in range(3):
        B = np.column_stack([inside] * 3)
        B[:, column] = b
        with pytest.raises(tacit.NotConverged) as raised:
            tacit.solve(NEUMANN, B, precond=precond)
        assert str(raised.value).startswith(f"column {column + 1}: singular")
        ends = raised.value.report["results"]
        assert [r["converged"] for r in ends].count(False) == 1
        assert not ends[column]["converged"]
    with pytest.raises(tacit.NotConverged, match="^column 1: not converged"):
        tacit.solve(A, np.column_stack([b] * 3), max_iterations=2)


def _schur(**keywords):
    """B A^-1 B' of 30 rows, whose inner solves may fail."""
    B = sparse.random(30, 400, 0.05, random_state=1).tocsr()
    inner = tacit.Solver(A, **keywords)
    return linalg.LinearOperator(
        (30, 30), lambda p: B @ inner.solve(B.T @ p)[0], dtype=float)


@pytest.mark.parametrize("use", [
    lambda f: tacit.cg(f, np.ones(30)), lambda f: tacit.minres(f, np.ones(30)),
    lambda f: tacit.cg(np.eye(30) + 1.0, np.ones(30), M=f),
    lambda f: tacit.cg(np.diag(np.arange(1.0, 31)), np.ones(30),
                       callback=lambda x: f @ x),
    lambda f: tacit.compare(tacit.Operator(f, norm=1.0), preconds="none"),
    lambda f: tacit.cg(linalg.LinearOperator(
        (30, 30), lambda x: f @ x.real, dtype=complex), np.ones(30)),
])
def test_outcomes_of_inner_solves_come_out(use):
    with pytest.raises(tacit.NotConverged) as raised:
        use(_schur(max_iterations=5, threads=1))
    assert raised.value.x.shape == (400,)
    x, info = tacit.cg(_schur(rtol=1e-12), np.ones(30), maxiter=1)
    assert x.shape == (30,) and info == 1  # its own limit is an info


def test_a_comparison_ends_by_ctrl_c_and_of_closed_objects():
    def product(x):
        calls.append(1)
        if len(calls) == 20:
            signal.raise_signal(signal.SIGINT)
        return A @ x

    calls = []
    with pytest.raises(KeyboardInterrupt):
        tacit.compare(tacit.Operator(product, rows=400, norm=8.0), b,
                      preconds="none", methods=["cg"] * 9)
    assert len(calls) < 40
    operator = tacit.Operator(A)
    operator.close()
    with pytest.raises(tacit.ClosedError, match="operator was closed"):
        tacit.compare(operator, b)


class _Late(Exception):
    pass


def _late(number, frame):
    raise _Late("late")


class _Raise(logging.Handler):
    """Raises a signal within the library's callback for its first line."""

    def __init__(self, number):
        super().__init__()
        self.number, self.lines = number, 0

    def emit(self, record):
        self.lines += 1
        if self.lines == 1:
            signal.raise_signal(self.number)


_UPDATED = tacit.Solver(A, precond="amg", device="host")
_SETUPS = [
    lambda: tacit.Preconditioner(A, "amg", device="host"),
    lambda: tacit.Preconditioner(A, "ic0", device="host"),
    lambda: tacit.solve(A, b, precond="amg", device="host"),
    lambda: tacit.solve(A, b, method="direct", device="host"),
    lambda: tacit.Operator(A, device="host"), lambda: _UPDATED.update(2.0 * A),
    lambda: tacit.factor(A),
]


@contextlib.contextmanager
def _signal_at_first_line(number):
    """Within the first message of the library, which has to send one."""
    logger, handler = logging.getLogger("tacit"), _Raise(number)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.setLevel(logging.NOTSET)
        logger.removeHandler(handler)
    assert handler.lines > 0


@pytest.fixture
def late():
    old = signal.signal(signal.SIGALRM, _late)
    yield
    signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("number, kind", [
    (signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, _Late)])
@pytest.mark.parametrize("use", range(len(_SETUPS)))
def test_signals_during_set_up_come_out(use, number, kind, monkeypatch, late):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    before = signal.getsignal(number)
    with _signal_at_first_line(number), pytest.raises(kind):
        _SETUPS[use]()
    assert not unraisable and signal.getsignal(number) is before
    assert residual(A, tacit.solve(A, b, device="host")[0], b) < 1e-7


def test_an_interrupted_update_is_a_whole_one(monkeypatch):
    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return make(*arguments)

    make = tacit._operator.make_matrix
    with tacit.Solver(A, precond="amg", device="host") as solver:
        monkeypatch.setattr(tacit._operator, "make_matrix", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solver.update(2.0 * A)
        assert residual(2.0 * A, solver.solve(b)[0], b) < 1e-7


def _indefinite():
    S = (laplacian(60) - 0.01 * sparse.eye(3600)).tocsr()
    return S, np.random.default_rng(1).standard_normal(3600)


def _limited(most, **keywords):
    """Iterations that a callback sees, the report and the sentence."""
    S, f = _indefinite()
    seen = []
    with pytest.raises((tacit.NotConverged, tacit.Breakdown)) as raised:
        tacit.solve(S, f, max_iterations=most, device="host",
                    callback=lambda k, r: seen.append(k), **keywords)
    return seen, raised.value.report, str(raised.value)


@pytest.mark.filterwarnings("ignore:.*minres continued")
def test_minres_after_cg_is_counted_with_it():
    _, cg, _ = _limited(500, method="cg", precond="none")
    broken, made = cg["result"]["breakdown"], cg["result"]["iterations"]
    assert broken["quantity"] == "p'Ap" and made < 500
    seen, both, said = _limited(made + 20, precond="none")
    result = both["result"]
    assert both["path"]["method"] == "minres"
    assert result["breakdown"] == broken and result["stop"] == "max_iterations"
    assert result["iterations"] == made + 20
    assert seen == list(range(made + 21))
    assert len(result["history"]) == made + 21
    assert result["history"][: made + 1] == cg["result"]["history"]
    assert result["made"] == {"cg": made, "minres": 20}
    assert f"cg broke down at iteration {broken['iteration']}" in said
    _, stopped, _ = _limited(made, precond="none")  # cg has taken them all
    assert stopped["path"]["method"] == "cg"


@pytest.mark.filterwarnings("ignore:.*minres continued")
def test_minres_after_a_race_is_counted_with_it():
    seen, report, said = _limited(150)
    result = report["result"]
    assert report["path"]["method"] == "minres" and "cg broke down" in said
    assert result["breakdown"]["quantity"] == "p'Ap"
    assert seen == list(range(result["iterations"] + 1))
    assert len(result["history"]) == len(seen)
    assert [row["name"] for row in report["precond_race"]][0] == "none"


@pytest.mark.filterwarnings("ignore:.*minres continued")
def test_columns_of_minres_after_cg():
    S, f = _indefinite()
    seen = {0: [], 1: []}
    with tacit.Solver(S, precond="none", device="host") as solver:
        X, report = solver.solve(
            np.column_stack([f, 0.0 * f]),
            callback=lambda k, r, column: seen[column].append(k))
        assert residual(S, X[:, 0], f) < 2e-8 and not X[:, 1].any()
        first, second = report["results"]
        assert first["breakdown"] and second["breakdown"] is None
        assert second["iterations"] == 0
        assert seen[0] == list(range(first["iterations"] + 1))
        assert len(first["history"]) == first["iterations"] + 1
        x, report = solver.solve(f)  # by minres alone
        assert report["result"]["breakdown"] is None
        assert len(report["result"]["history"]) == (
            report["result"]["iterations"] + 1)
        assert residual(S, x, f) < 2e-8


UPPER = 0.1j * sparse.triu(A, 1)
HERMITIAN = (A + 2.0 * sparse.eye(400) + UPPER - UPPER.T).tocsr()
ASKEW = A.copy()
ASKEW[0, 1] = 7.0


@pytest.mark.parametrize("method", [tacit.cg, tacit.minres])
def test_functions_as_scipy_has_none(method):
    exact = linalg.spsolve(A.tocsc(), b)
    x, info = method(lambda x: A @ x, b, rtol=1e-10, x0="Mb",
                     M=lambda r: r / 4.0)
    assert info == 0 and np.allclose(x, exact)
    f = HERMITIAN @ (b + 1j * b[::-1])
    x, info = method(lambda x: HERMITIAN @ x, f, rtol=1e-10, x0="Mb",
                     M=lambda r: r / 4.0)
    assert info == 0 and residual(HERMITIAN, x, f) < 1e-9
    x, info = method([[2.0, 1j], [-1j, 2.0]], [3.0, 3j])
    assert info == 0 and residual(np.array([[2, 1j], [-1j, 2]]), x,
                                  np.array([3, 3j])) < 1e-5
    for half in (sparse.tril(A), sparse.tril(A).tocsc()):
        with pytest.raises(tacit.InputError) as raised:
            method(half, b)
        said = str(raised.value)
        assert f"{method.__name__} needs the whole matrix" in said
        assert "tacit.Operator(A, triangle='lower')" in said
        assert "method=" not in said
        with tacit.Operator(sparse.tril(A), triangle="lower") as whole:
            assert np.allclose(method(whole, b, rtol=1e-10)[0], exact)
    same = [method(S, b, maxiter=7) for S in (ASKEW, ASKEW.tocsc())]
    assert same[0][1] == same[1][1] and np.array_equal(same[0][0], same[1][0])
    for M in (A, HERMITIAN):
        with pytest.raises(tacit.InvalidError, match=r"\(400, 400\), b \(7,\)"):
            method(M, np.ones(7))
    with pytest.raises(tacit.InvalidError, match=r"x0 .*\(400,\)"):
        method(HERMITIAN, b, np.ones(7))
    with pytest.raises(tacit.InvalidError, match=r"\(7, 7\): .*\(400, 400\)"):
        method(HERMITIAN, b, M=np.eye(7))
    with pytest.raises(tacit.InvalidError, match="is a name: .*gallery"):
        method("poisson2d:20", b)


def scipy_takes(atol):
    """Does the installed SciPy take this atol?"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            linalg.cg(sparse.eye(2), np.ones(2), atol=atol)
        except ValueError:
            return False
    return True


def test_old_atol_of_scipy():
    x, info = tacit.cg(A, b, rtol=1e-6)
    for atol in (None, "legacy"):
        if scipy_takes(atol):
            assert np.array_equal(tacit.cg(A, b, rtol=1e-6, atol=atol)[0], x)
        else:
            with pytest.raises(ValueError, match="atol is "):
                tacit.cg(A, b, rtol=1e-6, atol=atol)
    with pytest.raises(tacit.InvalidError, match="atol is 'new'"):
        tacit.cg(A, b, atol="new")


def test_minres_checks_all_that_it_takes():
    skew = HERMITIAN.copy()
    skew[2, 1] += 1.0
    for S, match in ((ASKEW, "row 1, column 2 holds 7"),
                     (ASKEW.tocsc(), "row 1, column 2 holds 7"),
                     (skew, "not Hermitian: row 2, column 3 holds"),
                     (skew.toarray(), "not Hermitian: row 2, column 3 holds"),
                     (linalg.aslinearoperator(ASKEW), "random vector"),
                     (linalg.aslinearoperator(skew), "random vector"),
                     (lambda x: ASKEW @ x, "random vector")):
        with pytest.raises(tacit.InputError, match=match):
            tacit.minres(S, b, check=True)
    for S in (A, HERMITIAN, linalg.aslinearoperator(A), lambda x: A @ x,
              linalg.aslinearoperator(HERMITIAN), tacit.Operator(A)):
        assert tacit.minres(S, b, check=True)[1] == 0
    x, info = tacit.minres(linalg.aslinearoperator(HERMITIAN), b, shift=0.5,
                           check=True)
    assert residual(HERMITIAN - 0.5 * sparse.eye(400), x, b) < 1e-4


def test_sentences_are_for_the_function_that_is_called():
    product = linalg.aslinearoperator(A)
    named = tacit.Solver("poisson2d:20", precond="none")
    lu = linalg.spilu(A.tocsc())
    for kind, match, use in (
        (tacit.InvalidError, "A is str: .*tacit.gallery",
         lambda: tacit.fix("poisson2d:20", b, [0])),
        (tacit.InvalidError, "entries, as tacit.gallery and tacit.read make",
         lambda: tacit.fix(product, b, [0])),
        (tacit.InvalidError, "expected a square matrix or a name$",
         lambda: tacit.factor(product)),
        (tacit.InvalidError, "A was a name: update needs a matrix",
         lambda: named.update(A.data)),
        (tacit.InvalidError, "A was a name: update needs a matrix",
         lambda: named.update()),
        (tacit.InvalidError, "precond is SuperLU: .*its method solve$",
         lambda: tacit.solve(A, b, precond=lu)),
        (tacit.InvalidError, "M is SuperLU: .*its method solve$",
         lambda: tacit.cg(A, b, M=lu)),
        (tacit.InvalidError, "A is SuperLU: .* or a function$",
         lambda: tacit.cg(lu, b)),
        (tacit.InvalidError, r"^x\[0\] is fixed to 1 and to 2",
         lambda: tacit.fix(A, b, [0, 0], [1.0, 2.0])),
    ):
        with pytest.raises(kind, match=match):
            use()
    x, report = tacit.solve(A, b, precond=lu.solve)
    assert residual(A, x, b) < 1e-7


@pytest.mark.parametrize("use", [
    lambda n: tacit.solve(n, b), tacit.read, tacit.gallery,
    lambda n: tacit.read_rhs(n, 3), lambda n: tacit.solve(A, b, method=n),
    lambda n: tacit.solve(A, b, format=n), lambda n: tacit.factor(A, n),
    lambda n: tacit.solve(A, b, device=n), lambda n: tacit.factor(A, order=n),
    lambda n: tacit.solve(A, b, settings={n: 1}),
    lambda n: tacit.solve(A, b, settings={"loop": n}),
    lambda n: tacit.amg(A, cycle=n), lambda n: tacit.amg(A, **{n: 1}),
])
def test_names_with_new_lines_are_one_line(use):
    with pytest.raises(tacit.Error, match="x y|x.ny") as raised:
        use("x\ny")
    assert "\n" not in str(raised.value)

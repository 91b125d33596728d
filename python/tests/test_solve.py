# SPDX-License-Identifier: BSD-3-Clause
"""Solves: forms of matrices and vectors, methods, preconditioners, reports."""

import ctypes
import json
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
import tacit
from problems import laplacian, residual

A = laplacian(20)
b = np.arange(400.0) % 7 - 3
CONVERGED = 2e-8


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil"])
def test_sparse_formats(form):
    x, report = tacit.solve(A.asformat(form), b)
    assert residual(A, x, b) < CONVERGED
    assert report["matrix"]["nonzeros"] == A.nnz


def test_arrays_of_scipy():
    x, _ = tacit.solve(sparse.csr_array(A), b)
    assert residual(A, x, b) < CONVERGED
    x, _ = tacit.solve(A.toarray(), list(b))
    assert residual(A, x, b) < CONVERGED


def test_coo_adds_what_is_given_twice():
    i = np.array([0, 1, 1, 0])
    twice = sparse.coo_matrix(([1.0, 2.0, 3.0, 1.0], (i, i)), shape=(2, 2))
    x, _ = tacit.solve(twice, [4.0, 10.0])
    assert np.allclose(x, [2.0, 2.0])


def test_csr_adds_what_is_given_twice():
    twice = sparse.csr_matrix(
        (np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), (2, 2)
    )
    x, _ = tacit.solve(twice, [2.0, 4.0])
    assert np.allclose(x, [1.0, 2.0])


def test_wide_indices():
    wide = A.copy()
    wide.indices, wide.indptr = (
        v.astype(np.int64) for v in (A.indices, A.indptr)
    )
    x, _ = tacit.solve(wide, b, precond="jacobi")
    y, _ = tacit.solve(A, b, precond="jacobi")
    assert np.array_equal(x, y)


def test_no_copy_of_a_csr_matrix():
    from tacit._arrays import columns_of, rows_of

    rows = rows_of(A, [])
    assert rows.vals is A.data or np.shares_memory(rows.vals, A.data)
    assert np.shares_memory(rows.cols, A.indices)
    assert np.shares_memory(rows.ptr, A.indptr)
    assert np.shares_memory(columns_of(b, 400, "b", []), b)


def test_csc_that_is_not_symmetric():
    U = (A + sparse.diags(np.ones(399), 1)).tocsc()
    x, report = tacit.solve(U, b)
    assert residual(U, x, b) < CONVERGED
    assert report["path"]["method"] == "direct"
    with pytest.raises(tacit.InputError, match="row 1, column 2"):
        tacit.solve(U, b, method="cg")


def test_several_columns():
    B = np.column_stack([b, 0 * b, np.ones(400)])
    seen = set()
    X, report = tacit.solve(
        A, B, callback=lambda i, r, column: seen.add(column)
    )
    assert X.shape == B.shape and not X[:, 1].any()
    assert abs(A @ X - B).max() < 1e-6
    assert len(report["results"]) == 3 and seen == {0, 2}
    X, _ = tacit.solve(A, np.asfortranarray(B), method="direct")
    assert abs(A @ X - B).max() < 1e-10
    x, _ = tacit.solve(A, b.reshape(-1, 1))
    assert x.shape == (400, 1)


@pytest.mark.parametrize(
    "method", ["cg", "single", "pipelined", "pipe-pr", "flexible", "sstep",
               "minres", "direct"]
)
def test_methods(method):
    x, report = tacit.solve(A, b, method=method, precond="none")
    assert residual(A, x, b) < CONVERGED
    assert report["path"]["method"] == method


@pytest.mark.parametrize("precond", ["none", "jacobi", "amg", "ic0", "ic1",
                                     "amg(cycle=k,degree=3)", "direct"])
def test_preconds(precond):
    x, report = tacit.solve(A, b, precond=precond)
    assert residual(A, x, b) < CONVERGED
    assert report["path"]["precond"] == precond.split("(")[0]


def test_own_preconditioners():
    D = 1.0 / A.diagonal()
    own = (lambda r: D * r, sparse.diags(D),
           linalg.aslinearoperator(sparse.diags(D)))
    for M in (*own, tacit.Preconditioner(A, "ic0")):
        x, report = tacit.solve(A, b, precond=M)
        assert residual(A, x, b) < CONVERGED
        named = "function" if M in own else "ic0"
        assert report["path"]["precond"] == named
    x, _ = tacit.solve(A, b, method="minres", precond=np.diag(D))
    assert residual(A, x, b) < CONVERGED


def test_accuracy():
    x, _ = tacit.solve(A, b, rtol=1e-3)
    r = b - A @ x
    norm = abs(A).sum(axis=1).max() * abs(x).max() + abs(b).max()
    with tacit.Operator(A) as operator:
        found = operator.accuracy(x, b)
        assert operator.accuracy(x[:, None], b[:, None]) == found
        for wrong in (x[1:], np.column_stack([x, x])):
            with pytest.raises(tacit.InvalidError, match="x has"):
                operator.accuracy(wrong, b)
        with pytest.raises(tacit.TypeRefused, match="masked"):
            operator.accuracy(np.ma.masked_less(x, 0), b)
    assert found == pytest.approx({
        "residual": residual(A, x, b),
        "backward_error": abs(r).max() / norm,
        "componentwise_backward_error":
            (abs(r) / (abs(A) @ abs(x) + abs(b))).max(),
        "attainable": np.finfo(float).eps * norm / np.linalg.norm(b),
    }, rel=1e-6)
    product = tacit.Operator(linalg.aslinearoperator(A)).accuracy(x, b)
    assert product["residual"] == pytest.approx(found["residual"])
    assert product["componentwise_backward_error"] is None


def test_indefinite_goes_on_by_minres():
    D = sparse.diags(np.r_[np.arange(1.0, 20), -np.arange(1.0, 11)])
    D = D + sparse.diags(0.1 * np.ones(28), 1) + sparse.diags(
        0.1 * np.ones(28), -1)
    with pytest.warns(tacit.TacitWarning, match="minres continued"):
        x, report = tacit.solve(D, np.ones(29), precond="none")
    assert residual(D, x, np.ones(29)) < CONVERGED
    assert report["path"]["method"] == "minres" and report["notes"]
    with pytest.raises(tacit.Breakdown, match="not positive definite") as e:
        tacit.solve(D, np.ones(29), method="cg", precond="none")
    assert e.value.report["result"]["breakdown"]["quantity"] == "p'Ap"
    assert e.value.x.shape == (29,)


def test_matrix_free():
    calls = []

    def product(x):
        calls.append(1)
        return A @ x

    x, report = tacit.solve(product, b, rows=400)
    assert residual(A, x, b) < CONVERGED and calls
    assert report["path"]["format"] == "function"
    x, _ = tacit.solve(linalg.aslinearoperator(A), b, norm=8.0)
    assert residual(A, x, b) < CONVERGED


def test_names_as_matrices(tmp_path):
    x, report = tacit.solve("poisson2d:20", b)
    assert residual(A, x, b) < CONVERGED
    assert report["matrix"]["name"] == "poisson2d:20"


def test_report_has_the_names_of_the_json():
    x, report = tacit.solve(A, b, precond="amg")
    assert json.loads(json.dumps(report)) == report
    assert set(report) == {
        "tacit", "matrix", "path", "precond", "factor", "precond_race",
        "result", "norm", "condition", "decisions", "time", "operations", "rate", "memory", "notes"}
    true = report["result"]["true_relative_residual"]
    assert np.isclose(true, residual(A, x, b), rtol=1e-3)
    assert report["precond"]["levels"][0]["rows"] == 400
    assert "<table>" in report._repr_html_() and "converged" in str(report)


def test_not_converged_carries_x_and_report():
    with pytest.raises(tacit.NotConverged, match="after 3 iterations") as e:
        tacit.solve(A, b, max_iterations=3, precond="none")
    assert e.value.report["result"]["stop"] == "max_iterations"
    told = e.value.report["result"]["true_relative_residual"]
    assert np.isclose(told, residual(A, e.value.x, b))


def test_first_guess_is_used_and_not_changed():
    exact, _ = tacit.solve(A, b, rtol=1e-12)
    guess = exact.copy()
    x, report = tacit.solve(A, b, x0=guess)
    assert report["result"]["iterations"] == 0
    assert np.array_equal(guess, exact) and x is not guess


def test_callback():
    seen = []
    x, report = tacit.solve(A, b, callback=lambda i, r: seen.append((i, r)),
                            precond="none")
    steps = report["result"]["iterations"]
    assert [i for i, _ in seen] == list(range(steps + 1))
    assert seen[0][1] == 1.0 and seen[-1][1] < 1e-8
    x, report = tacit.solve(A, b, callback=lambda i, r: i == 4)
    assert report["result"]["stop"] == "interrupted"
    assert not report["result"]["converged"]


def test_what_a_callback_raises_comes_out():
    class Own(Exception):
        pass

    def fail(iteration, residual):
        raise Own("from inside")

    with pytest.raises(Own, match="from inside"):
        tacit.solve(A, b, callback=fail)
    x, _ = tacit.solve(A, b)  # the thread's context still works
    assert residual(A, x, b) < CONVERGED


def test_what_a_function_raises_comes_out():
    def product(x):
        raise FloatingPointError("from the product")

    with pytest.raises(FloatingPointError, match="from the product"):
        tacit.solve(product, b, rows=400)
    with pytest.raises(FloatingPointError, match="from the product"):
        tacit.solve(A, b, precond=product)
    x, _ = tacit.solve(A, b)
    assert residual(A, x, b) < CONVERGED


def test_ctrl_c_ends_with_what_was_reached():
    def interrupt(iteration, residual):
        if iteration == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(tacit.Interrupted) as e:
        tacit.solve(A, b, callback=interrupt, precond="none")
    assert isinstance(e.value, KeyboardInterrupt)
    assert e.value.report["result"]["iterations"] < 20
    assert 0 < residual(A, e.value.x, b) < 10
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_without_a_callback():
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    big = tacit.Operator("poisson3d:40")
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while timer.is_alive():
            tacit.solve(big, np.ones(40**3), precond="none")
        time.sleep(5)  # where the signal came between two solves
    timer.join()


def test_beyond_doubles_is_not_indefinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(tacit.Breakdown, match="beyond the range"):
            tacit.solve(A, np.full(400, 1e307))


def test_handlers_that_raise_end_it():
    def late(number, frame):
        raise TimeoutError("late")

    def callback(iteration, residual):
        seen.append(signal.getsignal(signal.SIGALRM))
        if iteration == 5:
            os.kill(os.getpid(), signal.SIGALRM)

    seen = []
    old = signal.signal(signal.SIGALRM, late)
    with pytest.raises(TimeoutError, match="late"):
        tacit.solve(A, b, callback=callback, precond="none")
    assert late not in seen and len(seen) < 20  # it would be lost in the library
    assert signal.signal(signal.SIGALRM, old) is late


def test_solver_of_many():
    with tacit.Solver(A, precond="amg", rtol=1e-10) as solver:
        for k in range(3):
            x, _ = solver.solve(b + k)
            assert residual(A, x, b + k) < 1e-9
        assert np.allclose(solver @ b, linalg.spsolve(A.tocsc(), b))
        assert (solver @ np.column_stack([b, b])).shape == (400, 2)
        assert np.allclose(solver.T @ b, solver @ b)


@pytest.mark.parametrize("precond", ["auto", "none", "jacobi", "amg", "ic0"])
def test_new_values(precond):
    M = A.copy()
    with tacit.Solver(M, precond=precond) as solver:
        x, _ = solver.solve(b)
        solver.update(2.0 * M.data)
        assert np.allclose(2.0 * solver.solve(b)[0], x, atol=1e-5)
        solver.update(M * 4.0)
        assert np.allclose(4.0 * solver.solve(b)[0], x, atol=1e-5)
        M.data *= 8.0  # in place, then told
        assert np.allclose(4.0 * solver.solve(b)[0], x, atol=1e-5)
        solver.update()
        assert np.allclose(8.0 * solver.solve(b)[0], x, atol=1e-5)
        with pytest.raises(tacit.InputError, match="row 1, column 2"):
            solver.update(M.data * np.r_[1.0, 2.0, np.ones(M.nnz - 2)])
        with pytest.raises(tacit.Error, match="row"):
            solver.update(M + sparse.diags(np.ones(397), 3))
    with tacit.Solver(M, method="direct") as solver:
        solver.update(M * 2.0)
        assert residual(2.0 * M, solver.solve(b)[0], b) < 1e-12


def _unsorted(M):
    """csr with the columns of each row in falling order."""
    M = M.tocsr().copy()
    for i in range(M.shape[0]):
        part = slice(M.indptr[i], M.indptr[i + 1])
        M.indices[part] = M.indices[part][::-1].copy()
        M.data[part] = M.data[part][::-1].copy()
    return M


def _shuffled(M):
    """coo in any order, with entries given twice."""
    M = sparse.coo_matrix(M)
    order = np.random.default_rng(5).permutation(2 * M.nnz) % M.nnz
    return sparse.coo_matrix(
        (0.5 * M.data[order], (M.row[order], M.col[order])), M.shape
    )


def _skew():
    """A, of another kind than symmetric, and with distinct entries."""
    M = A.copy()
    M.data += 0.1 * np.random.default_rng(4).random(M.nnz)
    return M


def _blocks(M):
    """Of 4 x 4 with zeros; of one triangle, which may not have these, of 1."""
    M = sparse.csr_matrix(M)
    return M.tobsr((4, 4) if sparse.tril(M, -1).nnz else (1, 1))


@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, _unsorted, sparse.csc_matrix, _shuffled, _blocks]
)
@pytest.mark.parametrize("case", ["cg", "direct", "triangle"])
def test_new_values_are_in_the_order_of_the_matrix(form, case):
    M = _skew() if case == "direct" else A.multiply(A.sum(axis=1) + 7)
    M = M if case == "direct" else M + M.T
    M = sparse.csr_matrix(M + 200.0 * sparse.eye(400))
    keywords = {"method": "direct" if case == "direct" else "cg"}
    if case == "triangle":
        keywords["triangle"] = "upper"
    given = form(sparse.triu(M) if case == "triangle" else M)
    factor = 1.0 + np.random.default_rng(6).random(given.data.shape)
    factor = 3.0 if case == "cg" else factor  # to remain symmetric
    new = given.copy()
    new.data = given.data * factor
    whole = new.tocsr()
    if case == "triangle":
        whole = whole + sparse.triu(whole, 1).T
    with tacit.Solver(given, **keywords) as solver:
        solver.update(new.data)
        assert residual(whole, solver.solve(b)[0], b) < CONVERGED
        with pytest.raises(tacit.InvalidError, match="one for each stored"):
            solver.update(np.ones(given.data.size - 1))


def test_an_array_of_values_needs_an_order():
    C = sparse.coo_matrix(([2.0, 4, 8], ([2, 0, 1], [2, 0, 1])))
    with tacit.Solver(C) as solver:
        solver.update(np.array([20.0, 40, 80]))
        assert np.allclose(solver.solve([40.0, 80, 20])[0], 1.0)
    for given in (A.todia(), A.tolil(), A.toarray(), "poisson2d:20"):
        with tacit.Operator(given) as operator:
            with pytest.raises(tacit.InvalidError, match="a whole matrix|needs a m"):
                operator.update(A.data)
            operator.update(2.0 * A)
            assert np.allclose(operator @ b, 2.0 * (A @ b))


def test_condition():
    with tacit.Solver(A, precond="none", rtol=1e-12) as solver:
        assert solver.condition is None
        solver.solve(b)
        exact = np.linalg.cond(A.toarray())
        assert 0.5 * exact < solver.condition < 1.01 * exact
    with tacit.Solver(A, method="direct") as solver:
        assert solver.condition is None


def test_within_scipy():
    M = tacit.amg(A).aspreconditioner(cycle="V")
    steps = []
    x, info = linalg.cg(A, b, M=M, callback=lambda xk: steps.append(1))
    assert info == 0 and len(steps) < 15
    assert "cycle w" in M.aspreconditioner(cycle="W").info["detail"]
    operator = tacit.Operator(A)
    x, info = linalg.cg(operator, b)
    assert info == 0 and np.allclose(operator @ b, A @ b)


@pytest.mark.parametrize("method", [tacit.cg, tacit.minres])
@pytest.mark.parametrize("order", ["rcm", "metis", "none"])
def test_iterates_of_a_reordered_operator(method, order):
    mixed = np.random.default_rng(2).permutation(400)
    R = A[mixed][:, mixed].tocsr()
    plain, steps = [], []
    method(R, b, callback=plain.append)
    with tacit.Operator(R, format=f"csr@{order}") as operator:
        M = tacit.Preconditioner(operator, "ic0")
        assert operator.info["order"] == order
        for own in None, M:
            steps.clear()
            x, info = method(operator, b, M=own, callback=steps.append)
            assert info == 0 and residual(R, x, b) < 2e-5
            assert np.array_equal(steps[-1], x)
            if own is None:
                assert len(steps) == len(plain)
                assert np.allclose(steps[3], plain[3], rtol=1e-8)
        assert np.allclose(operator @ b, R @ b)  # it is still open
    with pytest.raises(tacit.ClosedError):
        method(operator, b, callback=steps.append)
    neumann = R - sparse.diags(np.asarray(R.sum(1)).ravel())
    operator = tacit.Operator(
        neumann, format=f"csr@{order}", null_space="constants"
    )
    x, info = method(operator, b, callback=steps.append, rtol=1e-8)
    assert info == 0 and residual(neumann, x, b - b.mean()) < 1e-6


def test_amg_takes_near_null_vectors():
    ones = np.ones((400, 1))
    steps = [
        tacit.solve(M.operator, b, precond=M)[1]["result"]["iterations"]
        for M in (tacit.amg(A), tacit.amg(A, ones), tacit.amg(A, 0 * ones + 2))
    ]
    assert max(steps) <= min(steps) + 1 and steps[0] < 15
    assert tacit.amg(A).solve(b).shape == (400,)


def test_warnings_of_the_library():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tacit.solve(A, b)
    assert not said
    uneven = A.copy()
    uneven.data = np.float32(A.data / 3).astype(float)
    uneven[0, 1] *= 1 + 3e-8
    with pytest.warns(tacit.TacitWarning, match="single precision"):
        tacit.solve(uneven, b)


def test_compare_ranks():
    rows = tacit.compare(A, b, methods=["cg", "minres"],
                         preconds=["none", "amg"])
    times = [row["total"] for row in rows]
    assert times == sorted(times) and len(rows) == 4
    assert "precond" in str(rows) and "<table>" in rows._repr_html_()


def test_read_gallery_factor(tmp_path):
    path = str(tmp_path / "A.npz")
    sparse.save_npz(path, A)
    assert abs(tacit.read(path) - A).max() == 0
    assert abs(tacit.gallery("poisson2d:20") - A).max() == 0
    assert any(usage.startswith("poisson3d") for usage, _ in tacit.gallery())
    np.savetxt(tmp_path / "b.txt", b)
    assert np.array_equal(tacit.read_rhs(tmp_path / "b.txt", 400), b)
    with tacit.factor(A) as F:
        assert residual(A, F.solve(b), b) < 1e-13
        assert F.solve(np.column_stack([b, b])).shape == (400, 2)
        assert F.info["kind"] == "llt" and F.info["rows"] == 400


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 9), (5, 2)])
def test_rectangular_files(shape, tmp_path):
    M = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    path = str(tmp_path / "M.npz")
    sparse.save_npz(path, sparse.csr_matrix(M))
    made = tacit.read(path)
    assert made.shape == shape and np.array_equal(made.toarray(), M)
    for use in (tacit.Operator, tacit.factor, tacit.amg):
        with pytest.raises(tacit.InputError, match="square"):
            use(path)


def test_jacobi():
    u = np.zeros((5, 6))
    u[2, 3] = 4.0
    for kind in (np.float64, np.float32):
        v, report = tacit.jacobi(u.astype(kind), 1)
        assert v.dtype == kind and v[1, 3] == v[2, 2] == 1.0 and v[2, 3] == 0
    assert u[2, 3] == 4.0 and report["result"]["steps"] == 1
    w, _ = tacit.jacobi(u, 1, periodic="xy", shape="box2d1r")
    assert w.sum() == pytest.approx(4.0)
    v, report = tacit.jacobi(u, 10000, rtol=1e-6, boundary=1.0)
    assert report["result"]["converged"] and abs(v - 1).max() < 1e-4
    with pytest.raises(tacit.NotConverged):
        tacit.jacobi(u, 3, rtol=1e-9, norm_every=1)
    with pytest.raises(ZeroDivisionError):
        tacit.jacobi(u, 9, norm_every=1, callback=lambda s, c: 1 / 0)


def test_history_is_what_a_callback_sees():
    seen = []
    x, report = tacit.solve(A, b, precond="jacobi",
                            callback=lambda k, r: seen.append(r))
    history = report["result"]["history"]
    assert history == seen and history[0] == 1.0 and history[-1] <= 1e-8
    assert len(history) == report["result"]["iterations"] + 1
    _, report = tacit.solve(A, np.column_stack([b, b * 0, b + 1]))
    lengths = [len(r["history"]) for r in report["results"]]
    assert lengths == [r["iterations"] + (r["iterations"] > 0)
                       for r in report["results"]]
    _, report = tacit.solve(A, b, method="sstep", precond="none")
    assert None in report["result"]["history"]
    _, report = tacit.solve(A, b, method="direct")
    assert len(report["result"]["history"]) >= 2


def test_a_report_names_the_place_of_what_it_has():
    _, report = tacit.solve(A, np.column_stack([b, b]), precond="none")
    for key, where in (("result", "results"), ("method", "path"),
                       ("setup", "time"), ("no", "no")):
        with pytest.raises(KeyError, match=where):
            report[key]
    assert report.get("method") is None and "result" not in report
    with tacit.factor(A) as factor:
        assert repr(factor) == "<400x400 Factor llt>"
    assert repr(factor) == "<400x400 Factor llt, closed>"


def test_solves_in_turn_have_their_own_histories():
    with tacit.Solver(A, precond="jacobi", threads=1) as solver:
        _, first = solver.solve(b)
        with pytest.raises(tacit.NotConverged) as short:
            solver.solve(b, max_iterations=3)
        with pytest.raises(ZeroDivisionError):
            solver.solve(b, callback=lambda k, r: 1 / 0)
        _, last = solver.solve(b)
    history = first["result"]["history"]
    assert last["result"]["history"] == history
    assert short.value.report["result"]["history"] == history[:4]


def test_a_convergence_test_of_the_caller():
    asked = []

    def close_enough(k, residual):
        asked.append(k)
        return residual < 1e-3

    x, report = tacit.solve(A, b, rtol=0.0, precond="jacobi",
                            converged=close_enough)
    assert report["result"]["stop"] == "monitor"
    assert report["result"]["converged"]
    assert 1e-8 < residual(A, x, b) < 3e-3 and len(asked) > 3
    goal = [1e-2, 1e-6]
    X, report = tacit.solve(A, np.column_stack([b, b + 1]), rtol=0.0,
                            precond="amg",
                            converged=lambda k, r, j: r < goal[j])
    for j in range(2):
        assert report["results"][j]["stop"] == "monitor"
        assert residual(A, X[:, j], b + j) < 3 * goal[j]
    x, report = tacit.solve(A, b, precond="jacobi", rtol=0.0,
                            callback=lambda k, r: k == 5,
                            converged=lambda k, r: False)
    assert report["result"]["stop"] == "interrupted"
    with pytest.raises(ZeroDivisionError):
        tacit.solve(A, b, converged=lambda k, r: 1 / 0)
    with pytest.raises(tacit.InvalidError, match="no function"):
        tacit.solve(A, b, converged=3)
    with pytest.raises(tacit.InvalidError, match="not for method"):
        tacit.solve(A, b, method="direct", converged=lambda k, r: True)


def test_fixed_rows():
    rows = np.r_[0:20, 57, 399]
    values = np.arange(22.0) - 5
    B = np.column_stack([b, b * 2 + 1])
    fixed, right = tacit.fix(A, B, rows, values)
    free = np.setdiff1d(np.arange(400), rows)
    dense = A.toarray()
    wanted = dense.copy()
    wanted[rows] = wanted[:, rows] = 0.0
    wanted[rows, rows] = dense[free, free].max()
    assert np.array_equal(fixed.toarray(), wanted)
    assert fixed.nnz == A.nnz  # zeros stay
    moved = B - (dense[:, rows] @ values)[:, None]
    assert np.allclose(right[free], moved[free], atol=1e-13)
    with tacit.Solver(fixed, precond="amg", rtol=1e-12) as solver:
        X, _ = solver.solve(right)
        assert np.allclose(X[rows], values[:, None], atol=1e-9)
        again, right = tacit.fix(A * 3.0, b, rows, values)
        solver.update(again)
        x, _ = solver.solve(right)
    assert np.allclose((3.0 * dense @ x - b)[free], 0.0, atol=1e-8)
    mask = np.zeros(400, dtype=bool)
    mask[rows] = True
    other, right = tacit.fix(A, b, mask)
    assert np.array_equal(other.toarray(), wanted)
    assert np.array_equal(right[rows], np.zeros(22)) and right.shape == (400,)


def test_fixed_rows_that_are_refused():
    refused = [
        ([400], 1.0, tacit.InvalidError, "rows.0. is 400: expected 0 to 399"),
        ([3, 3], [1.0, 2.0], tacit.InvalidError, r"x\[3\] is fixed to"),
        ([3], np.nan, tacit.InvalidError, r"the value of x\[3\] is nan"),
        ([3, 4], [1.0, 2.0, 3.0], tacit.InvalidError, "values has the shape"),
        ([3.5], 1.0, tacit.TypeRefused, "expected integers"),
        (np.ones(3, dtype=bool), 1.0, tacit.InvalidError, "mask of shape"),
        ([3], 1j, tacit.TypeRefused, "complex"),
    ]
    for rows, values, kind, match in refused:
        with pytest.raises(kind, match=match):
            tacit.fix(A, b, rows, values)
    with pytest.raises(tacit.InvalidError, match="b has the shape"):
        tacit.fix(A, b[:3], [0])
    with pytest.raises(tacit.InvalidError, match="square"):
        tacit.fix(A[:3], b[:3], [0])


def test_one_triangle():
    for triangle, half in (("upper", sparse.triu), ("lower", sparse.tril)):
        for form in ("csr", "csc", "coo"):
            M = half(A, format=form)
            with tacit.Solver(M, triangle=triangle) as solver:
                assert residual(A, solver.solve(b)[0], b) < CONVERGED
                solver.update(M * 2.0)
                assert residual(2 * A, solver.solve(b)[0], b) < CONVERGED
        with pytest.raises(tacit.InvalidError, match="row 1, column 2 is above|"
                           "row 2, column 1 is below"):
            tacit.Operator(A, triangle=triangle)
    with pytest.raises(tacit.InvalidError, match="expected 'upper'"):
        tacit.Operator(A, triangle="left")
    with pytest.raises(tacit.InvalidError, match="with entries"):
        tacit.Operator("poisson2d:4", triangle="upper")


def test_one_solve_uses_the_rows_in_place():
    from tacit._library import lib
    from tacit._structs import Rows

    M = laplacian(30)
    M.sort_indices()
    before = M.data.copy()
    with tacit.Operator(M, _borrow=True) as operator:
        rows = Rows()
        assert lib.tacit_matrix_view_rows(operator.matrix.pointer,
                                          ctypes.byref(rows)) == 0
        assert rows.vals == M.data.ctypes.data
        assert rows.cols32 == M.indices.ctypes.data
        operator.update(2.0 * M)
        assert np.allclose(operator @ np.ones(900), 2.0 * (M @ np.ones(900)))
    for precond in ("auto", "none", "jacobi", "amg"):
        x, _ = tacit.solve(M, np.ones(900), precond=precond)
        with tacit.Solver(M, precond=precond) as solver:  # of a copy
            y, _ = solver.solve(np.ones(900))
        assert residual(M, x, np.ones(900)) < CONVERGED
        assert np.allclose(x, y, atol=1e-6)
    assert np.array_equal(M.data, before)
    with pytest.raises(tacit.InputError, match="not finite"):
        tacit.solve(M * np.nan, np.ones(900))


def test_singular_systems_are_told():
    M = laplacian(6)
    M.setdiag(0.0)
    M.setdiag(-np.asarray(M.sum(axis=1)).reshape(-1))  # constants: M 1 = 0
    right = np.arange(36.0)
    inside = right - right.mean()
    for method in ("cg", "minres"):
        x, _ = tacit.solve(M, inside, method=method, precond="none")
        assert residual(M, x, inside) < CONVERGED
    with pytest.raises(tacit.Error) as raised:
        tacit.solve(M, right, method="cg", precond="none")
    result = raised.value.report["result"]
    assert result["stop"] == "singular" and result["null_vectors"] == 1
    share = right.mean() * 6.0 / np.linalg.norm(right)
    assert abs(result["outside"] - share) < 1e-6


def test_declared_null_spaces():
    n = 50
    neumann = sparse.diags(
        [-np.ones(n - 1), np.r_[1.0, 2.0 * np.ones(n - 2), 1.0],
         -np.ones(n - 1)], [-1, 0, 1],
    ).tocsr()
    f = np.arange(n) % 7 + 1.0
    for space in "constants", np.ones(n), np.ones((n, 1)):
        x, report = tacit.solve(neumann, f, null_space=space)
        assert report["result"]["converged"]
        assert report["result"]["null_vectors"] == 1
        assert np.allclose(neumann @ x, f - f.mean(), atol=1e-6)
        assert abs(x.sum()) < 1e-6


@pytest.mark.parametrize("precond", ["auto", "none", "jacobi", "amg", "ic0",
                                     "direct"])
@pytest.mark.parametrize("space", ["constants", np.ones((400, 1))])
def test_a_declared_null_space_survives_new_values(precond, space):
    neumann = sparse.csr_matrix(A - sparse.diags(np.asarray(A.sum(1)).ravel()))
    inside = b - b.mean()
    keywords = {"precond": precond}
    if precond == "direct":
        keywords = {"method": "direct"}
    space = space.copy() if isinstance(space, np.ndarray) else space
    with tacit.Solver(neumann, null_space=space, **keywords) as solver:
        if isinstance(space, np.ndarray):
            space[:] = np.nan  # it was copied
        solver.solve(b)
        for factor in (2.0, 5.0):
            solver.update(factor * neumann)
            x, report = solver.solve(b)
            assert report["result"]["null_vectors"] == 1
            assert residual(factor * neumann, x, inside) < 10 * CONVERGED
            assert abs(x.mean()) < 1e-9 * abs(x).max()
        with pytest.raises(tacit.InvalidError, match="null vector 1 is none"):
            solver.update(A)
        x, _ = solver.solve(b)  # with the values of before
        assert residual(5.0 * neumann, x, inside) < 10 * CONVERGED


def test_functions_may_solve_with_other_objects():
    inner = tacit.Solver(A, precond="amg")
    x, report = tacit.solve(
        lambda v: inner.solve(v, rtol=1e-12)[0], b, rows=A.shape[0]
    )
    assert report["result"]["converged"] and residual_of_inverse(x) < 1e-6
    x, _ = tacit.solve(A, b, precond=lambda r: inner.solve(r)[0])
    assert residual(A, x, b) < 1e-6


def residual_of_inverse(x):
    """Of A^-1 x = b."""
    return np.linalg.norm(x - A @ b) / np.linalg.norm(A @ b)


def test_minres_finds_a_preconditioner():
    rng = np.random.default_rng(3)
    B = sparse.random(20, A.shape[0], 0.1, random_state=3)
    K = sparse.bmat([[A, B.T], [B, None]]).tocsr()
    f = rng.standard_normal(K.shape[0])
    x, report = tacit.solve(K, f, method="minres", rtol=1e-6)
    assert report["path"]["precond"] == "none" and residual(K, x, f) < 1e-5
    x, report = tacit.solve(-A, b, method="minres")
    assert report["path"]["precond"] == "jacobi"
    assert residual(-A, x, b) < 1e-7


def test_direct_refines_with_a_poor_factor():
    n = 500  # an arrow with a zero corner and tiny diagonal entries
    ones = np.ones((n, 1))
    D = sparse.diags(np.where(np.arange(n) % 2, 1e-14, 1.0))
    M = sparse.bmat([[None, ones.T], [ones, D]]).tocsr()
    f = M @ np.random.default_rng(1).standard_normal(n + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tacit.TacitWarning)
        x, _ = tacit.solve(M, f, method="direct", rtol=1e-10)
    assert residual(M, x, f) < 1e-10

# SPDX-License-Identifier: BSD-3-Clause
"""Bad input: an exception with one sentence, never a crash."""

import copy
import gc
import os
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
import tacit
from problems import laplacian, residual

A = laplacian(10)
b = np.ones(100)


def refused(kind, match, *arguments, **keywords):
    with pytest.raises(kind, match=match) as e:
        tacit.solve(*arguments, **keywords)
    assert isinstance(e.value, tacit.Error)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("wrong", [
    (A[:50], b), (np.ones((3, 4)), b), (np.ones(3), b), (np.float64(3), b),
    (A, b[:50]), (A, np.ones((2, 100))), (A, np.ones((100, 0))),
    (A, np.ones((100, 1, 1))), (A, 1.0), (A, [1.0, 2.0]),
])
def test_shapes(wrong):
    refused(ValueError, "expected|columns", *wrong)


def _sentences():
    """Of failures that the library, or this module for it, has words for."""
    twice = 2.0 * A
    twice.data[0] = -1.0  # a diagonal entry that no preconditioner takes
    with tacit.Solver(A, precond="amg") as s:
        for call in (lambda: s.update(twice), lambda: s.solve(b)):
            yield call
    with tacit.Operator(A) as operator:
        M = tacit.Preconditioner(operator, "ic0")
        operator.update(2.0 * A)
        yield lambda: tacit.solve(operator, b, precond=M)
    for precond in ("jacobi", "amg", "ic0", "direct", "zz"):
        yield lambda: tacit.solve(lambda x: x, b, rows=100, precond=precond)
    yield lambda: tacit.solve(A, b, settings={"precond": "amg"})
    yield lambda: tacit.solve(A, b, method="direct", converged=lambda *a: True)
    yield lambda: tacit.fix(A, b, [-1])
    yield lambda: tacit.fix(A, b, [0], np.nan)
    yield lambda: tacit.solve(A, b, x0="x", method="direct")
    for wrong in ({"periodic": 3}, {"boundary": "zz"}, {"rtol": "x"}):
        yield lambda: tacit.jacobi(np.ones((4, 4)), 1, **wrong)
    for wrong in ({"triangle": []}, {"norm": b}, {"shift": [1, 2]}):
        yield lambda: tacit.Operator(A, **wrong)
    yield lambda: tacit.gallery("poisson2d:4", shift="x")
    yield lambda: tacit.gallery("poisson")
    yield lambda: tacit.solve(A, b, device="cuda:4321")
    yield lambda: tacit.compare(A, b, methods=3)


def test_sentences_name_no_function_of_c():
    for call in _sentences():
        with pytest.raises(tacit.Error) as e:
            call()
        assert "tacit_" not in str(e.value) and "\n" not in str(e.value)


def test_preconditioner_none_and_one_that_was_closed():
    M = tacit.Preconditioner(A, "none")
    M.update()
    assert np.array_equal(M @ b, b)
    M.close()
    with pytest.raises(tacit.ClosedError, match="preconditioner was closed"):
        M.update()


def test_shape_of_the_guess():
    refused(ValueError, "x0", A, b, x0=np.ones(50))
    refused(ValueError, "x0", A, b, x0=np.ones((100, 1)))


@pytest.mark.parametrize("wrong, what", [
    ((A * 1j, b), "A is complex"), ((A, b * 1j), "b is complex"),
    ((A, np.array(["x"] * 100)), "type"), ((A, np.array([None] * 100)), "b"),
    ((A, sparse.csr_matrix(b).T), "toarray"),
    ((A, np.ma.masked_equal(b, 2)), "b is a masked"),
    ((np.ma.masked_equal(A.toarray(), 0), b), "A is a masked"),
    ((linalg.aslinearoperator(A * 1j), b), "complex"),
    ((np.array([[object()]]), b), "A"),
])
def test_types(wrong, what):
    refused(TypeError, what, *wrong)


def test_values_that_are_not_finite():
    bad = A.copy()
    bad.data[7] = np.nan
    refused(ValueError, "row 3, column 2 .*not finite", bad, b)
    refused(ValueError, "b|finite", A, np.where(np.arange(100) == 3, np.inf, b))


def test_conversions_are_said():
    exact, _ = tacit.solve(A, b)
    for M, v in ((A.astype(np.int32), b), (A.astype(np.float32), b),
                 (A, b.astype(np.int8)), (A, b.astype(np.float32)),
                 (A, b.astype(bool)), (A, b.astype(">f8"))):
        x, report = tacit.solve(M, v)
        assert x.dtype == np.float64 and np.allclose(x, exact)
        assert M is A and v.dtype.byteorder == ">" or report["notes"]
    big = np.full(100, 2**60 + 1)
    refused(ValueError, "2.53", A, big)
    with pytest.warns(tacit.TacitWarning, match="rounded"):
        tacit.solve(A, b.astype(np.longdouble))


def test_strided_and_read_only():
    exact, _ = tacit.solve(A, b, precond="none")
    strided = np.repeat(b, 3)[::3]
    frozen = b.copy()
    frozen.flags.writeable = False
    M = A.copy()
    for part in (M.data, M.indices, M.indptr):
        part.flags.writeable = False
    for v in (strided, frozen, b[::-1][::-1]):
        assert np.array_equal(tacit.solve(M, v, precond="none")[0], exact)
    B = np.ones((100, 6))[:, ::2]
    X, _ = tacit.solve(A, B, precond="none")
    assert np.allclose(X[:, 1], exact)


def test_broken_arrays():
    for change, match in (
        (lambda M: M.indices.__setitem__(3, 4711), "4711"),
        (lambda M: M.indices.__setitem__(3, -2), "-2"),
        (lambda M: M.indptr.__setitem__(5, 10**6), "ptr"),
        (lambda M: M.indptr.__setitem__(100, 10**6), "indptr"),
        (lambda M: M.indptr.__setitem__(0, 1), "ptr"),
    ):
        M = A.copy()
        change(M)
        refused(ValueError, match, M, b)
    M = A.copy()
    M.data = M.data[:10]
    refused(ValueError, "belong together", M, b)


def test_names_and_numbers():
    refused(ValueError, "cgg.*cg", A, b, method="cgg")
    refused(ValueError, "amgg", A, b, precond="amgg")
    refused(ValueError, "precond", A, b, precond="amg(cycle")
    refused(ValueError, "no value", A, b, precond="amg(cycle)")
    refused(ValueError, "cycle", A, b, precond="amg(cycle=z)")
    refused(ValueError, "device|xpu", A, b, device="xpu")
    refused(ValueError, "device", A, b, device=3)
    refused(ValueError, "format|bcsr", A, b, format="bcsr")
    refused(ValueError, "rtol", A, b, rtol=-1)
    refused(ValueError, "rtol", A, b, rtol="small")
    refused(ValueError, "rtol", A, b, rtol=np.nan)
    refused(ValueError, "rtol", A, b, rtol=True)
    for wrong in (-1, 0, 1.5, None, "9", 2**70, True):
        refused(ValueError, "max_iterations", A, b, max_iterations=wrong)
    refused(ValueError, "step", A, b, method="sstep", settings={"steps": 99})
    refused(ValueError, "shift", A, b, shift=1.0)
    for keywords in ({"device": "host"}, {"threads": 1}, {"triangle": "upper"}):
        refused(ValueError, "is for a new operator", tacit.Operator(A), b,
                **keywords)
    with pytest.raises(tacit.InvalidError, match="threads is for a new"):
        tacit.Preconditioner(tacit.Operator(A), "jacobi", threads=1)
    refused(ValueError, "rows", lambda x: x, b)
    for wrong in (-1.0, "x", np.nan):
        refused(ValueError, "norm", lambda x: x, b, rows=100, norm=wrong)
    refused(ValueError, "no such|poisson", "poison3d:8", b)
    refused(OSError, "absent", "absent.mtx", b)
    for keywords in ({"threads": "2"}, {"threads": -1}, {"method": 3},
                     {"precond": 3}, {"format": 1}, {"callback": 3},
                     {"settings": {"foo": 1}}, {"settings": [1]},
                     {"norm": 2.0}, {"rows": 100}, {"comm": "world"},
                     {"device": "host\0"}, {"solves": 0}):
        refused(ValueError, ".", A, b, **keywords)
    refused(ValueError, "x0", A, b, x0=np.full(100, np.nan))
    refused(ValueError, "A is NoneType: expected a square matrix", None, b)
    for options in ({"kycle": "v"}, {"near_null": np.zeros(100)},
                    {"near_null": np.ones(5)}, {"degree": "many"}):
        with pytest.raises(tacit.Error):
            tacit.Preconditioner(A, "amg", **options)
    with pytest.raises(TypeError):
        tacit.solve(A, b, tolerance=1)
    for f, arguments in ((tacit.read, ["poisson3d:8"]), (tacit.gallery, ["x"]),
                         (tacit.factor, [A, "qr"]), (tacit.factor, [np.ones((2, 3))]),
                         (tacit.read, ["/"]), (tacit.read, ["a\0b"]),
                         (tacit.read, [7]), (tacit.gallery, ["poisson2d:-3"]),
                         (tacit.jacobi, [np.ones((4, 4)), "2"]),
                         (tacit.jacobi, [b, 1]),
                         (tacit.jacobi, [np.ones((3, 3)), -1]),
                         (tacit.jacobi, [np.ones((3, 3)) * 1j, 1])):
        with pytest.raises(tacit.Error):
            f(*arguments)


def test_settings_without_effect():
    for name in ("rtol", "atol", "max_iterations", "max-iterations", "precond"):
        plain = name.replace("-", "_")
        refused(ValueError, f"{name}.*as an argument, {plain}=", A, b,
                settings={name: 3})
    for name, value in (("norm", "backward"), ("relative_to", "r0"),
                        ("relative-to", "b"), ("iterations", 3)):
        refused(ValueError, f"{name}.*do not take", A, b,
                settings={name: value})
    for keywords in ({"precond": "amg"}, {"precond": "nonsense"},
                     {"precond": lambda r: r}, {"precond": sparse.eye(100)},
                     {"settings": {"nonsense": 1}}, {"settings": {"steps": 4}},
                     {"settings": {"loop": "graph"}}):
        refused(ValueError, "method 'direct' has", A, b, method="direct",
                **keywords)
    for precond in ("auto", "none", "direct", None):
        x, _ = tacit.solve(A, b, method="direct", precond=precond,
                           settings={"loop": "host"})
        assert residual(A, x, b) < 1e-12
    N = A.copy()
    N[0, 1] = 7.0
    for keywords, said in (
        ({}, "LU factors"), ({"precond": "amg"}, "without precond"),
        ({"precond": sparse.eye(100), "settings": {"steps": 2}},
         "without precond and settings"),
    ):
        x, report = tacit.solve(N, b, **keywords)
        assert residual(N, x, b) < 1e-12 and report["notes"][0].endswith(said)
    rows = tacit.compare(A, b, ["cg", "direct"], ["jacobi", "amg"])
    assert len(rows) == 3 and all(row["converged"] for row in rows)


def test_symmetry_is_checked_with_row_and_column():
    bad = A.copy()
    bad.data[1] = 5.0
    refused(ValueError, "row 1, column 2", bad, b, method="cg")
    x, _ = tacit.solve(bad, b, method="direct")
    assert residual(bad, x, b) < 1e-10


@pytest.mark.parametrize("half, name", [
    (sparse.tril(A), "lower"), (sparse.triu(A).tocsr(), "upper"),
    (sparse.tril(A).tocsr() + 0.0 * A, "lower"),  # zeros are stored above
])
def test_one_triangle_is_not_taken_for_the_matrix(half, name, tmp_path):
    for keywords in ({}, {"method": "cg"}, {"method": "minres"},
                     {"check": False, "method": "cg"}, {"precond": "amg"}):
        refused(ValueError, f"the {name} one: say triangle='{name}'",
                half, b, **keywords)
    for use in (lambda: tacit.cg(half, b), lambda: tacit.minres(half, b),
                lambda: tacit.amg(half), lambda: tacit.compare(half, b),
                lambda: tacit.fix(half, b, [3])):
        with pytest.raises(tacit.InputError, match="one triangle alone"):
            use()
    sparse.save_npz(tmp_path / "half.npz", sparse.csr_matrix(half))
    refused(ValueError, name, str(tmp_path / "half.npz"), b)
    x, report = tacit.solve(half, b, method="direct")  # as it is
    assert residual(half, x, b) < 1e-12
    x, _ = tacit.solve(sparse.diags(np.arange(1.0, 101.0)), b)
    assert np.allclose(x * np.arange(1.0, 101.0), 1.0)


def test_functions_that_return_nonsense():
    refused(ValueError, "shape", lambda x: x[:5], b, rows=100)
    refused(ValueError, "real numbers", lambda x: x * 1j, b, rows=100)
    refused(ValueError, "real numbers", lambda x: None, b, rows=100)
    refused(ValueError, "real numbers", A, b, precond=lambda x: "z")
    refused(ValueError, "shape", A, b, precond=np.eye(3))


def test_empty_and_tiny():
    x, report = tacit.solve(np.array([[4.0]]), [2.0])
    assert x == [0.5]
    try:
        x, _ = tacit.solve(sparse.csr_matrix((0, 0)), np.zeros(0))
        assert x.shape == (0,)
    except tacit.Error as error:
        assert str(error)
    x, report = tacit.solve(A, 0 * b)
    assert not x.any() and report["result"]["iterations"] == 0


def test_closed_objects():
    operator = tacit.Operator(A)
    solver = tacit.Solver(operator, precond="amg")
    M = tacit.Preconditioner(operator, "ic0")
    F = tacit.factor(A)
    operator.close()
    operator.close()
    for use in (lambda: operator @ b, lambda: tacit.solve(operator, b),
                lambda: operator.update(A), lambda: operator.info,
                lambda: solver.update(A), lambda: tacit.Solver(operator)):
        with pytest.raises(tacit.ClosedError, match="closed"):
            use()
    solver.close()
    M.close()
    F.close()
    for use in (lambda: solver.solve(b), lambda: solver.update(A),
                lambda: M @ b, lambda: F.solve(b), lambda: F.info):
        with pytest.raises(tacit.ClosedError, match="closed"):
            use()


@pytest.mark.parametrize("make, keywords", [
    *((lambda: tacit.Operator(A), keywords) for keywords in (
        {}, {"precond": "amg"}, {"precond": "none"}, {"method": "direct"},
        {"method": "minres"}, {"precond": lambda r: 0.25 * r})),
    (lambda: tacit.Operator(A, format="csr@rcm"), {"precond": "ic0"}),
    (lambda: tacit.Operator(lambda x: A @ x, rows=100), {"precond": "none"}),
])
def test_a_solver_goes_on_after_its_operator_is_closed(make, keywords):
    operator = make()
    solver = tacit.Solver(operator, **keywords)
    operator.close()
    del operator
    gc.collect()
    for k in range(3):  # the first one finds M, if "auto" has to
        x, _ = solver.solve(b + k, callback=lambda *seen: False)
        assert residual(A, x, b + k) < 1e-7
    with pytest.raises(tacit.ClosedError, match="operator was closed"):
        solver.update(A)
    assert residual(A, solver.solve(b)[0], b) < 1e-7
    solver.close()
    with pytest.raises(tacit.ClosedError, match="solver was closed"):
        solver.solve(b)


def _adjoint_products(made):
    return (lambda: made.rmatvec(b), lambda: made.T @ b, lambda: made.H @ b,
            lambda: made.T @ np.column_stack([b, b]))


def test_adjoints_of_what_is_not_symmetric():
    N = A.copy()
    N[0, 1] = 7.0
    objects = [
        tacit.Operator(N), tacit.Operator(N.tocsc()), tacit.Solver(N),
        tacit.Solver(N, method="direct", check=False),
        tacit.Solver(tacit.Operator(N), method="direct"),
        tacit.Preconditioner(N, "direct", kind="lu"),
        tacit.Operator(linalg.LinearOperator((100, 100), lambda x: N @ x)),
        tacit.Operator(lambda x: N @ x, rows=100),
    ]
    for made in objects:
        for use in _adjoint_products(made):
            with pytest.raises(tacit.UnsupportedError, match="A'"):
                use()
    own = tacit.Operator(linalg.aslinearoperator(N))
    for use in _adjoint_products(own)[:3]:
        assert np.allclose(use(), N.T @ b)
    both = np.column_stack([b, 2.0 * b])
    assert np.allclose(own.T @ both, N.T @ both)


def test_adjoints_of_what_is_symmetric():
    operator = tacit.Operator(A)
    for made in (operator, tacit.Operator(A.tocsc()), tacit.Solver(A),
                 tacit.Solver(A, check=False), tacit.Solver(A, method="direct"),
                 tacit.Solver(operator, method="direct"), tacit.amg(A),
                 tacit.Solver(lambda x: A @ x, rows=100, precond="none"),
                 tacit.Preconditioner(operator, "direct")):
        for use in _adjoint_products(made)[:3]:
            assert np.allclose(use(), made @ b)
        both = np.column_stack([b, 2.0 * b])
        assert np.allclose(made.T @ both, made @ both, atol=1e-6)
    N = A.copy()
    N[0, 1] = 7.0
    operator.update(N)  # not looked at: it was not at first
    with pytest.raises(tacit.UnsupportedError, match="A'"):
        operator.rmatvec(b)


def test_copies_and_pickles():
    for made in (tacit.Operator(A), tacit.Solver(A), tacit.amg(A),
                 tacit.factor(A)):
        for use in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="copied or pickled"):
                use(made)
    with pytest.raises(tacit.NotConverged) as raised:
        tacit.solve(A, b, max_iterations=2)
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)
    assert again.report == raised.value.report
    assert np.array_equal(again.x, raised.value.x)


def test_objects_go_in_any_order():
    for _ in range(20):
        operator = tacit.Operator(A)
        M = tacit.Preconditioner(operator, "amg")
        solver = tacit.Solver(operator, precond=M)
        solver.ring, M.ring, operator.ring = M, operator, solver  # a cycle
        solver.solve(b)
        if _ % 2:
            M.close()
            solver.solve(b)  # M stays while the solver has it
        del operator, M, solver
        gc.collect()


def test_collected_in_any_thread():
    others = [tacit.Solver(A, precond="amg") for _ in range(3)]

    def drop(iteration, residual):  # during a solve of the same context
        if others:
            others.pop()
            gc.collect()

    x, _ = tacit.solve(A, b, callback=drop, precond="none")
    assert not others and residual(A, x, b) < 1e-7
    left = [tacit.Solver(A, precond="amg")]
    thread = threading.Thread(target=left.clear)
    thread.start()
    thread.join()
    assert residual(A, tacit.solve(A, b)[0], b) < 1e-7


def test_used_by_its_own_solve():
    solver = tacit.Solver(A, precond="none")
    tries = (lambda: solver.solve(b), lambda: solver.update(A),
             lambda: solver.close(), lambda: solver.operator @ b)
    for use in tries:
        with pytest.raises(tacit.ClosedError, match="in use"):
            solver.solve(b, callback=lambda i, r: use())
        assert residual(A, solver.solve(b)[0], b) < 1e-7  # it is still open
    inner = []  # another one is fine
    solver.solve(b, callback=lambda i, r: inner.append(tacit.solve(A, b)[0])
                 if i == 1 else None)
    assert residual(A, inner[0], b) < 1e-7


def test_threads_share_a_solver():
    solver = tacit.Solver(A, precond="amg")
    wrong = []

    def work(k):
        for _ in range(20):
            x, _ = solver.solve(b * k)
            if residual(A, x, b * k) > 1e-7:
                wrong.append(k)
            x, _ = tacit.solve(A, b * k, precond="jacobi", threads=1)
            if residual(A, x, b * k) > 1e-7:
                wrong.append(-k)

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert residual(A, solver.solve(b)[0], b) < 1e-7


def test_a_matrix_changed_behind_its_back():
    M = A.copy()

    def change(*_):  # nothing that is used
        M.indices[:] = 10**9
        M.data[:] = np.nan

    for keywords in ({"callback": change}, {"converged": change, "rtol": 1e-8},
                     {"precond": lambda r: change() or r}):
        M = A.copy()
        x, _ = tacit.solve(M, b, **{"precond": "jacobi", **keywords})
        assert residual(A, x, b) < 1e-7 and M.indices[0] == 10**9
    M = A.copy()
    with tacit.Solver(M, precond="ic0") as solver:
        change()
        assert residual(A, solver.solve(b)[0], b) < 1e-7
        refused(ValueError, r"cols.0. is 1000000000, of row 1 counted from 1", M, b)


def test_fork():
    solver = tacit.Solver(A, precond="amg")
    solver.solve(b)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                solver.solve(b)
            except tacit.ClosedError as error:
                x, _ = tacit.solve(A, b)  # new objects work
                code = 0 if "fork" in str(error) else 2
                code = code if residual(A, x, b) < 1e-7 else 3
            del solver
            gc.collect()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert residual(A, solver.solve(b)[0], b) < 1e-7


def boom(_):
    raise KeyError("boom")


@pytest.mark.parametrize("use", [
    lambda: tacit.solve(boom, b, rows=100),
    lambda: tacit.solve(A, b, precond=boom),
    lambda: tacit.cg(A, b, M=linalg.LinearOperator((100, 100), boom)),
    lambda: tacit.Operator(boom, rows=100),
])
def test_a_function_that_raises_harms_no_other_object(use):
    with tacit.Solver(A) as s:
        with pytest.raises(KeyError, match="boom"):
            use()
        assert residual(A, s.solve(b)[0], b) < 1e-7


def test_a_closed_preconditioner_is_not_left_out():
    M = tacit.Preconditioner(A, "ic0")
    M.close()
    refused(tacit.ClosedError, "preconditioner was closed", A, b, precond=M)


@pytest.mark.parametrize("precond", ["amg", "ic0", "none"])
def test_a_refused_update_leaves_the_old_values(precond):
    with tacit.Solver(A, precond=precond) as s:
        with pytest.raises(tacit.InvalidError, match="row|pattern"):
            s.update(sparse.eye(100, format="csr"))
        assert residual(A, s.solve(b)[0], b) < 1e-7


@pytest.mark.parametrize("threads", [0, 1])
def test_an_update_without_that_of_the_preconditioner_changes_nothing(threads):
    M = tacit.Preconditioner(A, "amg", threads=threads)
    with tacit.Solver(A, precond=M) as s:
        with pytest.raises(tacit.InvalidError, match="M.operator.update"):
            s.update(2.0 * A)
        assert residual(A, s.solve(b)[0], b) < 1e-7
        M.operator.update(2.0 * A)
        s.update(2.0 * A)
        assert residual(2.0 * A, s.solve(b)[0], b) < 1e-7
    with tacit.Solver(M.operator, precond=M) as s:
        s.update(3.0 * A)
        assert residual(3.0 * A, s.solve(b)[0], b) < 1e-7


def test_unknown_keywords_name_the_nearest():
    with pytest.raises(TypeError, match="'tol'.*'rtol'"):
        tacit.solve(A, b, tol=1e-3)
    with pytest.raises(TypeError, match="'fromat'.*'format'"):
        tacit.solve(A, b, fromat="csr")


def test_vectors_that_are_not_null():
    refused(ValueError, "null", A, b, null_space="constants")
    refused(ValueError, "expected 'constants'", A, b, null_space="modes")

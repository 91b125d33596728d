/* SPDX-License-Identifier: BSD-3-Clause
 * tacit.hpp: operators by functions, solves at once, factors, grids, Eigen. */
#if TEST_EIGEN
#include <Eigen/Sparse>
#endif
#include "cpp_check.hpp"

namespace
{

/* --- functions ------------------------------------------------------------ */

/* The chain of one rank, without a matrix. */
tacit::operator_function by_hand(int &left)
{
    tacit::operator_function f;
    f.apply = [&left](tacit::span<const double> x, tacit::span<double> y) {
        if (left-- == 0) throw mine("no more");
        for (std::size_t i = 0; i < x.size(); i++)
            y[i] = 2.0 * x[i] - (i > 0 ? x[i - 1] : 0.0) -
                   (i + 1 < x.size() ? x[i + 1] : 0.0);
    };
    f.diagonal = [](tacit::span<double> d) {
        std::fill(d.begin(), d.end(), 2.0);
    };
    f.norm = 4.0;
    return f;
}

void functions()
{
    const tacit::world w;
    const tacit::queue q(w);
    int left = -1;
    const tacit::linear_operator A(q, std::size_t(N), by_hand(left));
    tacit::solver cg(A);
    cg.set_precond(tacit::preconditioner(A, "jacobi"));
    const vector f(N, 1.0);
    vector x(N);
    CHECK(cg.solve(f, x, {1e-12}).converged && error_of(w, x) < 1e-8);
    const tacit::device_vector ones(q, f);
    tacit::device_vector y(q, std::size_t(N));
    A.apply(ones, y);
    CHECK(y.host()[0] == 1.0 && y.host()[1] == 0.0);

    std::fill(x.begin(), x.end(), 0.0);
    left = 10;
    CHECK(mine_of([&] { cg.solve(f, x); }));
    REFUSED(TACIT_INVALID, "apply", [&] {
        tacit::linear_operator(q, std::size_t(4), tacit::operator_function());
    });
}

/* --- at once, direct, grids ------------------------------------------------ */

void at_once(const tacit::world &w)
{
    const tacit::matrix A = springs(w);
    const vector f(part_of(w).rows(), 1.0);
    for (const char *precond : {"auto", "none", "amg"}) {
        const auto [x, result] = tacit::solve(A, f, {1e-12}, precond);
        CHECK(result.converged && error_of(w, x) < 1e-8);
    }
#if __cplusplus >= 202002L
    int calls = 0;
    const tacit::solution s =
        tacit::solve(A, f, {.rtol = 1e-12, .monitor = [&](auto, double) {
                                return calls++, false;
                            }});
    CHECK(calls > 1 && error_of(w, s.x) < 1e-8);
#endif
    vector b = f;
    if (w.rank() == 0) b[0] = NAN;
    REFUSED(TACIT_INPUT, "finite", [&] { tacit::solve(A, b); });
}

void direct()
{
    const tacit::world w;
    const tacit::factor F(springs(w));
    vector B(2 * N, 1.0);
    const vector X = F.solve(B);
    CHECK(error_of(w, vector(X.begin() + N, X.end())) < 1e-10);
    REFUSED(TACIT_INVALID, "columns of 300", [&] { F.solve(vector(N + 1)); });
    REFUSED(TACIT_INPUT, "", [&] { tacit::factor(springs(w, -1.0)); });
}

void grids()
{
    const tacit::queue q;
    tacit::field u(q, "star2d1r:3x3");
    const vector start = {0, 0, 0, 0, 8, 0, 0, 0, 0};
    u.put(start);
    u.run({2});
    vector got(9);
    u.get(got);
    CHECK(got == (vector{1, 0, 1, 0, 2, 0, 1, 0, 1}));
    tacit::steps s;
    s.count = 100;
    s.norm_every = 2;
    s.monitor = [](std::int64_t, double) -> bool { throw mine("stop"); };
    CHECK(mine_of([&] { u.run(s); }));
    s.monitor = [](std::int64_t step, double) { return step >= 4; };
    REFUSED(TACIT_INTERRUPTED, "", [&] { u.run(s); });
    REFUSED(TACIT_INVALID, "", [&] { tacit::field(q, "star2d:3x3"); });
}

void logs()
{
    std::string said;
    tacit::set_log([&](int, const char *text) { said += text; });
    tacit::solve(tacit::matrix::open({}, "poisson2d:9"), vector(81, 1.0));
    tacit::queue q({}, "trace:host");
    tacit::device_vector(q, 1).fill(1.0);
    tacit::set_log(nullptr);
    CHECK(!said.empty());
}

#if TEST_EIGEN
template <class Matrix> void eigen_of(const tacit::world &w)
{
    Matrix A(N, N);
    for (int i = 0; i < N; i++) {
        A.insert(i, i) = 2;
        if (i > 0) A.insert(i, i - 1) = A.insert(i - 1, i) = -1;
    }
    const Eigen::VectorXd f = Eigen::VectorXd::Ones(N);
    for (int pass = 0; pass < 2; pass++, A.makeCompressed()) {
        const auto [x, result] = tacit::solve(tacit::from_eigen(A), f, {1e-12});
        CHECK(error_of(w, x) < 1e-8);
    }
    Eigen::MatrixXd B = Eigen::MatrixXd::Ones(N, 4), X(N, 2);
    X.setZero();
    tacit::solver cg(
        tacit::linear_operator(tacit::queue(w), tacit::from_eigen(A)));
    cg.solve_columns(2, B.leftCols(2), X, {1e-12});
    CHECK(error_of(w, vector(X.data() + N, X.data() + 2 * N)) < 1e-8);
    REFUSED(TACIT_INVALID, "column-major", [&] { length(B.row(0)); });
    REFUSED(TACIT_INVALID, "column-major", [&] { length(B.topRows(3)); });
}

using columns = Eigen::SparseMatrix<double>;
using rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/* Has `m` the entries of `A`? */
template <class Matrix> bool same(const tacit::matrix &m, const Matrix &A)
{
    const tacit_rows own = m.view();
    const rows want = A;
    bool equal = own.count == want.rows() && m.nonzeros() == want.nonZeros();
    for (int i = 0; equal && i < want.rows(); i++)
        for (std::int64_t k = own.ptr[i]; equal && k < own.ptr[i + 1]; k++)
            equal = own.vals[k] == want.coeff(i, own.cols32[k]);
    return equal;
}

/* Views and expressions of a matrix that is not symmetric, so that rows taken
 * for columns would show. */
void eigen_views()
{
    rows A(N, N), wide(2 * N, N);
    for (int i = 0; i < N; i++) {
        A.insert(i, i) = i + 2;
        if (i > 1) A.insert(i, i - 2) = -i;
    }
    A.makeCompressed();
    const columns C = A;
    wide.topRows(N) = A;
    wide.bottomRows(N) = 3.0 * A;
    const Eigen::Map<const rows> map(N, N, A.nonZeros(), A.outerIndexPtr(),
                                     A.innerIndexPtr(), A.valuePtr());
    const Eigen::Ref<const rows> ref(A);
    const Eigen::Ref<const columns> across(C);
    for (const tacit::matrix &m :
         {tacit::from_eigen(map), tacit::from_eigen(ref),
          tacit::from_eigen(across), tacit::from_eigen(wide.topRows(N)),
          tacit::from_eigen(A.block(0, 0, N, N)),
          tacit::from_eigen(A.cast<int>()),
          tacit::from_eigen(Eigen::MatrixXd(A).sparseView())})
        CHECK(same(m, A));
    CHECK(same(tacit::from_eigen(wide.bottomRows(N)), rows(3.0 * A)));
    CHECK(same(tacit::from_eigen(C.transpose()), rows(A.transpose())));
    CHECK(same(tacit::from_eigen(A.transpose()), rows(A.transpose())));
    CHECK(same(tacit::from_eigen(2.0 * A + A), rows(3.0 * A)));
    CHECK(same(tacit::from_eigen(A.triangularView<Eigen::Lower>()), A));
    CHECK(same(tacit::from_eigen(A.selfadjointView<Eigen::Lower>()),
               rows(A.selfadjointView<Eigen::Lower>())));

    for (const tacit::matrix &m :
         {tacit::borrow_eigen(A), tacit::borrow_eigen(map),
          tacit::borrow_eigen(ref), tacit::borrow_eigen(wide.topRows(N))})
        CHECK(same(m, A) && (m.view().vals == A.valuePtr() ||
                             m.view().vals == wide.valuePtr()));
    CHECK(tacit::borrow_eigen(C.transpose()).view().vals == C.valuePtr());
    CHECK(same(tacit::borrow_eigen(wide.bottomRows(N)), rows(3.0 * A)));
    REFUSED(TACIT_INVALID, "not square", [&] { tacit::from_eigen(wide); });
    A.uncompress();
    CHECK(same(tacit::from_eigen(A), A));
    REFUSED(TACIT_INVALID, "makeCompressed", [&] { tacit::borrow_eigen(A); });
}

void eigen()
{
    const tacit::world w;
    eigen_of<columns>(w);
    eigen_of<rows>(w);
    eigen_of<Eigen::SparseMatrix<float, Eigen::RowMajor, std::int64_t>>(w);
    eigen_views();
}
#endif

} // namespace

void all_kinds(const tacit::world &w)
{
    at_once(w);
    functions();
    direct();
    grids();
    logs();
#if TEST_EIGEN
    eigen();
#else
    std::puts("skipped: Eigen is not found");
#endif
}

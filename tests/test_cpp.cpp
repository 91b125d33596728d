/* SPDX-License-Identifier: BSD-3-Clause
 * tacit.hpp: C++17, C++20, one process and, with TEST_MPI, ranks of MPI. Two
 * files, so that its functions stand in both. */
#include "cpp_check.hpp"
#if __cplusplus >= 202002L
#include <span>
#endif

namespace
{

/* --- spans ---------------------------------------------------------------- */

/* Arrays of Eigen tell their strides. */
template <bool ByRows> struct strided {
    static constexpr bool IsRowMajor = ByRows;
    vector v;
    long inner, outer, step, next;
    const double *data() const { return v.data(); }
    long size() const { return inner * outer; }
    long innerSize() const { return inner; }
    long outerSize() const { return outer; }
    long innerStride() const { return step; }
    long outerStride() const { return next; }
};

void spans()
{
    vector v = {1, 2, 3};
    const vector &constant = v;
    std::array<double, 2> a = {4, 5};
    double c[] = {6, 7, 8, 9};
    CHECK(length(v) == 3 && length(constant) == 3 && length(a) == 2);
    CHECK(length(c) == 4 && length({v.data(), 2}) == 2);
    tacit::span<double> all = v;
    all[1] = 20;
    CHECK(v[1] == 20 && tacit::span<const double>(all).data() == v.data());
    CHECK(!(std::is_constructible_v<tacit::span<double>, const vector &>));
    CHECK(!(std::is_constructible_v<tacit::span<const double>,
                                    const std::vector<float> &>));
#if __cplusplus >= 202002L
    CHECK(length(std::span(v)) == 3);
    CHECK(length(std::span<const double>(c)) == 4);
#endif
    CHECK(length(strided<false>{{1, 2, 3, 4}, 2, 2, 1, 2}) == 4);
    CHECK(length(strided<true>{{1, 2}, 1, 2, 1, 1}) == 2);
    REFUSED(TACIT_INVALID, "column-major", [] {
        length(strided<false>{{1, 2, 3, 4}, 2, 1, 2, 4}); /* every other one */
    });
    REFUSED(TACIT_INVALID, "column-major", [] {
        length(strided<false>{{1, 2, 3, 4, 5, 6}, 2, 2, 1, 3}); /* a block */
    });
    REFUSED(TACIT_INVALID, "column-major", [] {
        length(strided<true>{{1, 2, 3, 4}, 2, 2, 1, 2});
    });
}

/* --- objects -------------------------------------------------------------- */

void vectors(const tacit::world &w)
{
    const tacit::queue q(w, "memcheck:host");
    CHECK(!q.on_host() && tacit::queue(w).on_host() && q.threads() >= 1);
    tacit::device_vector x(q, vector(4, 2.0));
    CHECK(x.size() == 4 && x.host() == vector(4, 2.0));
    CHECK(std::abs(x.norm() - 4.0 * std::sqrt(double(w.size()))) < 1e-12);
    x.fill(3.0);
    const tacit::device_vector y = std::move(x);
    CHECK(y.host() == vector(4, 3.0));
    REFUSED(TACIT_INVALID, "3 elements for a vector of 4",
            [&] { tacit::device_vector(q, 4).put(vector(3)); });
    REFUSED(TACIT_INVALID, "nowhere", [&] { tacit::queue(w, "nowhere"); });
    CHECK(w.sum(1.0) == w.size() && w.min(w.rank()) == 0.0);
    const tacit::world half = w.split(w.rank() % 2);
    CHECK(half.size() == (w.size() + 1 - w.rank() % 2) / 2);
    CHECK(w.split(-1).get() == nullptr);
}

void matrices(const tacit::world &w)
{
    const tacit::matrix A = springs(w);
    CHECK(A.rows() == N && A.local_rows() == part_of(w).rows());
    CHECK(A.nonzeros() == 3 * N - 2 && A.original_rows().empty());
    CHECK(A.describe().diagonal_max == 2.0 && A.view().first == A.first_row());
    const std::array<std::int32_t, 3> ptr = {0, 1, 2};
    const std::vector<std::int32_t> cols = {0, 1}, far = {0, 2}, same = {1, 1};
    if (w.size() == 1) {
        CHECK(tacit::matrix(ptr, cols, vector{1, 1}).nonzeros() == 2);
        REFUSED(TACIT_INPUT, "cols[1]", [&] {
            tacit::matrix(ptr, far, vector{1, 1});
        });
        REFUSED(TACIT_INPUT, "", [&] {
            tacit::matrix(ptr, same, vector{1, 1}).check_symmetric();
        });
    }
    /* too few values, on the last rank alone: all ranks refuse */
    const bool last = w.rank() == w.size() - 1;
    arrays a = chain(N, part_of(w).first, part_of(w).end);
    if (last) a.vals.pop_back();
    REFUSED(TACIT_INVALID, "arrays of a matrix", [&] {
        tacit::matrix(w, N, part_of(w).first, a.ptr, a.cols, a.vals);
    });
    REFUSED(TACIT_INVALID, "poisson",
            [&] { tacit::matrix::open(w, "poison3d:4"); });
}

/* A queue and a matrix of two worlds. */
void two_worlds(const tacit::world &w)
{
    const tacit::matrix A = springs(w);
    const tacit::queue alone; /* of this process */
    if (w.size() > 1) {
        REFUSED(TACIT_INVALID, "different worlds",
                [&] { tacit::linear_operator(alone, A); });
        return;
    }
    tacit::solver cg(tacit::linear_operator(alone, springs(tacit::world())));
    vector x(A.local_rows());
    CHECK(cg.solve(vector(x.size(), 1.0), x, {1e-12}).converged);
}

/* Every handle but the solver's goes before it is used. */
tacit::solver solver_of(const tacit::world &w, const char *device)
{
    const tacit::queue q(w, device);
    const tacit::matrix A = springs(w);
    tacit::solver cg(tacit::linear_operator(q, A));
    cg.set_precond(tacit::preconditioner(cg.A(), A, "amg"));
    return cg;
}

void solves(const tacit::world &w, const char *device)
{
    tacit::solver cg = solver_of(w, device);
    const tacit::solver same = cg;
    CHECK(same.get() == cg.get());
    const std::size_t rows = part_of(w).rows();
    const vector f(rows, 1.0);
    vector x(rows);
    CHECK(cg.solve(f, x, {1e-12}).converged && error_of(w, x) < 1e-8);
    const tacit::device_vector b(cg.A().queue(), f);
    tacit::device_vector u(cg.A().queue(), vector(rows));
    cg.solve(b, u, {1e-12});
    CHECK(u.host() == x); /* bit for bit */
    /* on the last rank alone: all ranks refuse */
    vector wrong(w.rank() == w.size() - 1 ? rows + 1 : rows);
    REFUSED(TACIT_INVALID, "each row", [&] { cg.solve(f, wrong); });
    REFUSED(TACIT_INVALID, "each row", [&] { cg.solve_columns(0, f, x); });
    REFUSED(TACIT_INVALID, "", [&] { cg.set("tol", "1e-3"); });
}

void limits(const tacit::world &w, const char *device)
{
    tacit::solver cg(
        tacit::linear_operator(tacit::queue(w, device), springs(w)));
    const vector f(part_of(w).rows(), 1.0);
    vector x(f.size());
    tacit::stop until;
    until.max_iterations = 7;
    try {
        CHECK(!cg.solve(f, x, until).converged);
    } catch (const tacit::unsolved &e) {
        CHECK(e.status() == TACIT_NOT_CONVERGED && e.result().iterations == 7);
        CHECK(std::strstr(e.what(), "not converged"));
        CHECK(w.max(std::abs(x[x.size() / 2])) > 0.0); /* the last iterate */
    }
}

void monitors(const tacit::world &w, const char *device)
{
    tacit::solver cg(
        tacit::linear_operator(tacit::queue(w, device), springs(w)));
    const vector f(part_of(w).rows(), 1.0);
    vector x(f.size());
    int calls = 0;
    tacit::stop until;
    until.monitor = [&](std::int64_t i, double) { return calls++, i >= 5; };
    REFUSED(TACIT_INTERRUPTED, "", [&] { cg.solve(f, x, until); });
    CHECK(calls >= 6 && calls < 120);

    calls = 0; /* calls of the library in a monitor are alone */
    until.monitor = [&](std::int64_t i, double) {
        try {
            tacit::queue(tacit::world(), "nowhere");
        } catch (const tacit::error &) {
            calls++;
        }
        return i < 0;
    };
    CHECK(cg.solve(f, x, until).converged && calls > 100);

    /* thrown on the last rank: its own there, an interrupt on the others */
    const bool last = w.rank() == w.size() - 1;
    std::fill(x.begin(), x.end(), 0.0);
    until.monitor = [&](std::int64_t i, double) -> bool {
        if (last && i == 4) throw mine("enough");
        return false;
    };
    const auto solve = [&] { cg.solve(f, x, until); };
    if (last) CHECK(mine_of(solve));
    else refused<tacit::unsolved>(__LINE__, TACIT_INTERRUPTED, "", solve);
    until.monitor = nullptr;
    CHECK(cg.solve(f, x, until).converged);
}

/* x / 2, a preconditioner that holds `life`. */
tacit::linear_operator half(const tacit::linear_operator &A,
                            std::shared_ptr<int> life)
{
    tacit::operator_function f;
    f.apply = [life](tacit::span<const double> x, tacit::span<double> y) {
        (*life)++;
        for (std::size_t i = 0; i < x.size(); i++) y[i] = 0.5 * x[i];
    };
    return tacit::linear_operator(A.queue(), A.local_rows(), f);
}

/* Copies of a solver's handle share what it borrows. */
void copies(const tacit::world &w)
{
    const tacit::matrix A = springs(w);
    const vector f(part_of(w).rows(), 1.0);
    vector x(f.size());
    auto first = std::make_unique<tacit::solver>(
        tacit::linear_operator(tacit::queue(w), A));
    tacit::solver other = *first;
    const tacit::linear_operator Q = other.A();
    std::weak_ptr<int> alive;
    {
        const auto life = std::make_shared<int>(0);
        alive = life;
        first->set_precond(half(Q, life));
    }
    CHECK(!alive.expired());
    first.reset();
    CHECK(!alive.expired());
    CHECK(other.solve(f, x, {1e-12}).converged && error_of(w, x) < 1e-8);
    other.set_precond(tacit::preconditioner(Q, A, "amg"));
    CHECK(alive.expired()); /* nobody has it any more */
    tacit::solver last = other;
    other = tacit::solver(Q);
    std::fill(x.begin(), x.end(), 0.0);
    CHECK(last.solve(f, x, {1e-12}).converged && error_of(w, x) < 1e-8);
}

/* Each column has its monitor, which ends all unsolved, and its test. */
void tests_of_columns(const tacit::world &w, const char *device)
{
    tacit::solver cg = solver_of(w, device);
    const std::size_t rows = part_of(w).rows();
    const vector B(2 * rows, 1.0);
    vector X(2 * rows);
    std::array<int, 2> seen = {0, 0};
    int tested = 0;
    tacit::stop until{1e-12};
    until.column_monitor = [&](int column, std::int64_t, double) {
        seen[static_cast<std::size_t>(column)]++;
        return false;
    };
    until.converged = [&](std::int64_t i, double) { return tested++, i == 2; };
    for (const tacit_result &r : cg.solve_columns(2, B, X, until))
        CHECK(r.converged && r.stop == TACIT_STOP_MONITOR);
    CHECK(seen[0] >= 3 && seen[1] >= 3 && tested == seen[0] + seen[1]);

    until.column_monitor = [](int column, std::int64_t i, double) {
        return column == 1 && i == 1;
    };
    until.converged = [](std::int64_t i, double) { return i == 3; };
    std::fill(X.begin(), X.end(), 0.0);
    try {
        cg.solve_columns(2, B, X, until);
        CHECK(!"a monitor's true is unsolved");
    } catch (const tacit::unsolved &e) {
        CHECK(e.status() == TACIT_INTERRUPTED);
        CHECK(e.results()[0].converged && !e.results()[1].converged);
        CHECK(e.results()[1].stop == TACIT_STOP_INTERRUPTED);
    }
    /* of one column, and of a race */
    until.column_monitor = [](int, std::int64_t i, double) { return i == 1; };
    vector x(rows);
    const vector f(rows, 1.0);
    REFUSED(TACIT_INTERRUPTED, "", [&] { cg.solve(f, x, until); });
    REFUSED(TACIT_INTERRUPTED, "", [&] { tacit::solve(springs(w), f, until); });
    until.column_monitor = nullptr;
    until.monitor = [](std::int64_t i, double) { return i == 1; };
    std::fill(x.begin(), x.end(), 0.0);
    REFUSED(TACIT_INTERRUPTED, "", [&] { cg.solve(f, x, until); });
}

void columns(const tacit::world &w, const char *device)
{
    tacit::solver cg = solver_of(w, device);
    const std::size_t rows = part_of(w).rows();
    vector B(2 * rows, 1.0), X(2 * rows);
    for (std::size_t i = rows; i < 2 * rows; i++) B[i] = 3.0;
    std::array<int, 2> seen = {0, 0};
    tacit::stop until{1e-12};
    until.column_monitor = [&](int column, std::int64_t, double) {
        seen[static_cast<std::size_t>(column)]++;
        return false;
    };
    const std::vector<tacit_result> results = cg.solve_columns(2, B, X, until);
    CHECK(results.size() == 2 && results[1].converged && seen[0] && seen[1]);
    CHECK(error_of(w, vector(X.begin(), X.begin() + long(rows))) < 1e-8);
    CHECK(error_of(w, vector(X.begin() + long(rows), X.end()), 1.0 / 3) < 1e-8);
}

void updates(const tacit::world &w)
{
    const tacit::queue q(w);
    tacit::linear_operator A(q, springs(w));
    tacit::preconditioner M(A, springs(w), "amg");
    tacit::solver cg(A);
    cg.set_precond(M);
    const vector f(part_of(w).rows(), 1.0);
    vector x(f.size());
    A.update(springs(w, 4.0));
    REFUSED(TACIT_INVALID, "",
            [&] { cg.solve(f, x); }); /* M is of old values */
    M.update(springs(w, 4.0));
    CHECK(cg.solve(f, x, {1e-12}).converged && error_of(w, x, 4.0) < 1e-8);
    CHECK(A.describe().rows == N && std::strcmp(M.describe().name, "amg") == 0);
}

/* The user's word, and what was told. */
void tests_of_convergence(const tacit::world &w, const char *device)
{
    tacit::solver cg(
        tacit::linear_operator(tacit::queue(w, device), springs(w)));
    const vector f(part_of(w).rows(), 1.0);
    vector x(f.size()), history;
    tacit::stop until{1e-12};
    until.history = &history;
    until.converged = [](std::int64_t i, double) { return i == 9; };
    const tacit_result result = cg.solve(f, x, until);
    CHECK(result.converged && result.stop == TACIT_STOP_MONITOR);
    /* a GPU's loops look at some iterations at a time */
    const int most = std::strcmp(device, "host") == 0 ? 20 : 40;
    CHECK(result.iterations >= 9 && result.iterations < most);
    CHECK(history.size() == std::size_t(result.iterations) + 1);
    CHECK(history[0] == 1.0 && history.back() == result.relative_residual);
    until.converged = nullptr;
    std::fill(x.begin(), x.end(), 0.0);
    const tacit_result all = cg.solve(f, x, until);
    CHECK(all.stop == TACIT_STOP_RTOL);
    CHECK(history.size() == std::size_t(all.iterations) + 1);
    REFUSED(TACIT_INVALID, "one column", [&] {
        vector B(2 * f.size(), 1.0), X(2 * f.size());
        cg.solve_columns(2, B, X, until);
    });
    const bool last = w.rank() == w.size() - 1;
    std::fill(x.begin(), x.end(), 0.0);
    until.converged = [&](std::int64_t i, double) -> bool {
        if (last && i == 4) throw mine("enough");
        return false;
    };
    const auto solve = [&] { cg.solve(f, x, until); };
    if (last) CHECK(mine_of(solve));
    else refused<tacit::unsolved>(__LINE__, TACIT_INTERRUPTED, "", solve);
}

/* Springs one by one, all given by rank 0, and held at their ends by fixing. */
void elements(const tacit::world &w)
{
    std::vector<std::int64_t> rows, cols, ends;
    vector vals;
    for (std::int64_t i = 0; w.rank() == 0 && i + 1 < N + 2; i++)
        for (const std::int64_t at : {i, i + 1})
            for (const std::int64_t to : {i, i + 1}) {
                rows.push_back(at);
                cols.push_back(to);
                vals.push_back(at == to ? 1.0 : -1.0);
            }
    if (w.rank() == 0) ends = {0, N + 1};
    const std::int64_t n = N + 2, first = n * w.rank() / w.size();
    const std::int64_t own = n * (w.rank() + 1) / w.size() - first;
    const tacit::entries e(rows, cols, vals);
    tacit::matrix A(w, n, first, own, e);
    A.set_entries(e);
    vector b(std::size_t(own), 1.0);
    A.fix(ends, vector(ends.size(), 5.0), b);
    const vector x = tacit::solve(A, b, {1e-12}).x;
    double worst = 0.0; /* the sag of the chain, 5 higher */
    for (std::int64_t i = 0; i < own; i++) {
        const double at = double(first + i);
        const double exact = 5.0 + 0.5 * at * (double(N) + 1.0 - at);
        worst = std::max(worst, std::abs(x[std::size_t(i)] / exact - 1.0));
    }
    CHECK(w.max(worst) < 1e-8);
    A.fix({0, N + 1}); /* again, in other words */
    A.fix(std::vector<int>{0, int(N) + 1});
    vals.push_back(1.0); /* on all ranks */
    REFUSED(TACIT_INVALID, "one length", [&] {
        tacit::matrix(w, n, first, own, tacit::entries(rows, cols, vals));
    });
    REFUSED(TACIT_INVALID, "new values", [&] { A.set_values(vector(1)); });
    REFUSED(TACIT_INVALID, "a value each",
            [&] { A.fix(ends, vector(ends.size() + 1), b); });
}

/* A chain with free ends: b loses its mean. */
void null_spaces(const tacit::world &w)
{
    const part own = part_of(w);
    arrays a = chain(N, own.first, own.end);
    if (own.first == 0) a.vals.front() = 1.0;
    if (own.end == N) a.vals.back() = 1.0;
    const tacit::matrix A(w, N, own.first, a.ptr, a.cols, a.vals);
    tacit::linear_operator Q(tacit::queue(w), A);
    vector b(own.rows(), 0.0), x(own.rows());
    if (w.rank() == 0) b[0] = 1.0;
    const vector ones(own.rows(), 1.0);
    const vector wrong(own.rows() + (w.rank() == w.size() - 1), 1.0);
    REFUSED(TACIT_INVALID, "null vectors",
            [&] { Q.set_null_space(A, false, wrong, 1); });
    Q.set_null_space(A, false, ones, 1);
    tacit::solver cg(Q);
    const tacit_result result = cg.solve(b, x, {1e-10});
    CHECK(result.converged && result.null_declared && result.null_vectors == 1);
    double sum = 0.0;
    for (const double value : x) sum += value;
    CHECK(std::abs(w.sum(sum)) < 1e-6);
}

void triangles()
{
    const std::vector<std::int32_t> rows = {0, 0, 1}, cols = {0, 1, 1};
    const vector vals = {2, -1, 2};
    const tacit::matrix A(2, {rows, cols, vals, TACIT_TRIANGLE_UPPER});
    CHECK(A.nonzeros() == 4);
    A.check_symmetric();
    REFUSED(TACIT_INVALID, "", [&] {
        tacit::matrix(2, {rows, cols, vals, TACIT_TRIANGLE_LOWER});
    });
}

void options(const tacit::world &w)
{
    const tacit::queue q(w);
    const tacit::matrix A = springs(w);
    const tacit::linear_operator Q(q, A);
    tacit::precond_options o;
    o.set("amg", "degree", "3").set("amg", "cycle", "w");
    const tacit::preconditioner M(Q, A, "amg", o);
    CHECK(std::strstr(M.describe().detail, "chebyshev(3)"));
    REFUSED(TACIT_INVALID, "", [&] { o.set("amg", "degre", "3"); });
    const vector ones(part_of(w).rows() + (w.rank() == w.size() - 1), 1.0);
    o.near_null(ones, 1);
    REFUSED(TACIT_INVALID, "near-null",
            [&] { tacit::preconditioner(Q, A, "amg", o); });
    CHECK(tacit::preconditioner(Q, "none").get() == nullptr);
    REFUSED(TACIT_INVALID, "jacobi",
            [&] { tacit::preconditioner(Q, "jacoby"); });
}

/* Devices differ in these. */
void on_device(const tacit::world &w, const char *device)
{
    solves(w, device);
    limits(w, device);
    monitors(w, device);
    columns(w, device);
    tests_of_columns(w, device);
    tests_of_convergence(w, device);
}

void all()
{
    const tacit::world w = everyone();
    spans();
    vectors(w);
    matrices(w);
    two_worlds(w);
    on_device(w, "host");
    on_device(w, "memcheck:host");
    copies(w);
    updates(w);
    elements(w);
    triangles();
    null_spaces(w);
    options(w);
    all_kinds(w);
}

} // namespace

/* With an argument: on that device alone. */
int main(int argc, char **argv)
{
#if TEST_MPI
    MPI_Init(&argc, &argv);
#endif
    if (argc > 1 && tacit_device_probe(argv[1]) < 0) {
        std::printf("skipped: %s\n", tacit_error_message());
        return 77;
    }
    try {
        if (argc > 1) on_device(everyone(), argv[1]);
        else all();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "an exception: %s\n", e.what());
        failures++;
    }
#if TEST_MPI
    if (failures) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
#endif
    return failures != 0;
}

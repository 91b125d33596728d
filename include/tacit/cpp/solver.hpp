/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/solver.hpp - of tacit.hpp: solves (tacit/solver.h). */
#ifndef TACIT_CPP_SOLVER_HPP
#define TACIT_CPP_SOLVER_HPP
#include <algorithm>
#include <optional>
#include <tacit/cpp/operator.hpp>
#include <tacit/solver.h>

namespace tacit
{

/* The end of a solve: tacit_stop. In C++17 stop{1e-8}, in C++20 also
 * {.rtol = 1e-8, .monitor = ...}. A monitor is called once an iteration, on all
 * ranks; true from one of them, or an exception, ends the solve unsolved. A test
 * `converged` is called after it, and its true, on all ranks alike, ends the
 * solve as solved: that of one column, if there are several. */
struct stop {
    double rtol = 1e-6;
    double atol = 0.0;
    std::int64_t max_iterations = 10000;
    std::function<bool(std::int64_t iteration, double residual)> monitor = {};
    std::function<bool(int column, std::int64_t iteration, double residual)>
        column_monitor = {};     /* in place of monitor, columns from 0 */
    std::int64_t iterations = 0; /* exactly so many, if not 0       */
    tacit_norm norm = TACIT_NORM_RESIDUAL;
    bool relative_to_first = false;
    std::function<bool(std::int64_t iteration, double residual)> converged = {};
    /* gets the relative residual of each iteration, of one column */
    std::vector<double> *history = nullptr;
};

/* A solve has not reached its target: NOT_CONVERGED, INTERRUPTED or BREAKDOWN
 * as its status(). x is as tacit_solver_run leaves it. */
class unsolved : public error
{
  public:
    unsolved(tacit_status status, const std::string &sentence,
             std::vector<tacit_result> results)
        : error(status, sentence),
          results_(
              std::make_shared<std::vector<tacit_result>>(std::move(results)))
    {
    }
    const tacit_result &result() const noexcept { return results_->front(); }
    /* Of each column. */
    const std::vector<tacit_result> &results() const noexcept
    {
        return *results_;
    }

  private:
    std::shared_ptr<std::vector<tacit_result>> results_;
};

namespace detail
{

/* Call a monitor from C; after an exception no more. */
template <class Call> int ask(Call &&call) noexcept
{
    if (thrown()) return 1;
    bool ends = false;
    return guarded([&] { ends = call(); }) != TACIT_OK || ends;
}

/* The monitor, then the test: below 0 the solve ends unsolved, above 0 solved,
 * which is C's meaning where a test is there. */
inline int ask_column_monitor(void *ctx, int column, std::int64_t iteration,
                              double residual)
{
    const auto &until = *static_cast<const stop *>(ctx);
    bool solved = false;
    const int over = ask([&] {
        const bool ends =
            until.column_monitor
                ? until.column_monitor(column, iteration, residual)
                : until.monitor && until.monitor(iteration, residual);
        if (!ends && until.converged)
            solved = until.converged(iteration, residual);
        return ends;
    });
    return over ? -1 : solved;
}

inline int ask_monitor(void *ctx, std::int64_t iteration, double residual)
{
    return ask_column_monitor(ctx, 0, iteration, residual);
}

/* Give `c` room for the history of a run. */
inline void open_history(const stop &until, int columns, tacit_stop &c)
{
    if (!until.history) return;
    if (columns > 1)
        throw error(TACIT_INVALID, "a history is of one column, not of " +
                                       std::to_string(columns));
    const std::int64_t last = std::max(until.iterations, until.max_iterations);
    const std::int64_t most = std::int64_t{1} << 20;
    until.history->assign(static_cast<std::size_t>(std::min(last, most) + 1),
                          0.0);
    c.history = until.history->data();
    c.history_room = static_cast<std::int64_t>(until.history->size());
}

/* `until` in C, which borrows it. */
inline tacit_stop in_c(const stop &until)
{
    auto c = sized<tacit_stop>();
    c.rtol = until.rtol;
    c.atol = until.atol;
    c.max_iterations = until.max_iterations;
    c.monitor_decides = static_cast<bool>(until.converged);
    if (until.converged || until.monitor || until.column_monitor) {
        c.monitor = ask_monitor;
        c.column_monitor = ask_column_monitor;
    }
    c.monitor_ctx = const_cast<stop *>(&until);
    c.iterations = until.iterations;
    c.norm = until.norm;
    c.relative_to_first = until.relative_to_first;
    return c;
}

/* The results of `call(c, results)`, a run of C for `columns`; it throws for an
 * error, and for a solve without a solution. */
template <class Call>
std::vector<tacit_result> results_of(const stop &until, int columns,
                                     Call &&call)
{
    std::vector<tacit_result> results(static_cast<std::size_t>(columns),
                                      sized<tacit_result>());
    tacit_stop c = in_c(until);
    open_history(until, columns, c);
    const tacit_status status = call(&c, results.data());
    if (until.history)
        until.history->resize(
            static_cast<std::size_t>(results.front().history));
    if (check(status) > 0)
        throw unsolved(status, tacit_error_message(), std::move(results));
    return results;
}

} // namespace detail

/* A method for an operator. Spans are of the host, and device_vectors of the
 * operator's device. x is guess and result, also of what throws unsolved. All
 * calls are collective. */
class solver
{
  public:
    explicit solver(linear_operator A, const std::string &method = "cg")
        : A_(std::move(A)),
          object_(detail::share<tacit_solver>(
              tacit_solver_destroy,
              [&](tacit_solver **out) {
                  return tacit_solver_create(A_.queue().get(), A_.get(),
                                             method.c_str(), out);
              },
              A_, M_))
    {
    }

    /* A setting by name: tacit_solver_set. */
    void set(const std::string &name, const std::string &value)
    {
        detail::check(tacit_solver_set(get(), name.c_str(), value.c_str()));
    }
    /* The solver keeps M. */
    void set_precond(const linear_operator &M)
    {
        detail::check(tacit_solver_set_precond(get(), M.get()));
        *M_ = M;
    }

    /* Solve A x = b, of this rank's rows. */
    tacit_result solve(const device_vector &b, device_vector &x,
                       const stop &until = {})
    {
        require(b.size(), x.size(), 1);
        return run(1, b.data(), x.data(), until).front();
    }
    tacit_result solve(span<const double> b, span<double> x,
                       const stop &until = {})
    {
        return solve_columns(1, b, x, until).front();
    }

    /* Solve for `columns` right-hand sides, one after the other in B, as in X:
     * tacit_solver_run_block. */
    std::vector<tacit_result> solve_columns(int columns, span<const double> B,
                                            span<double> X,
                                            const stop &until = {})
    {
        require(B.size(), X.size(), columns);
        return on_device(B, X, [&](const double *b, double *x) {
            return run(columns, b, x, until);
        });
    }

    /* Solve, and find the fastest preconditioner, which the solver then owns:
     * tacit_solver_race. `of` is the matrix of the operator. */
    tacit_result race(const matrix &of, span<const double> b, span<double> x,
                      const stop &until = {}, std::int64_t solves = 1)
    {
        require(b.size(), x.size(), 1);
        auto options = detail::sized<tacit_precond_race>();
        options.matrix = of.get();
        options.solves = solves;
        const auto work = [&](const double *from, double *to) {
            return detail::results_of(
                until, 1, [&](const tacit_stop *c, tacit_result *results) {
                    return tacit_solver_race(get(), &options, from, to, c,
                                             results);
                });
        };
        return on_device(b, x, work).front();
    }

    /* A lower bound of the condition number; 0: not known. */
    double condition() const { return tacit_solver_condition(get()); }
    const linear_operator &A() const noexcept { return A_; }
    tacit_solver *get() const noexcept { return object_.get(); }

  private:
    void require(std::size_t of_b, std::size_t of_x, int columns) const
    {
        const std::size_t want =
            columns < 1 ? 0
                        : A_.local_rows() * static_cast<std::size_t>(columns);
        A_.queue().world().require(
            columns >= 1 && of_b == want && of_x == want,
            "b and x need an element for each row of this rank and column");
    }
    std::vector<tacit_result> run(int columns, const double *b, double *x,
                                  const stop &until)
    {
        const std::size_t rows = A_.local_rows();
        return detail::results_of(
            until, columns, [&](const tacit_stop *c, tacit_result *results) {
                return columns == 1
                           ? tacit_solver_run(get(), b, x, c, results)
                           : tacit_solver_run_block(get(), columns, b, rows, x,
                                                    rows, c, results);
            });
    }

    /* work(b, x) with vectors of the device, of which x comes back whatever is
     * thrown; on the host these are the caller's. */
    template <class Work>
    std::vector<tacit_result> on_device(span<const double> b, span<double> x,
                                        Work &&work) const
    {
        const queue &q = A_.queue();
        if (q.on_host()) return work(b.data(), x.data());
        const device_vector from(q, b);
        device_vector to(q, x);
        try {
            std::vector<tacit_result> results = work(from.data(), to.data());
            to.get(x);
            return results;
        } catch (...) { /* whatever it is, it says more than this copy could */
            tacit_queue_get(q.get(), x.size(), to.data(), x.data());
            throw;
        }
    }

    linear_operator A_;
    /* M, of all handles alike, destroyed after the solver */
    std::shared_ptr<std::optional<linear_operator>> M_ =
        std::make_shared<std::optional<linear_operator>>();
    std::shared_ptr<tacit_solver> object_;
};

struct solution {
    std::vector<double> x;
    tacit_result result;
};

/* Solve A x = b once, from x = 0: A is symmetric and, but for methods minres,
 * positive definite, which is checked as far as symmetry goes. `precond` "auto"
 * finds the fastest; names as in tacit_precond_at. Collective. */
inline solution solve(const matrix &A, span<const double> b,
                      const stop &until = {},
                      const std::string &precond = "auto",
                      const std::string &method = "cg",
                      const std::string &device = "host")
{
    A.check_symmetric();
    linear_operator Q(queue(A.world(), device), A,
                      detail::sized<tacit_operator_options>());
    solver s(Q, method);
    solution out{std::vector<double>(A.local_rows()), {}};
    if (precond == "auto") {
        out.result = s.race(A, b, out.x, until);
    } else {
        s.set_precond(preconditioner(Q, A, precond));
        out.result = s.solve(b, out.x, until);
    }
    return out;
}

} // namespace tacit
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/operator.hpp - of tacit.hpp: operators and preconditioners
 * (tacit/operator.h, tacit/precond.h). */
#ifndef TACIT_CPP_OPERATOR_HPP
#define TACIT_CPP_OPERATOR_HPP
#include <deque>
#include <tacit/cpp/matrix.hpp>
#include <tacit/precond.h>

namespace tacit
{

/* An operator given by functions: tacit_operator_function. Spans are of the
 * device: this rank's rows. An exception ends the solve and comes out of
 * it. */
struct operator_function {
    std::function<void(span<const double> x, span<double> y)> apply;
    std::function<void(span<double> d)> diagonal = {}; /* may be empty */
    double norm = 0.0;                                 /* 0: estimated */
    bool varies = false;
};

namespace detail
{

/* The functions, and how C calls them. */
struct operator_state {
    operator_function f;
    std::size_t rows;

    static tacit_status apply(void *ctx, tacit_queue *, const double *x,
                              double *y)
    {
        const auto &s = *static_cast<const operator_state *>(ctx);
        return guarded([&] { s.f.apply({x, s.rows}, {y, s.rows}); });
    }
    static tacit_status diagonal(void *ctx, tacit_queue *, double *d)
    {
        const auto &s = *static_cast<const operator_state *>(ctx);
        return guarded([&] { s.f.diagonal({d, s.rows}); });
    }

    tacit_status create(tacit_queue *q, tacit_operator **out)
    {
        auto in_c = sized<tacit_operator_function>();
        in_c.apply = f.apply ? apply : nullptr;
        in_c.diagonal = f.diagonal ? diagonal : nullptr;
        in_c.ctx = this;
        in_c.norm = f.norm;
        in_c.varies = f.varies;
        return tacit_operator_from_function(q, static_cast<std::int64_t>(rows),
                                            &in_c, out);
    }
};

} // namespace detail

namespace detail
{

/* Refuse a queue and a matrix of other processes; two worlds of one process
 * alone may meet. */
inline void check_worlds(const queue &q, const matrix &A)
{
    const world &one = q.world(), &other = A.world();
    if (one.get() == other.get() || (one.size() == 1 && other.size() == 1))
        return;
    throw error(TACIT_INVALID, "the queue and the matrix have different "
                               "worlds: make both in one");
}

} // namespace detail

/* The matrix or function that a solver multiplies by. */
class linear_operator
{
  public:
    /* Of a matrix, which is copied: tacit_operator_create. Collective. */
    linear_operator(const queue &q, const matrix &A,
                    const std::string &format = "auto")
        : linear_operator(
              q,
              [&](tacit_operator **out) {
                  detail::check_worlds(q, A);
                  return tacit_operator_create(q.get(), A.get(), format.c_str(),
                                               out);
              },
              q, A.world())
    {
    }
    /* The same for few solves: tacit_operator_create_for. */
    linear_operator(const queue &q, const matrix &A,
                    const tacit_operator_options &options)
        : linear_operator(
              q,
              [&](tacit_operator **out) {
                  detail::check_worlds(q, A);
                  return tacit_operator_create_for(q.get(), A.get(), &options,
                                                   out);
              },
              q, A.world())
    {
    }
    /* Of functions, for `rows` elements of a vector on this rank.
     * Collective. */
    linear_operator(const queue &q, std::size_t rows, operator_function f)
        : linear_operator(q, std::make_shared<detail::operator_state>(
                                 detail::operator_state{std::move(f), rows}))
    {
    }

    std::size_t local_rows() const
    {
        return static_cast<std::size_t>(tacit_operator_local_rows(get()));
    }
    /* y = A x, of vectors of the device. Collective. */
    void apply(const device_vector &x, device_vector &y) const
    {
        queue_.world().require(x.size() == local_rows() &&
                                   y.size() == local_rows(),
                               "a vector of another length than the operator");
        detail::check(tacit_operator_apply(get(), x.data(), y.data()));
    }
    /* New values, of the same pattern: tacit_operator_update. Collective. */
    void update(const matrix &A)
    {
        detail::check(tacit_operator_update(get(), A.get()));
    }
    /* Vectors that a symmetric singular A takes to 0: `count` of them, one after
     * another, each with this rank's rows, and constants of its components;
     * solves then project b: tacit_operator_set_null_space. Collective. */
    void set_null_space(const matrix &A, bool constants,
                        span<const double> vectors = {}, int count = 0)
    {
        queue_.world().require(
            count >= 0 && vectors.size() ==
                              local_rows() * static_cast<std::size_t>(count),
            "null vectors of another length than the operator has rows");
        auto space = detail::sized<tacit_null_space>();
        space.constants = constants;
        space.vectors = count;
        space.values = vectors.data();
        detail::check(tacit_operator_set_null_space(get(), A.get(), &space));
    }
    tacit_operator_info describe() const
    {
        auto out = detail::sized<tacit_operator_info>();
        detail::check(tacit_operator_describe(get(), &out));
        return out;
    }

    const tacit::queue &queue() const noexcept { return queue_; }
    tacit_operator *get() const noexcept { return object_.get(); }

  protected:
    template <class Create, class... Used,
              class = std::enable_if_t<
                  std::is_invocable_v<Create, tacit_operator **>>>
    linear_operator(const tacit::queue &q, Create &&create, const Used &...used)
        : queue_(q), object_(detail::share<tacit_operator>(
                         tacit_operator_destroy, create, used...))
    {
    }

  private:
    linear_operator(const tacit::queue &q,
                    const std::shared_ptr<detail::operator_state> &state)
        : linear_operator(
              q,
              [&](tacit_operator **out) { return state->create(q.get(), out); },
              q, state)
    {
    }

    tacit::queue queue_;
    std::shared_ptr<tacit_operator> object_;
};

/* Options of preconditioners, by name: docs/guide/tables.md. */
class precond_options
{
  public:
    precond_options() : c_(detail::sized<tacit_precond_options>()) {}

    /* options.set("amg", "cycle", "k").set("amg", "degree", "3"); an unknown
     * option or value throws. */
    precond_options &set(const std::string &precond, const std::string &name,
                         const std::string &value)
    {
        names_.push_back(value);
        detail::check(tacit_precond_options_set(
            &c_, precond.c_str(), name.c_str(), names_.back().c_str()));
        return *this;
    }

    /* `count` vectors that A maps close to 0, one after another, each with this
     * rank's rows: rigid_body_modes(). Borrowed until preconditioners are
     * made. */
    precond_options &near_null(span<const double> vectors, int count)
    {
        near_null_ = vectors;
        c_.near_null = vectors.data();
        c_.vectors = count;
        return *this;
    }
    bool fits(std::size_t rows) const
    {
        return !c_.near_null ||
               near_null_.size() == rows * static_cast<std::size_t>(c_.vectors);
    }

    const tacit_precond_options *get() const noexcept { return &c_; }
    precond_options(const precond_options &) = delete; /* c_ has addresses */
    precond_options &operator=(const precond_options &) = delete;

  private:
    tacit_precond_options c_;
    std::deque<std::string> names_;
    span<const double> near_null_;
};

/* An approximate inverse of an operator. */
class preconditioner : public linear_operator
{
  public:
    /* Of the operator alone: "jacobi"; or "none", for which get() is null.
     * Collective. */
    explicit preconditioner(const linear_operator &A,
                            const std::string &name = "jacobi")
        : linear_operator(
              A.queue(),
              [&](tacit_operator **out) {
                  return tacit_precond_create(A.get(), name.c_str(), out);
              },
              A)
    {
    }
    /* Of the matrix of A, too: "amg", "ic0", ...: tacit_precond_create_of.
     * Collective. */
    preconditioner(const linear_operator &A, const matrix &of,
                   const std::string &name, const precond_options &options = {})
        : linear_operator(
              A.queue(),
              [&](tacit_operator **out) {
                  of.world().require(options.fits(A.local_rows()),
                                     "near-null vectors of another length than "
                                     "the operator has rows");
                  return tacit_precond_create_of(
                      A.get(), of.get(), name.c_str(), options.get(), out);
              },
              A, of.world())
    {
    }

    /* The new values of its operator, after linear_operator::update with the
     * same matrix. Collective. */
    void update(const matrix &of)
    {
        detail::check(tacit_precond_update(get(), of.get()));
    }
    tacit_precond_info describe() const
    {
        auto out = detail::sized<tacit_precond_info>();
        detail::check(tacit_precond_describe(get(), &out));
        return out;
    }
};

} // namespace tacit
#endif

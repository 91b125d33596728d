/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/factor.hpp - of tacit.hpp: direct solves (tacit/factor.h). */
#ifndef TACIT_CPP_FACTOR_HPP
#define TACIT_CPP_FACTOR_HPP
#include <tacit/cpp/matrix.hpp>
#include <tacit/factor.h>

namespace tacit
{

/* A factor of a matrix of one process: tacit_factor_create. */
class factor
{
  public:
    explicit factor(const matrix &A, tacit_factor_kind kind = TACIT_FACTOR_LLT,
                    const std::string &order = "")
    {
        auto options = detail::sized<tacit_factor_options>();
        options.kind = kind;
        options.order = order.empty() ? nullptr : order.c_str();
        object_ = detail::share<tacit_factor>(
            tacit_factor_destroy,
            [&](tacit_factor **out) {
                return tacit_factor_create(A.get(), &options, out);
            },
            A.world());
    }

    /* Solve for as many columns as B has, one after the other; X may be B. */
    void solve(span<const double> B, span<double> X) const
    {
        const auto rows = static_cast<std::size_t>(describe().rows);
        if (B.size() != X.size() || B.empty() || B.size() % rows != 0)
            throw error(TACIT_INVALID, "B and X need columns of " +
                                           std::to_string(rows) + " elements");
        detail::check(tacit_factor_solve(get(),
                                         static_cast<int>(B.size() / rows),
                                         B.data(), rows, X.data(), rows));
    }
    std::vector<double> solve(span<const double> B) const
    {
        std::vector<double> X(B.size());
        solve(B, X);
        return X;
    }
    tacit_factor_info describe() const
    {
        auto out = detail::sized<tacit_factor_info>();
        detail::check(tacit_factor_describe(get(), &out));
        return out;
    }

    tacit_factor *get() const noexcept { return object_.get(); }

  private:
    std::shared_ptr<tacit_factor> object_;
};

} // namespace tacit
#endif

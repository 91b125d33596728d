/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/field.hpp - of tacit.hpp: Jacobi iterations on grids
 * (tacit/stencil.h). */
#ifndef TACIT_CPP_FIELD_HPP
#define TACIT_CPP_FIELD_HPP
#include <tacit/cpp/queue.hpp>
#include <tacit/stencil.h>

namespace tacit
{

/* The steps to make: tacit_field_options. */
struct steps {
    std::int64_t count = 1;
    const char *way = "auto";
    int depth = 0;               /* 0: measured */
    double rtol = 0.0;           /* of the change, to the first step's; 0: no */
    std::int64_t norm_every = 0; /* 0: with rtol 64, else never */
    /* After each measured step; true, or an exception, ends the run. */
    std::function<bool(std::int64_t step, double change)> monitor = {};
};

/* The values of a grid. All calls but put and get are collective. */
class field
{
  public:
    /* All cells 0, of "star2d1r:NXxNY" or a description. */
    field(const queue &q, const std::string &name) : field(q, parsed(name)) {}
    field(const queue &q, const tacit_stencil &stencil)
        : object_(detail::share<tacit_field>(
              tacit_field_destroy,
              [&](tacit_field **out) {
                  return tacit_field_create(q.get(), &stencil, out);
              },
              q))
    {
    }

    static tacit_stencil parsed(const std::string &name)
    {
        auto out = detail::sized<tacit_stencil>();
        detail::check(tacit_stencil_parse(name.c_str(), &out));
        return out;
    }

    /* Cells [first, first + values.size()), those of this rank's block. */
    void put(span<const double> values, std::int64_t first = 0)
    {
        detail::check(
            tacit_field_put(get(), first, count(values.size()), values.data()));
    }
    void get(span<double> values, std::int64_t first = 0) const
    {
        detail::check(
            tacit_field_get(get(), first, count(values.size()), values.data()));
    }
    void fill(double value) { detail::check(tacit_field_fill(get(), value)); }
    tacit_field_block block() const
    {
        auto out = detail::sized<tacit_field_block>();
        detail::check(tacit_field_block_of(get(), &out));
        return out;
    }

    void read(const std::string &path)
    {
        detail::check(tacit_field_read(get(), path.c_str()));
    }
    void write(const std::string &path) const
    {
        detail::check(tacit_field_write(get(), path.c_str()));
    }
    void write_png(const std::string &path) const
    {
        detail::check(tacit_field_write_png(get(), path.c_str()));
    }

    /* Make steps. A run that ends without rtol, or by its monitor, throws
     * error: NOT_CONVERGED, BREAKDOWN, INTERRUPTED; the field has its cells. */
    tacit_field_result run(const steps &s)
    {
        auto options = detail::sized<tacit_field_options>();
        options.steps = s.count;
        options.way = s.way;
        options.depth = s.depth;
        options.rtol = s.rtol;
        options.norm_every = s.norm_every;
        options.monitor = s.monitor ? ask : nullptr;
        options.monitor_ctx = const_cast<steps *>(&s);
        auto out = detail::sized<tacit_field_result>();
        const tacit_status status =
            detail::check(tacit_field_run(get(), &options, &out));
        if (status > 0) throw error(status, tacit_error_message());
        return out;
    }

    tacit_field *get() const noexcept { return object_.get(); }

  private:
    static std::int64_t count(std::size_t size)
    {
        return static_cast<std::int64_t>(size);
    }
    static int ask(void *ctx, std::int64_t step, double change)
    {
        const auto &s = *static_cast<const steps *>(ctx);
        if (detail::thrown()) return 1;
        bool ends = false;
        const tacit_status status =
            detail::guarded([&] { ends = s.monitor(step, change); });
        return status != TACIT_OK || ends;
    }

    std::shared_ptr<tacit_field> object_;
};

} // namespace tacit
#endif

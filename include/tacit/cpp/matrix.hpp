/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/matrix.hpp - of tacit.hpp: the matrix that the user gives
 * (tacit/matrix.h). */
#ifndef TACIT_CPP_MATRIX_HPP
#define TACIT_CPP_MATRIX_HPP
#include <initializer_list>
#include <tacit/cpp/queue.hpp>
#include <tacit/matrix.h>

namespace tacit
{

/* Entries in any order, as elements contribute them; equal ones are added, and
 * those of other ranks' rows are sent there: tacit_matrix_from_entries. It owns
 * nothing. */
class entries
{
  public:
    entries(span<const std::int64_t> rows, span<const std::int64_t> cols,
            span<const double> vals,
            tacit_triangle triangle = TACIT_TRIANGLE_BOTH)
        : entries(rows.size(), cols.size(), vals, triangle)
    {
        c_.rows = rows.data();
        c_.cols = cols.data();
    }
    entries(span<const std::int32_t> rows, span<const std::int32_t> cols,
            span<const double> vals,
            tacit_triangle triangle = TACIT_TRIANGLE_BOTH)
        : entries(rows.size(), cols.size(), vals, triangle)
    {
        c_.rows32 = rows.data();
        c_.cols32 = cols.data();
    }

    bool fit() const noexcept { return fit_; }
    const tacit_entries *get() const noexcept { return &c_; }

  private:
    entries(std::size_t rows, std::size_t cols, span<const double> vals,
            tacit_triangle triangle)
        : c_(detail::sized<tacit_entries>()),
          fit_(rows == cols && rows == vals.size())
    {
        c_.count = static_cast<std::int64_t>(vals.size());
        c_.vals = vals.data();
        c_.triangle = triangle;
    }

    tacit_entries c_;
    bool fit_;
};

class matrix
{
  public:
    /* Rows [first, first + ptr.size() - 1) of `global_rows`, those of this
     * rank, with global columns, as tacit_matrix_from_rows has them: integers
     * of 32 or 64 bits. The arrays are copied. Collective. */
    matrix(const tacit::world &w, std::int64_t global_rows, std::int64_t first,
           span<const std::int64_t> ptr, span<const std::int64_t> cols,
           span<const double> vals)
        : matrix(w, global_rows, first, ptr, cols, vals, tacit_matrix_from_rows)
    {
    }
    matrix(const tacit::world &w, std::int64_t global_rows, std::int64_t first,
           span<const std::int32_t> ptr, span<const std::int32_t> cols,
           span<const double> vals)
        : matrix(w, global_rows, first, ptr, cols, vals,
                 tacit_matrix_from_rows32)
    {
    }

    /* The same without a copy of `cols` and `vals`, which must outlive the
     * matrix and stay as they are: tacit_matrix_borrow_rows32. Collective. */
    static matrix borrow(const tacit::world &w, std::int64_t global_rows,
                         std::int64_t first, span<const std::int32_t> ptr,
                         span<const std::int32_t> cols, span<const double> vals)
    {
        return matrix(w, global_rows, first, ptr, cols, vals,
                      tacit_matrix_borrow_rows32);
    }

    /* A square matrix, all of it, in a world of this process alone. */
    template <class Ptr, class Cols>
    matrix(const Ptr &ptr, const Cols &cols, span<const double> vals)
        : matrix(tacit::world{}, rows_of(ptr), 0, ptr, cols, vals)
    {
    }

    /* Of entries, with this rank's rows [first, first + rows); or a square
     * matrix of `rows` in a world of this process alone. Collective. */
    matrix(const tacit::world &w, std::int64_t global_rows, std::int64_t first,
           std::int64_t rows, const entries &e)
        : world_(w)
    {
        w.require(e.fit(), unequal);
        object_ = detail::share<tacit_matrix>(
            tacit_matrix_destroy,
            [&](tacit_matrix **out) {
                return tacit_matrix_from_entries(w.get(), global_rows, first,
                                                 rows, e.get(), out);
            },
            w);
    }
    matrix(std::int64_t rows, const entries &e)
        : matrix(tacit::world{}, rows, 0, rows, e)
    {
    }

    /* A file of any format, or a gallery matrix: tacit_matrix_open.
     * Collective. */
    static matrix open(const tacit::world &w, const std::string &name,
                       const tacit_matrix_options *options = nullptr)
    {
        return matrix(w, detail::share<tacit_matrix>(
                             tacit_matrix_destroy,
                             [&](tacit_matrix **out) {
                                 return tacit_matrix_open(w.get(), name.c_str(),
                                                          options, out);
                             },
                             w));
    }

    /* A matrix made in C in `w`, which the handles own from now on. */
    static matrix adopt(const tacit::world &w, tacit_matrix *raw)
    {
        return matrix(w, detail::shared(raw, tacit_matrix_destroy, w));
    }

    std::int64_t rows() const { return tacit_matrix_global_rows(get()); }
    std::int64_t nonzeros() const { return tacit_matrix_nonzeros(get()); }
    std::int64_t first_row() const { return tacit_matrix_first_row(get()); }
    /* Rows of this rank: the length of its part of a vector. */
    std::size_t local_rows() const
    {
        return static_cast<std::size_t>(tacit_matrix_local_rows(get()));
    }
    /* Their original numbers; empty if none has moved. */
    span<const std::int64_t> original_rows() const
    {
        const std::int64_t *moved = tacit_matrix_original_rows(get());
        return {moved, moved ? local_rows() : 0};
    }
    /* Valid until the matrix is partitioned or dropped. */
    tacit_rows view() const
    {
        tacit_rows out{};
        detail::check(tacit_matrix_view_rows(get(), &out));
        return out;
    }
    /* Collective. */
    tacit_matrix_info describe() const
    {
        auto out = detail::sized<tacit_matrix_info>();
        detail::check(tacit_matrix_describe(get(), &out));
        return out;
    }
    /* Throw INPUT, naming an entry, unless it is symmetric. Collective. */
    void check_symmetric() const
    {
        detail::check(tacit_matrix_check_symmetric(get()));
    }
    /* Move rows between ranks: tacit_matrix_partition. Collective. */
    void partition(const std::string &how, const char *file = nullptr)
    {
        detail::check(tacit_matrix_partition(get(), how.c_str(), file));
    }
    /* New values of the same pattern, in the order of view() or of entries, and
     * rows with known values, which b gets (empty: all 0, and no b):
     * tacit_matrix_set_values, tacit_matrix_set_entries, tacit_matrix_fix.
     * Before the operator is made, or updated. Collective. */
    void set_values(span<const double> vals)
    {
        world_.require(static_cast<std::int64_t>(vals.size()) ==
                           local_entries(),
                       "as many new values as the rank has entries are needed");
        detail::check(tacit_matrix_set_values(get(), vals.data()));
    }
    void set_entries(const entries &e)
    {
        world_.require(e.fit(), unequal);
        detail::check(tacit_matrix_set_entries(get(), e.get()));
    }
    void fix(span<const std::int64_t> fixed, span<const double> values = {},
             span<double> b = {})
    {
        const bool all = values.empty() || values.size() == fixed.size();
        world_.require(all && (b.empty() || b.size() == local_rows()),
                       "fixed rows need a value each, or none at all, and b "
                       "this rank's rows");
        detail::check(tacit_matrix_fix(
            get(), static_cast<std::int64_t>(fixed.size()), fixed.data(),
            values.empty() ? nullptr : values.data(),
            b.empty() ? nullptr : b.data()));
    }
    void fix(std::initializer_list<std::int64_t> fixed,
             span<const double> values = {}, span<double> b = {})
    {
        fix(span<const std::int64_t>(fixed.begin(), fixed.size()), values, b);
    }
    void fix(const std::vector<int> &fixed, span<const double> values = {},
             span<double> b = {})
    {
        const std::vector<std::int64_t> rows(fixed.begin(), fixed.end());
        fix(span<const std::int64_t>(rows), values, b);
    }
    void drop_entries() { tacit_matrix_drop_entries(get()); }

    /* Files, in the original order of rows. Collective. */
    void write(const std::string &path) const
    {
        detail::check(tacit_matrix_write(get(), path.c_str()));
    }
    void write_vector(const std::string &path, span<const double> x) const
    {
        world_.require(x.size() == local_rows(), "a vector of another length "
                                                 "than the rank has rows");
        detail::check(tacit_matrix_write_vector(get(), path.c_str(), x.data()));
    }
    std::vector<double> read_vector(const std::string &path) const
    {
        std::vector<double> x(local_rows());
        detail::check(tacit_matrix_read_vector(get(), path.c_str(), x.data()));
        return x;
    }

    const tacit::world &world() const noexcept { return world_; }
    tacit_matrix *get() const noexcept { return object_.get(); }

  private:
    static constexpr const char *unequal =
        "entries need arrays of rows, columns and values of one length";

    std::int64_t local_entries() const
    {
        const tacit_rows own = view();
        return own.ptr[own.count];
    }
    matrix(const tacit::world &w, std::shared_ptr<tacit_matrix> object)
        : world_(w), object_(std::move(object))
    {
    }
    template <class Index, class Make>
    matrix(const tacit::world &w, std::int64_t global_rows, std::int64_t first,
           span<const Index> ptr, span<const Index> cols,
           span<const double> vals, Make make)
        : world_(w)
    {
        const bool fits = !ptr.empty() && cols.size() == vals.size() &&
                          std::int64_t{ptr[ptr.size() - 1]} ==
                              static_cast<std::int64_t>(vals.size());
        w.require(fits, "the arrays of a matrix do not fit: ptr ends with the "
                        "lengths of cols and vals");
        object_ = detail::share<tacit_matrix>(
            tacit_matrix_destroy,
            [&](tacit_matrix **out) {
                return make(w.get(), global_rows, first,
                            static_cast<std::int64_t>(ptr.size()) - 1,
                            ptr.data(), cols.data(), vals.data(), out);
            },
            w);
    }
    template <class Ptr> static std::int64_t rows_of(const Ptr &ptr)
    {
        return static_cast<std::int64_t>(ptr.size()) - 1;
    }

    tacit::world world_;
    std::shared_ptr<tacit_matrix> object_;
};

/* The rigid-body modes of `components` (0 to dims - 1, one a row) at `points`
 * [rows][dims], one mode after the other: tacit_rigid_body_modes. */
inline std::vector<double> rigid_body_modes(int dims, span<const double> points,
                                            span<const int> components,
                                            const double *centre = nullptr)
{
    if (points.size() != components.size() * static_cast<std::size_t>(dims))
        throw error(TACIT_INVALID, "rigid-body modes need a point of " +
                                       std::to_string(dims) +
                                       " numbers for each row");
    std::vector<double> modes(components.size() * (dims == 2 ? 3 : 6));
    detail::check(tacit_rigid_body_modes(
        dims, static_cast<std::int64_t>(components.size()), points.data(),
        components.data(), centre, modes.data()));
    return modes;
}

} // namespace tacit
#endif

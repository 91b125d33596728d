/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/matrix.hpp - of tacit.hpp: the matrix that the user gives
 * (tacit/matrix.h). */
#ifndef TACIT_CPP_MATRIX_HPP
#define TACIT_CPP_MATRIX_HPP
#include <tacit/cpp/queue.hpp>
#include <tacit/matrix.h>

namespace tacit
{

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

    /* A square matrix, all of it, in a world of this process alone. */
    template <class Ptr, class Cols>
    matrix(const Ptr &ptr, const Cols &cols, span<const double> vals)
        : matrix(tacit::world{}, rows_of(ptr), 0, ptr, cols, vals)
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

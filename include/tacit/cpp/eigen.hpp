/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/eigen.hpp - of tacit.hpp: sparse matrices of Eigen, if its header
 * is included before. Its vectors are spans already. */
#ifndef TACIT_CPP_EIGEN_HPP
#define TACIT_CPP_EIGEN_HPP
#include <tacit/cpp/matrix.hpp>

#ifdef EIGEN_SPARSECORE_MODULE_H
namespace tacit
{
namespace detail
{

template <class Index>
using eigen_index =
    std::conditional_t<sizeof(Index) <= 4, std::int32_t, std::int64_t>;

/* The arrays of a compressed matrix, by rows. */
template <class Eigen>
matrix from_compressed(const world &w, std::int64_t first, const Eigen &A)
{
    using index = typename Eigen::StorageIndex;
    const auto rows = static_cast<std::size_t>(A.rows());
    const auto entries = static_cast<std::size_t>(A.nonZeros());
    w.require(w.size() > 1 || A.rows() == A.cols(),
              "a matrix of Eigen that is not square");
    return matrix(w, A.cols(), first,
                  span<const index>(A.outerIndexPtr(), rows + 1),
                  span<const index>(A.innerIndexPtr(), entries),
                  span<const double>(A.valuePtr(), entries));
}

} // namespace detail

/* The matrix of Eigen's `A`: this rank's rows of it, from row `first` on, with
 * all columns; of one process all of it. Rows that are compressed are read in
 * place; columns, and entries of other types, are converted by one copy. Of a
 * triangle assign A.selfadjointView<Eigen::Lower>() to a SparseMatrix first.
 * Collective. */
template <class Scalar, int Options, class Index>
matrix from_eigen(const Eigen::SparseMatrix<Scalar, Options, Index> &A,
                  const world &w = {}, std::int64_t first = 0)
{
    using index = detail::eigen_index<Index>;
    using by_rows = Eigen::SparseMatrix<double, Eigen::RowMajor, index>;
    if constexpr (std::is_same_v<Eigen::SparseMatrix<Scalar, Options, Index>,
                                 by_rows>) {
        if (A.isCompressed()) return detail::from_compressed(w, first, A);
    }
    by_rows copy = A.template cast<double>();
    copy.makeCompressed();
    return detail::from_compressed(w, first, copy);
}

} // namespace tacit
#endif
#endif

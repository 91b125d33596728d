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

/* Are the arrays of such an expression rows of doubles? */
template <class Derived>
constexpr bool eigen_has_rows =
    std::is_base_of_v<Eigen::SparseCompressedBase<Derived>, Derived>
        &&Derived::IsRowMajor && !Derived::IsVectorAtCompileTime &&
    std::is_same_v<typename Derived::Scalar, double> &&
    std::is_same_v<typename Derived::StorageIndex,
                   eigen_index<typename Derived::StorageIndex>>;

/* The rows of a compressed matrix, by `make`(w, all rows, first, ptr, cols,
 * vals). Rows that are a block of another matrix's get a `ptr` of their own. */
template <class Derived, class Make>
matrix of_rows(const world &w, std::int64_t first, const Derived &A, Make make)
{
    using index = typename Derived::StorageIndex;
    const auto rows = static_cast<std::size_t>(A.rows());
    const index *outer = A.outerIndexPtr(), start = outer[0];
    const auto entries = static_cast<std::size_t>(outer[rows] - start);
    std::vector<index> own;
    for (std::size_t i = 0; start != 0 && i <= rows; i++)
        own.push_back(outer[i] - start);
    w.require(w.size() > 1 || A.rows() == A.cols(),
              "a matrix of Eigen that is not square");
    return make(w, std::int64_t{A.cols()}, first,
                span<const index>(own.empty() ? outer : own.data(), rows + 1),
                span<const index>(A.innerIndexPtr() + start, entries),
                span<const double>(A.valuePtr() + start, entries));
}

template <class Derived>
matrix copy_rows(const world &w, std::int64_t first, const Derived &A)
{
    return of_rows(w, first, A,
                   [](const auto &...given) { return matrix(given...); });
}

/* One copy, by rows and of doubles. */
template <class Expression>
matrix evaluate_rows(const world &w, std::int64_t first, const Expression &A)
{
    using scalar = typename Expression::Scalar;
    using index = eigen_index<typename Expression::StorageIndex>;
    static_assert(!Eigen::NumTraits<scalar>::IsComplex,
                  "tacit::from_eigen: Tacit solves real systems; A is complex");
    Eigen::SparseMatrix<scalar, Eigen::RowMajor, index> rows(A);
    rows.makeCompressed();
    if constexpr (std::is_same_v<scalar, double>) {
        return copy_rows(w, first, rows);
    } else {
        const Eigen::SparseMatrix<double, Eigen::RowMajor, index> converted =
            rows.template cast<double>();
        return copy_rows(w, first, converted);
    }
}

} // namespace detail

/* The matrix of any sparse expression of Eigen, `A`: this rank's rows of it,
 * from row `first` on, with all columns; of one process all of it. Collective.
 *
 * Compressed rows of doubles are read in place, also those of a Map, a Ref, a
 * block of rows, or the transpose of columns. Columns, uncompressed rows,
 * entries of other types and expressions are evaluated first: one copy. The
 * matrix owns its rows. Of one triangle pass A.selfadjointView<Eigen::Lower>().
 * A complex or a dense A does not compile: a sentence says why. */
template <class Derived>
matrix from_eigen(const Eigen::SparseMatrixBase<Derived> &A,
                  const world &w = {}, std::int64_t first = 0)
{
    const Derived &given = A.derived();
    if constexpr (detail::eigen_has_rows<Derived>) {
        if (given.isCompressed()) return detail::copy_rows(w, first, given);
    }
    return detail::evaluate_rows(w, first, given);
}

/* The same of a triangle's mirror. Collective. */
template <class Matrix, unsigned Mode>
matrix from_eigen(const Eigen::SparseSelfAdjointView<Matrix, Mode> &A,
                  const world &w = {}, std::int64_t first = 0)
{
    using scalar = typename Eigen::SparseSelfAdjointView<Matrix, Mode>::Scalar;
    using index = typename std::decay_t<Matrix>::StorageIndex;
    const Eigen::SparseMatrix<scalar, Eigen::RowMajor, index> both(A);
    return from_eigen(both, w, first);
}

template <class Derived>
void from_eigen(const Eigen::DenseBase<Derived> &, const world & = {},
                std::int64_t = 0)
{
    static_assert(!sizeof(Derived), "tacit::from_eigen takes sparse matrices: "
                                    "pass A.sparseView() of a dense A");
}

/* The same without any copy: `A`, or what it views, must outlive the matrix,
 * and operators made of it for few solves, and stay as it is
 * (tacit_matrix_borrow_rows32). It has rows of doubles and indices of 32 bits,
 * or does not compile.
 * Collective.  Errors INVALID (A is not compressed), and those of the function
 * in C. */
template <class Derived>
matrix borrow_eigen(const Eigen::SparseMatrixBase<Derived> &A,
                    const world &w = {}, std::int64_t first = 0)
{
    static_assert(
        detail::eigen_has_rows<Derived>,
        "tacit::borrow_eigen needs rows of doubles: "
        "Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>, a "
        "Map or Ref of one, or the transpose of columns");
    static_assert(sizeof(typename Derived::StorageIndex) == 4,
                  "tacit::borrow_eigen needs indices of 32 bits");
    const Derived &given = A.derived();
    w.require(given.isCompressed(),
              "borrow_eigen needs a compressed matrix: call makeCompressed(), "
              "or use from_eigen");
    return detail::of_rows(w, first, given, [](const auto &...all) {
        return matrix::borrow(all...);
    });
}

template <class Scalar, int Options, class Index>
matrix borrow_eigen(Eigen::SparseMatrix<Scalar, Options, Index> &&,
                    const world & = {}, std::int64_t = 0) = delete;

} // namespace tacit
#endif
#endif

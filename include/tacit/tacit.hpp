/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/tacit.hpp - Tacit in C++17 and newer, in headers alone.
 *
 *     #include <tacit/tacit.hpp>
 *
 *     tacit::matrix A = tacit::matrix::open({}, "poisson3d:20");
 *     std::vector<double> b(A.local_rows(), 1.0);
 *     auto [x, result] = tacit::solve(A, b, {1e-8}, "amg");
 *
 * and, for many right-hand sides,
 *
 *     tacit::queue q(tacit::world{}, "host");
 *     tacit::linear_operator A(q, matrix);
 *     tacit::preconditioner M(A, matrix, "amg");
 *     tacit::solver cg(A);
 *     cg.set_precond(M);
 *     cg.solve(b, x);                      // spans of host memory
 *
 * Objects     are handles. A copy of a handle stands for the same object, which
 *             is destroyed with its last handle; an object keeps those that it
 *             borrows (a solver its operator, that its queue), so that handles
 *             may go in any order. get() is the pointer for functions in C.
 * Errors      are exceptions: tacit::error, with the status and the library's
 *             sentence; tacit::unsolved, with results, if a solve has not
 *             reached its target. An exception that a monitor or an operator
 *             of the caller's throws ends the solve and comes out of it; other
 *             ranks have INTERRUPTED or the same status.
 * Arrays      are tacit::span: std::vector, std::array, std::span, arrays,
 *             Eigen's vectors and column-major matrices convert to it.
 * Eigen       if <Eigen/Sparse> or <Eigen/SparseCore> is included before this
 *             header: tacit::from_eigen(A).
 * MPI         if <tacit/mpi.h> is included before: tacit::from_mpi(comm).
 * Collective  as in C: what the header of the function in C says holds. All
 *             ranks let their last handles go in the same order, before
 *             MPI_Finalize. Lengths of arrays are agreed on: a mistake on one
 *             rank is an exception on all.
 * Threads     as in C: tacit/world.h. */
#ifndef TACIT_TACIT_HPP
#define TACIT_TACIT_HPP
#include <tacit/cpp/base.hpp>
#include <tacit/cpp/eigen.hpp>
#include <tacit/cpp/factor.hpp>
#include <tacit/cpp/field.hpp>
#include <tacit/cpp/matrix.hpp>
#include <tacit/cpp/operator.hpp>
#include <tacit/cpp/queue.hpp>
#include <tacit/cpp/solver.hpp>
#include <tacit/tacit.h>

#ifdef TACIT_MPI_H
namespace tacit
{

/* A world of the processes of `comm`: see tacit_world_from_mpi. MPI_Finalize
 * comes after its last handle and those of all objects in it. */
inline world from_mpi(MPI_Comm comm)
{
    return world::adopt(detail::made<tacit_world>(
        [&](tacit_world **out) { return tacit_world_from_mpi(comm, out); }));
}

} // namespace tacit
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * examples/mpi_rows.cpp - mpi_rows.c in C++.
 *
 *     c++ -std=c++17 mpi_rows.cpp -o mpi_rows \
 *         $(pkg-config --cflags --libs tacit-mpi)
 *     mpirun -np 4 ./mpi_rows
 *
 * The five-point Laplacian of an N x N grid, rows dealt out in bands; each rank
 * gives its own, with global columns. The right-hand side is A times a known
 * vector, and the program checks the solution against it. */
#include <algorithm>
#include <cmath>
#include <iostream>
#include <tacit/mpi.h> /* before tacit.hpp, which then has from_mpi */
#include <tacit/tacit.hpp>

constexpr std::int64_t N = 120, ROWS = N * N;

/* This rank's rows and its part of b. */
struct band {
    std::int64_t first, end;
    std::vector<std::int64_t> ptr = {0}, cols = {};
    std::vector<double> vals = {}, b = {};
};

static double known(std::int64_t i)
{
    return std::sin(0.1 * double(i));
}

static void add_row(band &own, std::int64_t i)
{
    const std::int64_t x = i % N, y = i / N;
    double sum = 0.0;
    const auto add = [&](bool inside, std::int64_t j, double value) {
        if (!inside) return;
        own.cols.push_back(j);
        own.vals.push_back(value);
        sum += value * known(j);
    };
    add(y > 0, i - N, -1.0);
    add(x > 0, i - 1, -1.0);
    add(true, i, 4.0);
    add(x < N - 1, i + 1, -1.0);
    add(y < N - 1, i + N, -1.0);
    own.ptr.push_back(static_cast<std::int64_t>(own.cols.size()));
    own.b.push_back(sum);
}

static double solve(const tacit::world &world)
{
    const std::int64_t rank = world.rank(), size = world.size();
    band own{ROWS * rank / size, ROWS * (rank + 1) / size};
    for (std::int64_t i = own.first; i < own.end; i++) add_row(own, i);

    const tacit::queue q(world, "host");
    const tacit::matrix A(world, ROWS, own.first, own.ptr, own.cols, own.vals);
    tacit::solver pipelined(tacit::linear_operator(q, A), "pipelined");
    std::vector<double> x(own.b.size());
    const tacit_result result = pipelined.solve(own.b, x, {1e-10});
    if (rank == 0)
        std::cout << size << " ranks: " << result.iterations
                  << " iterations, ||b - A x|| / ||b|| = "
                  << result.true_relative_residual << "\n";
    double error = 0.0;
    for (std::size_t i = 0; i < x.size(); i++)
        error = std::max(error,
                         std::abs(x[i] - known(own.first + std::int64_t(i))));
    return world.max(error);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = 1;
    try {
        const double error = solve(tacit::from_mpi(MPI_COMM_WORLD));
        status = error < 1e-6 ? 0 : 1;
    } catch (const tacit::error &e) { /* the same on all ranks */
        std::cerr << e.what() << "\n";
    }
    MPI_Finalize(); /* all handles are gone */
    return status;
}

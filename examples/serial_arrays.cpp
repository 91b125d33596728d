/* SPDX-License-Identifier: BSD-3-Clause
 * examples/serial_arrays.cpp - serial_arrays.c in C++.
 *
 *     c++ -std=c++17 serial_arrays.cpp -o serial_arrays \
 *         $(pkg-config --cflags --libs tacit)
 *
 * A chain of springs between two walls: K u = f, where K has 2 on the diagonal
 * and -1 beside it. Under the same force everywhere it sags like a parabola,
 * u_i = i (n + 1 - i) / 2, and the program checks that it does. */
#include <algorithm>
#include <cmath>
#include <iostream>
#include <tacit/tacit.hpp>

static tacit::matrix chain(std::int64_t n)
{
    std::vector<std::int64_t> ptr = {0}, cols;
    std::vector<double> vals;
    for (std::int64_t i = 0; i < n; i++) {
        for (std::int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            cols.push_back(j);
            vals.push_back(i == j ? 2.0 : -1.0);
        }
        ptr.push_back(static_cast<std::int64_t>(cols.size()));
    }
    return tacit::matrix(ptr, cols, vals);
}

int main()
try {
    const std::size_t n = 1000;
    const std::vector<double> f(n, 1.0);
    const auto [u, result] = tacit::solve(chain(n), f, {1e-12}, "none");
    std::cout << result.iterations << " iterations, ||b - A x|| / ||b|| = "
              << result.true_relative_residual << "\n";

    double worst = 0.0;
    for (std::size_t i = 0; i < n; i++) {
        const double exact = 0.5 * double(i + 1) * double(n - i);
        worst = std::max(worst, std::abs(u[i] / exact - 1.0));
    }
    std::cout << "largest relative error " << worst << "\n";
    return worst < 1e-6 ? 0 : 1;
} catch (const tacit::error &e) {
    std::cerr << e.what() << "\n";
    return 1;
}

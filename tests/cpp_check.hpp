/* SPDX-License-Identifier: BSD-3-Clause
 * Of test_cpp.cpp and its other file: checks, and a chain of springs. */
#ifndef TEST_CPP_CHECK_HPP
#define TEST_CPP_CHECK_HPP
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#if TEST_MPI
#include <tacit/mpi.h>
#endif
#include <tacit/tacit.hpp>

inline int failures = 0;

#define CHECK(condition)                                                    \
    ((condition)                                                            \
         ? (void)0                                                          \
         : (void)(failures++, std::fprintf(stderr, "%s:%d: %s\n", __FILE__, \
                                           __LINE__, #condition)))

/* `work` throws an E with this status, whose sentence has `part`. */
template <class E = tacit::error, class Work>
void refused(int line, tacit_status status, const char *part, Work &&work)
{
    try {
        work();
    } catch (const E &e) {
        if (e.status() == status && std::strstr(e.what(), part)) return;
        std::fprintf(stderr, "line %d: %s: %s\n", line,
                     tacit_status_name(e.status()), e.what());
        failures++;
        return;
    }
    std::fprintf(stderr, "line %d: nothing is thrown\n", line);
    failures++;
}
#define REFUSED(...) refused(__LINE__, __VA_ARGS__)

struct mine : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* A mine comes out of `work`. */
template <class Work> bool mine_of(Work &&work)
{
    try {
        work();
    } catch (const mine &) {
        return true;
    }
    return false;
}

using vector = std::vector<double>;

inline tacit::world everyone()
{
#if TEST_MPI
    return tacit::from_mpi(MPI_COMM_WORLD);
#else
    return tacit::world();
#endif
}

struct arrays {
    std::vector<std::int64_t> ptr = {0}, cols = {};
    vector vals = {};
};

/* Rows [first, end) of the chain of n springs of strength k, tied to walls. */
inline arrays chain(std::int64_t n, std::int64_t first, std::int64_t end,
                    double k = 1)
{
    arrays a;
    for (std::int64_t i = first; i < end; i++) {
        for (std::int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n) continue;
            a.cols.push_back(j);
            a.vals.push_back(i == j ? 2.0 * k : -k);
        }
        a.ptr.push_back(static_cast<std::int64_t>(a.cols.size()));
    }
    return a;
}

constexpr std::int64_t N = 300;

struct part {
    std::int64_t first, end;
    std::size_t rows() const { return static_cast<std::size_t>(end - first); }
};

inline part part_of(const tacit::world &w)
{
    return {N * w.rank() / w.size(), N * (w.rank() + 1) / w.size()};
}

inline tacit::matrix springs(const tacit::world &w, double k = 1)
{
    const part own = part_of(w);
    const arrays a = chain(N, own.first, own.end, k);
    return tacit::matrix(w, N, own.first, a.ptr, a.cols, a.vals);
}

/* Largest error of this rank's x, the sag of k-springs under force 1. */
inline double error_of(const tacit::world &w, const vector &x, double k = 1)
{
    const part own = part_of(w);
    double worst = 0.0;
    for (std::int64_t i = own.first; i < own.end; i++) {
        const double exact = 0.5 * double(i + 1) * double(N - i) / k;
        const double found = x[static_cast<std::size_t>(i - own.first)];
        worst = std::max(worst, std::abs(found / exact - 1.0));
    }
    return w.max(worst);
}

inline std::size_t length(tacit::span<const double> s)
{
    return s.size();
}

/* The kinds of test_cpp_kinds.cpp. */
void all_kinds(const tacit::world &w);

#endif

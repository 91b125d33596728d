/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/pass.cuh - the passes as types, for kernel templates: the row of
 * TCT_PASSES, and its body as `at`. */
#ifndef TCT_DEVICE_GPU_PASS_CUH
#define TCT_DEVICE_GPU_PASS_CUH
#include "device/passes.h"

#define X(name, text, vectors_, reads_, writes_, sums_, held_, ...)         \
    struct tct_pass_##name {                                                \
        static constexpr int vectors = vectors_, sums = sums_;              \
        static constexpr unsigned reads = reads_, writes = writes_;         \
        static constexpr bool held = held_;                                 \
        using stored = double;                                              \
        static __device__ void at(double *v, double a, double b, double *s) \
        {                                                                   \
            pass_##name(v, a, b, s);                                        \
        }                                                                   \
    };
TCT_PASSES(X)
#undef X

/* The same pass on vectors of floats. */
template <class PASS> struct tct_of_floats : PASS {
    using stored = float;
};

#endif

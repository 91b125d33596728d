/* SPDX-License-Identifier: BSD-3-Clause
 * baseline/peer_style.h - the baseline on a GPU: conjugate gradients of
 * cuSPARSE's product in CSR and cuBLAS's vector operations, driven as other
 * solvers do. It shares no kernel and no queue with the library, and is
 * compared with it in one run.
 *
 * cuSPARSE and cuBLAS are loaded when a tct_peer is created: a program with
 * this file starts without them. */
#ifndef TCT_BASELINE_PEER_STYLE_H
#define TCT_BASELINE_PEER_STYLE_H
#include <stdbool.h>
#include <stdint.h>
#include <tacit/status.h>

typedef struct tct_peer tct_peer;

typedef struct tct_peer_result {
    int64_t iterations;
    double seconds; /* of the iterations, by the wall clock, stream drained */
    double relative_residual; /* of the recurrence                     */
    double
        true_relative_residual; /* ||b - A x|| / ||b||, computed at the end */
    bool converged;
    const char *algorithm; /* of the product; owned by the tct_peer */
    double device_bytes;   /* matrix, vectors and buffers           */
} tct_peer_result;

/* Copy a square matrix to the current GPU, in 32-bit indices if they fit, and
 * find the faster of cuSPARSE's two algorithms for CSR.
 *   ptr  [rows + 1]   where each row starts, ptr[0] = 0
 *   col  [ptr[rows]]  columns, 0 to rows - 1
 *   val  [ptr[rows]]
 * Errors      UNSUPPORTED (a build without CUDA, or a library that does not
 *             load, with the reason), DEVICE, NO_MEMORY. */
tacit_status tct_peer_create(int64_t rows, const int64_t *ptr,
                             const int32_t *col, const double *val,
                             tct_peer **out);

/* Variant `i` of the loop, NULL past the end. */
typedef struct tct_peer_variant {
    const char *name, *summary;
} tct_peer_variant;
const tct_peer_variant *tct_peer_variant_at(int i);

/* Solve A x = b from x = 0; `b` [rows] on the host, NULL for all ones. Stops at
 * ||r|| <= rtol ||b|| or after `max_iterations`; with rtol = 0 only at r = 0,
 * or if r is not finite. A short run before the timed one loads the kernels. */
tacit_status tct_peer_solve(tct_peer *P, int variant, const double *b,
                            double rtol, int64_t max_iterations,
                            tct_peer_result *out);

/* Seconds of one product: the median of several batches; NAN on an error. */
double tct_peer_spmv_seconds(tct_peer *P);

/* Free `*P` and set it to NULL; NULL is fine. */
void tct_peer_destroy(tct_peer **P);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/peer.c - the baselines of `tacit compare` on a GPU: the same
 * system, solved by cuSPARSE and cuBLAS. */
#include "baseline/peer_style.h"
#include "cli/compare/compare.h"
#include <math.h>

/* A result of the baseline as one of the library. */
static cli_run run_of(const tct_peer_result *r)
{
    cli_run run = {.status = r->converged ? TACIT_OK : TACIT_NOT_CONVERGED,
                   .error = (double)NAN};
    run.result = (tacit_result){
        .size = sizeof(tacit_result),
        .converged = r->converged,
        .stop = r->converged ? TACIT_STOP_RTOL : TACIT_STOP_MAX_ITERATIONS,
        .iterations = r->iterations,
        .relative_residual = r->relative_residual,
        .true_relative_residual = r->true_relative_residual,
        .breakdown_iteration = -1,
        .seconds = r->seconds,
        .norm_b = (double)NAN};
    return run;
}

static void describe(cli_comparison *all, const char *name,
                     const tct_peer_result *r, cli_compared *row)
{
    const double n = (double)all->problem.info.rows;
    const double k = (double)all->problem.info.nonzeros;
    row->baseline = true;
    row->path = all->path;
    row->path.method = name;
    row->path.loop = "host";
    row->path.loop_detail[0] = '\0';
    row->path.precision = "double";
    row->path.precond = "none";
    row->path.order = "none";
    row->path.bytes_per_nonzero = (12 * k + 4 * (n + 1)) / k;
    snprintf(row->path.format, sizeof row->path.format, "csr");
    snprintf(row->path.detail, sizeof row->path.detail, "cuSPARSE, %s",
             r->algorithm);
}

static tacit_status one_peer(const cli *c, cli_comparison *all, tct_peer *P,
                             int variant, const char *name, double rtol)
{
    cli_compared *row = cli_compare_next(all);
    const int repeat = cli_compare_repeat(c);
    const bool counts = c->set.iterations > 0;
    const int64_t most = counts ? c->set.iterations : c->set.max_iterations;
    double *seconds = NULL;
    if (!row) return TACIT_OK;
    TRY(ALLOC(repeat, "the times", &seconds));
    tct_peer_result r = {.converged = false};
    tacit_status status = TACIT_OK;
    for (int i = 0; i < repeat && status >= 0; i++) {
        status =
            tct_peer_solve(P, variant, all->b, counts ? 0.0 : rtol, most, &r);
        seconds[i] = r.seconds;
    }
    if (status >= 0)
        row->total = row->solve = r.seconds = base_median(seconds, repeat);
    free(seconds);
    TRY(status);
    row->run = run_of(&r);
    if (counts && r.iterations == most)
        row->run.result.stop = TACIT_STOP_ITERATIONS;
    describe(all, name, &r, row);
    all->count++;
    return TACIT_OK;
}

/* The tolerance of the other rows, as a relative one. */
static double tolerance(const cli_comparison *all)
{
    const double norm_b =
        all->count > 0 ? all->rows[0].run.result.norm_b : (double)NAN;
    if (!(norm_b > 0.0)) return all->rtol;
    return fmax(all->rtol, all->atol / norm_b);
}

tacit_status cli_compare_peers(const cli *c, cli_comparison *all)
{
    const char *name = "peer-style";
    tct_peer *P = NULL;
    tacit_rows A;
    tacit_status status = tacit_matrix_view_rows(all->problem.matrix, &A);
    if (status >= 0 && A.count > 0 && !A.cols32)
        status =
            tacit_error_set(TACIT_UNSUPPORTED, "columns of more than 32 bits");
    else if (status >= 0)
        status = tct_peer_create(A.count, A.ptr, A.cols32, A.vals, &P);
    if (status >= 0 && all->b) {
        const double rtol = tolerance(all);
        const tct_peer_variant *v;
        for (int i = 0; status >= 0 && (v = tct_peer_variant_at(i)); i++) {
            name = v->name;
            status = one_peer(c, all, P, i, name, rtol);
        }
    }
    tct_peer_destroy(&P);
    if (status >= 0) return status;
    /* the library's rows are complete: a failed baseline is only missing */
    cli_compare_miss(all, "baseline", name, tacit_error_message());
    return TACIT_OK;
}

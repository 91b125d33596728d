/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/on_gpu.c - triangular solves on a grid of Px x Py x Pz
 * processes with a GPU each: each of Pz grids has its part of the factor. In a
 * grid of several GPUs the part's tasks are distributed
 * (trisolve/gpu/distribute.h). */
#include "trisolve/grid/part.h"
#include "trisolve/grid/trsv.h"

struct tct_trsv_gpu {
    tacit_queue *q;
    tacit_factor_solver *S;
    int64_t launches;     /* so far                                     */
    int64_t columns;      /* right-hand sides in them */
    tct_shared_info info; /* of the last solve                          */
};

/* The grid of `extent`; zeros are unspecified. */
static tacit_status find_grid(const tacit_trsv *T, const tacit_factor_panels *P,
                              const int extent[3], tct_grid *out)
{
    const int size = T->world->size;
    const int e[3] = {extent[0] ? extent[0] : 1, extent[1] ? extent[1] : 1,
                      extent[2] ? extent[2] : size};
    if (T->scheme != TACIT_TRSV_3D)
        FAIL(TACIT_UNSUPPORTED,
             "on GPUs triangular solves have scheme 3d alone: take that, or "
             "solve on device host");
    return tct_grid_for(P, T->scheme, TACIT_TRSV_CYCLIC, e, size, out);
}

/* List the rows whose b is read and x written. */
static tacit_status list_rows(tacit_trsv *T, const tct_factor_part *s)
{
    const bool *mine = tct_factor_solver_mine(T->gpu->S);
    TRY(TCT_ALLOC(s->P.rows, "a triangular solve", &T->row));
    for (int64_t i = 0; i < s->P.rows; i++)
        if (s->place[i] >= 0 && (!mine || mine[i]))
            T->row[T->rows++] = s->place[i];
    return TACIT_OK;
}

/* Messages of one solve: the sum over ranks, and the largest. */
static tacit_status predict(tacit_trsv *T, const tct_shared_info *info)
{
    tct_message_count *f = &T->message_count;
    memcpy(f->messages_sent, info->messages, sizeof f->messages_sent);
    memcpy(f->width, info->values, sizeof f->width);
    memcpy(f->most, info->messages, sizeof f->most);
    TRY(tct_reduce_i64(T->world, TCT_SUM, TCT_TRSV_PHASES, f->messages_sent));
    TRY(tct_reduce_i64(T->world, TCT_SUM, TCT_TRSV_PHASES, f->width));
    return tct_reduce_i64(T->world, TCT_MAX, TCT_TRSV_PHASES, f->most);
}

static tacit_status build(tacit_trsv *T, const tct_factor_distribution *d,
                          const tct_pattern *S)
{
    tct_factor_part part;
    tacit_factor_solver_info about = {.size = sizeof about};
    const tacit_factor_solver_options options = {.size = sizeof options,
                                                 .columns = T->columns};
    const tct_grid *g = &T->plan.grid;
    TRY(tct_factor_part_create(d, S, T->world->rank / (g->px * g->py), &part));
    tacit_status status =
        tct_factor_solver_share(T->gpu->q, &part.P, part.place, &part.rows,
                                g->px, g->py, &options, &T->gpu->S);
    if (status >= 0) status = tct_agree(T->world, list_rows(T, &part));
    tct_factor_part_clear(&part);
    TRY(status);
    TRY(tacit_factor_solver_describe(T->gpu->S, &about));
    T->bytes = about.bytes;
    TRY(tct_agree(T->world,
                  tct_factor_solver_shared(T->gpu->S, &T->gpu->info)));
    return predict(T, &T->gpu->info);
}

tacit_status tct_trsv_gpu_open(tacit_trsv *T, tacit_queue *q,
                               const tct_factor_distribution *d,
                               const int extent[3])
{
    tct_grid grid;
    tct_pattern S = {.leaves = 0};
    tacit_status status = TACIT_OK;
    T->gpu = tct_calloc(sizeof *T->gpu);
    if (!T->gpu)
        status = tacit_error_set(TACIT_NO_MEMORY,
                                 "no memory for a triangular solve");
    if (status >= 0) T->gpu->q = q;
    if (status >= 0) status = find_grid(T, &d->P, extent, &grid);
    TRY(tct_agree(T->world, status));
    q_enter(q);
    T->plan.grid = grid;
    status = tct_pattern_create(&d->P, grid.pz, &S);
    if (status >= 0)
        status = tct_predict_messages(&S, &grid, NULL, &T->message_count);
    status = tct_agree(T->world, status);
    if (status >= 0) status = build(T, d, &S);
    tct_pattern_clear(&S);
    return status;
}

void tct_trsv_gpu_close(tacit_trsv *T)
{
    if (!T->gpu) return;
    tacit_factor_solver_destroy(&T->gpu->S);
    tct_free(T->gpu);
    T->gpu = NULL;
}

tacit_status tct_trsv_gpu_solve(tacit_trsv *T, int columns, const double *B,
                                size_t ldb, double *X, size_t ldx)
{
    T->gpu->launches += (columns + T->columns - 1) / T->columns;
    T->gpu->columns += columns;
    return tacit_factor_solver_run(T->gpu->S, columns, B, ldb, X, ldx);
}

tacit_status tct_trsv_gpu_wait(tacit_trsv *T)
{
    tacit_status status = tacit_factor_solver_wait(T->gpu->S);
    if (status >= 0) status = q_status(T->gpu->q);
    if (status >= 0)
        status = tct_factor_solver_shared(T->gpu->S, &T->gpu->info);
    memcpy(T->seconds, T->gpu->info.seconds, sizeof T->seconds);
    return status;
}

void tct_trsv_gpu_describe(const tacit_trsv *T, tacit_trsv_info *info)
{
    const struct tct_trsv_gpu *g = T->gpu;
    info->comm = g->info.link;
    info->one_kernel = g->info.by_kernel || T->world->size == 1;
    for (int k = 0; k < TCT_TRSV_PHASES; k++)
        info->message_bytes[k] = 8.0 * (double)T->message_count.width[k];
    for (int k = 0; k < TCT_TRSV_PHASES; k++) {
        info->sent[k] = g->info.messages_sent[k];
        info->sent_bytes[k] = 8 * g->columns * g->info.values[k];
    }
    info->sent[1] += g->launches * g->info.doublings;
}

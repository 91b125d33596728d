/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/distribute_factor.c - a factor from rank 0 to all ranks. */
#include "trisolve/grid/distribute_factor.h"

static const char *const what = "a factor from rank 0";

enum { PIECE = 1 << 22 }; /* values in a message, unless a panel is longer */

void tct_factor_distribution_close(tct_factor_distribution *d)
{
    tct_free_each(sizeof d->got / sizeof *d->got, d->got);
    *d = (tct_factor_distribution){.world = NULL};
}

/* --- the pattern ---------------------------------------------------------- */

/* An array that all ranks receive, and its length. */
typedef struct {
    const void **array;
    size_t bytes;
} part;

static int list_parts(tacit_factor_panels *P, part out[12])
{
    const size_t n = (size_t)P->rows, p = (size_t)P->panels,
                 long_ones = (p + 1) * sizeof(int64_t);
    const part all[] = {{(const void **)&P->first, long_ones},
                        {(const void **)&P->row_start, long_ones},
                        {(const void **)&P->value_start, long_ones},
                        {(const void **)&P->parent, p * sizeof(int32_t)},
                        {(const void **)&P->node, p * sizeof(int32_t)},
                        {(const void **)&P->original, n * sizeof(int32_t)},
                        {(const void **)&P->diagonal, n * sizeof(double)},
                        {(const void **)&P->off_diagonal, n * sizeof(double)},
                        {(const void **)&P->row_scale, n * sizeof(double)},
                        {(const void **)&P->col_scale, n * sizeof(double)},
                        {(const void **)&P->row_order, n * sizeof(int32_t)}};
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Broadcast array `k`, unless rank 0 lacks it. */
static tacit_status send_part(tct_factor_distribution *d, part x, int k)
{
    int64_t has_array = *x.array != NULL;
    tacit_status status = TACIT_OK;
    TRY(tct_bcast(d->world, 0, sizeof has_array, &has_array));
    if (!has_array) return TACIT_OK;
    if (d->world->rank > 0) {
        status = tct_alloc_array(x.bytes, 1, what, &d->got[k]);
        *x.array = d->got[k];
    }
    TRY(tct_agree(d->world, status));
    return tct_bcast(d->world, 0, x.bytes, (void *)(uintptr_t)*x.array);
}

static tacit_status send_pattern(tct_factor_distribution *d)
{
    tacit_factor_panels *P = &d->P, all = d->P;
    TRY(tct_bcast(d->world, 0, sizeof all, &all));
    if (d->world->rank > 0)
        *P = (tacit_factor_panels){.size = sizeof *P,
                                   .kind = all.kind,
                                   .rows = all.rows,
                                   .panels = all.panels,
                                   .leaves = all.leaves};
    part parts[12];
    const int count = list_parts(P, parts);
    for (int k = 0; k < count; k++) TRY(send_part(d, parts[k], k));
    const size_t rows = (size_t)P->row_start[P->panels];
    return send_part(d, (part){(const void **)&P->row, rows * sizeof(int32_t)},
                     count);
}

static tacit_status take_own(const tacit_factor_panels *panels,
                             tacit_factor_panels *out)
{
    if (!panels) return TACIT_OK;
    TRY(tacit_factor_check(panels));
    return tct_read_sized("tacit_factor_panels", panels, out, sizeof *out);
}

/* --- check that all ranks have the same ----------------------------------- */

static uint64_t mix_bytes(uint64_t h, size_t bytes, const void *from)
{
    const char *at = from;
    for (; bytes > 0; bytes -= bytes < 8 ? bytes : 8, at += 8) {
        uint64_t word = 0;
        memcpy(&word, at, bytes < 8 ? bytes : 8);
        h = tct_mix(h ^ word);
    }
    return h;
}

static int64_t pattern_hash(const tacit_factor_panels *P)
{
    const size_t p = (size_t)P->panels;
    uint64_t h =
        mix_bytes((uint64_t)P->leaves, (p + 1) * sizeof *P->first, P->first);
    h = mix_bytes(h, p * sizeof *P->node, P->node);
    h = mix_bytes(h, (p + 1) * sizeof *P->row_start, P->row_start);
    h = mix_bytes(h, (size_t)P->row_start[p] * sizeof *P->row, P->row);
    return (int64_t)(h >> 1);
}

/* Two factorizations of one matrix may differ. */
static tacit_status compare(const tct_factor_distribution *d)
{
    const int64_t mine = pattern_hash(&d->P);
    int64_t both[2] = {mine, -mine};
    TRY(tct_reduce_i64(d->world, TCT_MIN, 2, both));
    if (both[0] == -both[1]) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "a triangular solve: the ranks give different factors: give that of "
         "rank 0, and NULL on the others");
}

tacit_status tct_factor_distribution_open(tacit_world *world,
                                          const tacit_factor_panels *panels,
                                          tct_factor_distribution *out)
{
    int64_t have = panels != NULL;
    *out = (tct_factor_distribution){.world = world};
    tacit_status status = take_own(panels, &out->P);
    if (status >= 0 && !panels && world->rank == 0)
        status = tacit_error_set(TACIT_INVALID,
                                 "a triangular solve: rank 0 gives no factor");
    TRY(tct_agree(world, status));
    TRY(tct_reduce_i64(world, TCT_MIN, 1, &have));
    out->each = have != 0;
    return out->each ? compare(out) : send_pattern(out);
}

/* --- values --------------------------------------------------------------- */

/* The end of a piece: panels from `from` on that fit in one message. */
static int32_t end_of_piece(const tacit_factor_panels *P, int32_t from)
{
    int32_t end = from + 1;
    while (end < P->panels &&
           P->value_start[end + 1] - P->value_start[from] <= PIECE)
        end++;
    return end;
}

static int64_t longest_piece(const tacit_factor_panels *P)
{
    int64_t most = 0;
    for (int32_t from = 0, end; from < P->panels; from = end) {
        end = end_of_piece(P, from);
        const int64_t n = P->value_start[end] - P->value_start[from];
        if (n > most) most = n;
    }
    return most;
}

static tacit_status send_values(const tct_factor_distribution *d,
                                bool has_upper, double *buffer,
                                tct_factor_distribution_function *take,
                                void *ctx)
{
    const tacit_factor_panels *P = &d->P;
    const bool sends = d->world->rank == 0;
    double *second = buffer ? buffer + longest_piece(P) : NULL;
    for (int32_t from = 0, end; from < P->panels; from = end) {
        end = end_of_piece(P, from);
        const int64_t at = P->value_start[from];
        const size_t bytes =
            (size_t)(P->value_start[end] - at) * sizeof(double);
        double *value = sends ? (double *)(uintptr_t)(P->value + at) : buffer;
        double *upper = !has_upper ? NULL
                        : sends    ? (double *)(uintptr_t)(P->upper + at)
                                   : second;
        TRY(tct_bcast(d->world, 0, bytes, value));
        if (upper) TRY(tct_bcast(d->world, 0, bytes, upper));
        take(ctx, from, end, value, upper);
    }
    return TACIT_OK;
}

tacit_status
tct_factor_distribution_values(const tct_factor_distribution *d,
                               tct_factor_distribution_function *take,
                               void *ctx)
{
    const tacit_factor_panels *P = &d->P;
    const bool has_upper =
        P->kind == TACIT_FACTOR_LU || P->kind == TACIT_FACTOR_ILU0;
    double *buffer = NULL;
    if (d->each) {
        take(ctx, 0, P->panels, P->value, P->upper);
        return TACIT_OK;
    }
    tacit_status status = TACIT_OK;
    if (d->world->rank > 0)
        status = TCT_ALLOC(longest_piece(P) * (1 + has_upper), what, &buffer);
    status = tct_agree(d->world, status);
    if (status >= 0) status = send_values(d, has_upper, buffer, take, ctx);
    tct_free(buffer);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/look_device.c - looks at rows on a device: see
 * look_device.h. */
#include "operator/layout/look_device.h"
#include <string.h>

static const char *const what = "a look at the rows of a matrix";

/* ROUNDS, as long as each takes a share of the rows that are left: pointers lead
 * before and behind in turn. JUMPS between two looks at whether they end;
 * DOUBLINGS end all pointers of 2^31 rows. */
enum { ROUNDS = 12, JUMPS = 4, DOUBLINGS = 32 };
static const double SHARE = 0.25;

typedef struct {
    const tct_store_rows *R;
    tct_store_work g;
    tct_store_state state; /* as read last */
} looking;

static tacit_status each(const looking *L, tct_store_task task)
{
    const int64_t n = (L->g.rows + GPU_LANES - 1) / GPU_LANES;
    return n > 0 ? L->R->kernels->each(L->R->q, task, n, &L->g) : TACIT_OK;
}

static tacit_status read_state(looking *L)
{
    return L->R->kernels->get(L->R->q, &L->state, L->g.state, sizeof L->state);
}

/* Count anew from here. */
static tacit_status restart(const looking *L)
{
    tct_store_state fresh = L->state;
    fresh.left = fresh.changed = 0;
    return L->R->kernels->put(L->R->q, L->g.state, &fresh, sizeof fresh);
}

/* --- rounds --------------------------------------------------------------- */

static tacit_status follow(looking *L)
{
    L->state.changed = 1;
    for (int k = 0; k < DOUBLINGS && L->state.changed; k += JUMPS) {
        TRY(restart(L));
        for (int j = 0; j < JUMPS; j++) TRY(each(L, TCT_STORE_jump));
        TRY(read_state(L));
    }
    return TACIT_OK;
}

/* Until all rows stand, or two rounds have changed little. */
static tacit_status rule_out(looking *L)
{
    int64_t before = INT64_MAX;
    for (int round = 0; round < ROUNDS && L->state.left > 0; round++) {
        L->g.look.behind = round % 2 != 0;
        if (!L->g.look.behind) {
            if ((double)L->state.left > (1.0 - SHARE) * (double)before) break;
            before = L->state.left;
        }
        TRY(each(L, TCT_STORE_aim));
        TRY(follow(L));
        TRY(restart(L));
        TRY(each(L, TCT_STORE_ground));
        TRY(read_state(L));
    }
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

static double double_of(int64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void take_sizes(const looking *L, tct_row_sizes *out)
{
    const tct_store_state *s = &L->state;
    *out = (tct_row_sizes){.high = double_of(s->high),
                           .inverse = double_of(s->inverse),
                           .norm = double_of(s->norm),
                           .fewest = INT32_MAX - s->fewest,
                           .most = s->most};
}

static tacit_status bring_states(const looking *L, unsigned char **out)
{
    TRY(TCT_ALLOC(L->g.rows, what, out));
    const tacit_status status =
        L->R->kernels->get(L->R->q, *out, L->g.look.state, (size_t)L->g.rows);
    if (status >= 0) return status;
    tct_free(*out);
    *out = NULL;
    return status;
}

static tacit_status look(looking *L, tct_row_sizes *sizes,
                         unsigned char **state)
{
    const tct_store_kernels *K = L->R->kernels;
    tacit_queue *q = L->R->q;
    const size_t n = (size_t)L->g.rows;
    TRY(K->take(q, sizeof *L->g.state, (void *)&L->g.state));
    TRY(K->take(q, n * sizeof *L->g.look.state, (void *)&L->g.look.state));
    TRY(K->take(q, n * sizeof *L->g.look.parent, (void *)&L->g.look.parent));
    TRY(K->zero(q, L->g.state, sizeof *L->g.state));
    TRY(each(L, TCT_STORE_look));
    TRY(read_state(L));
    take_sizes(L, sizes);
    TRY(rule_out(L));
    return L->state.left > 0 ? bring_states(L, state) : TACIT_OK;
}

static looking begin(const tct_store_rows *R)
{
    return (looking){.R = R,
                     .g = {.rows = R->rows,
                           .cols = R->cols,
                           .entries = R->entries,
                           .ptr = R->ptr,
                           .col = R->col,
                           .val = R->val,
                           .slicing = {.b = 1}}};
}

tacit_status tct_look_at_rows(const tct_store_rows *R, tct_row_sizes *sizes,
                              double *diagonal, unsigned char **state)
{
    looking L = begin(R);
    L.g.look.diagonal = diagonal;
    *state = NULL;
    const tacit_status status = look(&L, sizes, state);
    R->kernels->give(R->q, L.g.state);
    R->kernels->give(R->q, L.g.look.state);
    R->kernels->give(R->q, L.g.look.parent);
    return status;
}

static tacit_status compare(looking *L, const tct_grid_rows *grid,
                            tct_grid_rows **there)
{
    const tct_store_kernels *K = L->R->kernels;
    tacit_queue *q = L->R->q;
    TRY(K->take(q, sizeof *L->g.state, (void *)&L->g.state));
    TRY(K->take(q, sizeof *grid, (void *)there));
    TRY(K->zero(q, L->g.state, sizeof *L->g.state));
    TRY(K->put(q, *there, grid, sizeof *grid));
    L->g.look.grid = *there;
    TRY(each(L, TCT_STORE_cell));
    return read_state(L);
}

tacit_status tct_look_at_grid(const tct_store_rows *R,
                              const tct_grid_rows *grid, bool *out)
{
    looking L = begin(R);
    tct_grid_rows *there = NULL;
    const tacit_status status = compare(&L, grid, &there);
    *out = status >= 0 && !L.state.changed;
    R->kernels->give(R->q, L.g.state);
    R->kernels->give(R->q, there);
    return status;
}

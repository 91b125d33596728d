/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_kept.c - what fits of grids of three dimensions. */
#include "operator/stencil/gpu/own_kept.h"

/* Bytes that a block has beside its rows. */
enum { KEPT_WORDS = 6 << 10 };

/* Warps that share the rows of a plane; 0: a row has more columns than all of
 * them. */
static int groups_of(const tct_own_kernels *k, int64_t columns)
{
    const int64_t strips = (columns - 1) / k->strip + 1;
    return strips <= TCT_MARCH_WARPS ? (int)(TCT_MARCH_WARPS / strips) : 0;
}

/* As the kernel has them: with a lane's cells before, and the one after. */
static size_t row_bytes(const tct_own_kernels *k, const tct_step_work *w,
                        int64_t columns)
{
    const int64_t cells = k->lane * (columns / k->lane + 2);
    return (size_t)cells * (w->single ? 4 : 8);
}

/* Ghosts of a row would be neighbours' cells. */
static bool is_cut_in_x(const tct_step_work *w)
{
    return w->low[0] < 0 || w->high[0] > w->n[0];
}

bool tct_kept_fits(const tacit_queue *q, const tct_own_kernels *k,
                   const int64_t n[3], const tct_step_work *w, int depth)
{
    const int groups = groups_of(k, n[0]);
    return depth == 1 && groups > 0 && !is_cut_in_x(w) && k->kept(w) &&
           (n[1] - 1) / (groups * TCT_MARCH_ROWS) + 1 <= tct_gpu_of(q)->sms;
}

static tacit_status check(const tct_own_kernels *k, const tct_step_work *w,
                          int depth)
{
    if (depth != 1)
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' has an exchange a step in three dimensions on a "
             "GPU, not one in %d: take depth 1, or way tiles",
             depth);
    if (!k->kept(w))
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' has no kernel for this stencil on a GPU: take way "
             "free");
    if (is_cut_in_x(w))
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' keeps whole rows, and ranks divide them here: take "
             "way free, or ranks along y and z");
    if (groups_of(k, w->n[0]) == 0)
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' has rows of up to %d cells on this GPU, not %d: "
             "take way free",
             TCT_MARCH_WARPS * k->strip, w->n[0]);
    return TACIT_OK;
}

/* Rows of the largest tile. */
static int most_rows(const tct_own_tiles *t)
{
    return tct_own_most(t, 1) * tct_own_most(t, 2);
}

tacit_status tct_kept_choose(const tacit_queue *q, const tct_own_kernels *k,
                             const tct_grid_block *b, const tct_step_work *w,
                             int depth, tct_kept_plan *out)
{
    const size_t each = row_bytes(k, w, w->n[0]);
    const size_t all = tct_gpu_of(q)->shared_bytes;
    const int groups = groups_of(k, w->n[0]);
    TRY(check(k, w, depth));
    TRY(tct_own_planes(b, tct_gpu_of(q)->sms, groups * TCT_MARCH_ROWS, groups,
                       &out->tiles));
    out->rows = all > KEPT_WORDS ? (int)((all - KEPT_WORDS) / each) : 0;
    if (out->rows > most_rows(&out->tiles)) out->rows = most_rows(&out->tiles);
    out->shared = (size_t)out->rows * each;
    return TACIT_OK;
}

/* --- figures -------------------------------------------------------------- */

static int extent(const tct_box *b, int d)
{
    return b->hi[d] - b->lo[d];
}

static int kept_of(const tct_box *b, int rows)
{
    const int all = extent(b, 1) * extent(b, 2);
    return rows < all ? rows : all;
}

double tct_kept_moved(const tct_own_tiles *t, int rows)
{
    double moved = 0.0;
    for (int k = 0; k < t->count; k++) {
        const tct_box *b = &t->box[k];
        const int y = extent(b, 1), z = extent(b, 2);
        moved +=
            (double)extent(b, 0) * (y * z - kept_of(b, rows) + 2 * y + 2 * z);
    }
    return moved;
}

double tct_kept_share(const tct_own_tiles *t, int rows)
{
    double kept = 0.0, all = 0.0;
    for (int k = 0; k < t->count; k++) {
        kept += kept_of(&t->box[k], rows);
        all += extent(&t->box[k], 1) * extent(&t->box[k], 2);
    }
    return all > 0.0 ? kept / all : 0.0;
}

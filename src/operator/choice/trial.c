/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/trial.c - a sample of rows in another format. */
#include "operator/choice/trial.h"
#include "operator/choice/sample.h"
#include "operator/host/product.h"
#include <string.h>

enum { ENTRIES_LEAST = 10000, PART = 50 /* of the matrix */ };

int64_t tct_trial_entries(int64_t nonzeros)
{
    const int64_t part = nonzeros / PART;
    const int64_t most = part > ENTRIES_LEAST ? part : ENTRIES_LEAST;
    return nonzeros < most ? nonzeros : most;
}

bool tct_trial_is_cheap(int64_t nonzeros)
{
    return nonzeros / PART >= ENTRIES_LEAST;
}

static void charge(const tct_rent_clock *clock, tct_rent_work work,
                   double bytes)
{
    if (clock->charge) clock->charge(clock->of, work, bytes);
}

/* Blocks must divide the whole matrix. */
static bool divides(const tct_local *all, int b)
{
    return b > 0 && all->rows % b == 0 && all->cols % b == 0;
}

/* The bytes of each format for the sample, and why one is not tried. */
static void look(const tct_trial *t, tacit_trial *trials, int *count)
{
    const tct_format *f;
    for (*count = 0; (f = tct_format_at("host", *count)) != NULL; ++*count) {
        tacit_trial *of = &trials[*count];
        *of = (tacit_trial){.format = f->about.name};
        of->bytes = f == &tct_format_bsell && t->dense > 0
                        ? t->dense_bytes
                        : f->bytes(&t->part, &of->reason);
        if (f == &tct_format_bsell && of->bytes >= 0.0 &&
            !divides(&t->rows, t->dense)) {
            of->bytes = -1.0;
            of->reason = "dense blocks do not divide the rows";
        }
        if (of->bytes > 0.0) of->bytes *= t->scale;
    }
}

/* The format of fewest bytes. */
static void pick(tct_trial *t, tacit_trial *trials, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (trials[i].bytes >= 0.0 &&
            (best < 0 || trials[i].bytes < trials[best].bytes))
            best = i;
    for (int i = 0; i < count; i++)
        if (i != best && trials[i].bytes >= 0.0 &&
            tct_format_at("host", i) != &tct_format_csr)
            trials[i].reason = "another has fewer bytes";
    if (best < 0 || tct_format_at("host", best) == &tct_format_csr) return;
    t->format = tct_format_at("host", best);
}

static tacit_status make_vectors(tct_trial *t)
{
    TRY(TCT_ALLOC(t->rows.cols, "a sample", &t->x));
    TRY(TCT_ALLOC(t->part.rows, "a sample", &t->y));
    for (int64_t k = 0; k < t->part.ptr[t->part.rows]; k++)
        t->x[t->part.col[k]] = 1.0; /* touches only needed memory */
    return TACIT_OK;
}

static double bytes_of_rows(const tct_trial *t)
{
    return 12.0 * (double)t->part.ptr[t->part.rows] +
           8.0 * (double)t->part.rows;
}

static tacit_status store(tct_trial *t, const tct_rent_clock *clock)
{
    const double start = clock->now(clock->of);
    TRY(t->format->create(&t->part, NULL, &t->block));
    charge(clock, RENT_SAMPLE, bytes_of_rows(t) + t->block->matrix_bytes);
    t->price = clock->now(clock->of) - start;
    return TACIT_OK;
}

tacit_status tct_trial_look(const tct_local *rows, tacit_trial *trials,
                            int *count, tct_trial *t)
{
    *t = (tct_trial){.rows = *rows};
    TRY(tct_sample_take(rows, tct_trial_entries(rows->ptr[rows->rows]),
                        t->first, &t->part));
    t->scale =
        (double)rows->ptr[rows->rows] / (double)t->part.ptr[t->part.rows];
    t->dense = tct_slices_best_block(&t->part, &t->dense_bytes);
    t->part.dense = t->dense ? t->dense : -1;
    look(t, trials, count);
    pick(t, trials, *count);
    return TACIT_OK;
}

tacit_status tct_trial_open(const tct_local *rows, const tct_rent_clock *clock,
                            tacit_trial *trials, int *count, tct_trial *t)
{
    TRY(tct_trial_look(rows, trials, count, t));
    if (!t->format) return TACIT_OK;
    TRY(make_vectors(t));
    return store(t, clock);
}

void tct_trial_close(tct_trial *t)
{
    if (t->block) t->block->ops->destroy(t->block);
    tct_local_free(&t->part);
    TCT_FREE(t->x, t->y);
    t->part = (tct_local){.rows = 0};
    t->block = NULL;
    t->x = t->y = NULL;
}

/* --- products ------------------------------------------------------------- */

static void multiply_rows(const tct_trial *t)
{
    const tct_kernels *kernels = tct_kernels_best();
    int64_t row = 0;
    for (int i = 0; i < TCT_SAMPLE_PIECES && row < t->part.rows; i++) {
        const int64_t left = t->rows.rows - t->first[i];
        const int64_t n = left < t->part.piece ? left : t->part.piece;
        const uint8_t *alike = t->rows.alike;
        const tct_csr_view rows = {t->rows.ptr + t->first[i], t->rows.col,
                                   t->rows.val,
                                   alike ? alike + t->first[i] : NULL};
        kernels->rows(rows, 0, n, t->x, t->y + row);
        row += n;
    }
}

static void note(double seconds, double *least)
{
    if (*least <= 0.0 || seconds < *least) *least = seconds;
}

void tct_trial_products(tct_trial *t, const tct_rent_clock *clock, bool counts)
{
    if (!t->block) return;
    const double start = clock->now(clock->of);
    multiply_rows(t);
    charge(clock, RENT_OLD, bytes_of_rows(t));
    const double middle = clock->now(clock->of);
    t->block->ops->multiply(t->block, t->x, t->y, NULL);
    charge(clock, RENT_NEW, t->block->matrix_bytes);
    const double end = clock->now(clock->of);
    if (!counts) return;
    note(middle - start, &t->old);
    note(end - middle, &t->now);
}

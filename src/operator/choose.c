/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choose.c - the registry of formats, and the choice among them.
 *
 * A sample of the real matrix, rows from several places, is stored in every
 * format and multiplied. The sample is small, to cost little memory, and so
 * lies in cache; the real matrix may not. A product cannot be faster than its
 * bytes come from memory, so where the matrix is large the time predicted for
 * a format is the larger of the sample's time, scaled, and its bytes at the
 * bandwidth with which the matrix can be read here and now. */
#include "operator/format.h"
#include <string.h>

enum {
    PIECES = 8,            /* places that the sample is taken from         */
    SAMPLE_SHARE = 16,     /* of the entries: 1 in this many               */
    SAMPLE_MOST = 1 << 19, /* entries                                  */
    SMALL = 3 << 17, /* entries, more than fit the inner caches: a matrix up
                          to this is its own sample                  */
    RUNS = 9
};
static const double CACHE_BYTES = 24e6; /* what lies in no cache is larger */

static const tct_format *const formats[] = {
#define X(name) &tct_format_##name,
    TCT_FORMATS(X)
#undef X
        NULL};

const tct_format *const *tct_formats(void)
{
    return formats;
}

const tct_format *tct_format_find(const char *name)
{
    for (int i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

/* Rows from PIECES places with about `entries` entries, in multiples of 60
 * rows so that blocks stay whole. */
static tacit_status sample(const tct_local *A, int64_t entries, tct_local *out)
{
    enum { WHOLE = 60 };
    *out = (tct_local){.cols = A->cols};
    const int64_t nonzeros = A->ptr[A->rows];
    int64_t each = (int64_t)((double)A->rows * (double)entries /
                             (double)nonzeros / PIECES) /
                   WHOLE * WHOLE;
    if (each < WHOLE) each = WHOLE;
    int64_t first[PIECES], count[PIECES], kept = 0;
    for (int i = 0; i < PIECES; i++) {
        first[i] = A->rows / PIECES * i / WHOLE * WHOLE;
        count[i] = A->rows - first[i] < each ? A->rows - first[i] : each;
        out->rows += count[i];
        kept += A->ptr[first[i] + count[i]] - A->ptr[first[i]];
    }
    TRY(TCT_ALLOC(out->rows + 1, "a sample", &out->ptr));
    TRY(TCT_ALLOC(kept, "a sample", &out->col));
    TRY(TCT_ALLOC(kept, "a sample", &out->val));
    int64_t row = 0, k = 0;
    out->ptr[0] = 0;
    for (int i = 0; i < PIECES; i++)
        for (int64_t j = first[i]; j < first[i] + count[i]; j++) {
            const int64_t from = A->ptr[j], n = A->ptr[j + 1] - from;
            memcpy(out->col + k, A->col + from, (size_t)n * sizeof *out->col);
            memcpy(out->val + k, A->val + from, (size_t)n * sizeof *out->val);
            k += n;
            out->ptr[++row] = k;
        }
    return TACIT_OK;
}

static void clear(tct_local *A)
{
    tct_free(A->ptr);
    tct_free(A->col);
    tct_free(A->val);
}

static double time_once(const tct_block *B, int threads, const double *x,
                        double *y)
{
    const double start = tct_seconds();
    B->ops->multiply(B, threads, x, y, NULL);
    return tct_seconds() - start;
}

/* Seconds per byte when values that are not in cache are read. */
static double seconds_per_byte(const tct_local *A, int threads)
{
    const int64_t n = A->ptr[A->rows];
    const double bytes = 8.0 * (double)n;
    if (12.0 * (double)n < CACHE_BYTES) return 0.0;
    const double start = tct_seconds();
    double sum = 0.0;
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
    for (int64_t k = 0; k < n; k++) sum += A->val[k];
    const double t = tct_seconds() - start;
    static volatile double used; /* or the compiler drops the loop */
    used = sum;
    (void)used;
    return t / bytes;
}

typedef struct {      /* a format under trial */
    tct_block *block; /* NULL: out of the race */
    double best;
} entrant;

static void enter(const tct_format *format, const tct_local *A,
                  const tct_local *part, int threads, entrant *e,
                  tct_trial *trial)
{
    *trial = (tct_trial){.format = format->name};
    *e = (entrant){.best = 1e30};
    trial->bytes = format->bytes(A, &trial->reason);
    if (trial->bytes < 0.0) return;
    tct_local copy = *part;
    copy.owned = false;
    if (format->create(&copy, threads, &e->block) < 0) {
        e->block = NULL;
        trial->reason = "no memory to try it";
    }
}

/* In turn, so that a disturbance hits all alike; the best time of each. */
static void race(entrant *entrants, int count, int threads, const double *x,
                 double *y)
{
    for (int run = -1; run < RUNS; run++) /* the first warms up */
        for (int i = 0; i < count; i++) {
            entrant *e = &entrants[i];
            if (!e->block) continue;
            const double t = time_once(e->block, threads, x, y);
            if (run >= 0 && t < e->best) e->best = t;
        }
}

static const tct_format *measure(const tct_local *A, const tct_local *part,
                                 int threads, tct_trial *trials, int *count)
{
    entrant entrants[TCT_TRIALS_MOST];
    const tct_format *best = &tct_format_csr;
    double *x = tct_calloc((size_t)(A->cols + 1) * sizeof *x);
    double *y = tct_alloc((size_t)(part->rows + 1) * sizeof *y);
    if (x && y) {
        for (; formats[*count]; ++*count)
            enter(formats[*count], A, part, threads, &entrants[*count],
                  &trials[*count]);
        race(entrants, *count, threads, x, y);
    }
    const double slowest = seconds_per_byte(A, threads);
    const double scale =
        (double)A->ptr[A->rows] / (double)part->ptr[part->rows];
    double least = 1e30;
    for (int i = 0; i < *count; i++) {
        tct_block *B = entrants[i].block;
        if (!B) continue;
        trials[i].bytes = scale * B->matrix_bytes;
        trials[i].seconds = scale * entrants[i].best;
        if (trials[i].bytes * slowest > trials[i].seconds)
            trials[i].seconds = trials[i].bytes * slowest;
        if (trials[i].seconds < least) {
            least = trials[i].seconds;
            best = formats[i];
        }
        B->ops->destroy(B);
    }
    tct_free(x);
    tct_free(y);
    return best;
}

const tct_format *tct_format_choose(const tct_local *A, int threads,
                                    tct_trial *trials, int *count)
{
    *count = 0;
    const int64_t nonzeros = A->ptr[A->rows];
    if (nonzeros == 0) return &tct_format_csr;
    if (nonzeros <= SMALL) return measure(A, A, threads, trials, count);
    int64_t entries = nonzeros / SAMPLE_SHARE;
    if (entries < SMALL) entries = SMALL;
    if (entries > SAMPLE_MOST) entries = SAMPLE_MOST;
    tct_local part;
    const tct_format *best = &tct_format_csr;
    if (sample(A, entries, &part) >= 0)
        best = measure(A, &part, threads, trials, count);
    clear(&part);
    return best;
}

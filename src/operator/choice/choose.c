/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/choose.c - the fastest format for a matrix on this machine.
 *
 * A sample of the matrix, rows from several places, is stored in every format
 * and multiplied. If the matrix exceeds the cache, the sample is evicted before
 * each product by reading the matrix. It is too large for branch prediction to
 * learn. Formats are timed in turn, and the least time of each counts. */
#include "operator/choice/min_of_n.h"
#include "operator/choice/sample.h"
#include "operator/format.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    TINY = 4096,           /* entries: chosen by bytes, without measuring */
    SAMPLE_MOST = 1 << 19, /* entries: a smaller matrix is its own sample   */
    PIECES = 8,            /* number of places of the sample                */
    WHOLE_ROWS = 60,       /* a piece keeps blocks of 2 to 6 rows whole     */
    COLD_RUNS = 3,
    WARM_RUNS = 9,
    MORE = 4,             /* this many times more rounds, until a time is
                           * sure */
    EVICT_PIECE = 1 << 14 /* values */
};
static const double CACHE_BYTES = 32e6; /* if the system does not report it */
static const double TIMEOUT = 2e-3;     /* seconds, until all threads have
                                     * arrived */

/* --- sample --------------------------------------------------------------- */

typedef struct {
    const tct_local *A;
    tct_local part; /* A itself, or some of its rows, of pieces from: */
    int64_t first[PIECES];
    bool cold;     /* A does not fit in cache */
    int64_t evict; /* entries to read to evict the sample */
    tct_team *team;
    double *x, *y;
    double *seen; /* [pieces] sums of reads, so that they are not optimised
                   * away */
} sampling;

/* Rows [first, last) of piece `i` if every piece had `each` rows. */
static void piece(const tct_local *A, int64_t each, int i, int64_t *first,
                  int64_t *last)
{
    *first = A->rows / PIECES * i / WHOLE_ROWS * WHOLE_ROWS;
    *last = *first + each < A->rows ? *first + each : A->rows;
}

/* Pieces of a sample: few rows are all taken. */
static int pieces_of(const tct_local *A, int64_t most)
{
    const bool few = A->rows < 2 * PIECES * WHOLE_ROWS;
    return few || most >= A->ptr[A->rows] ? 1 : PIECES;
}

static int64_t piece_rows(const tct_local *A, int64_t most, int pieces)
{
    const double mean = (double)A->ptr[A->rows] / (double)A->rows;
    if (pieces == 1) return A->rows;
    return ((int64_t)((double)most / PIECES / mean) / WHOLE_ROWS + 1) *
           WHOLE_ROWS;
}

tacit_status tct_sample_take(const tct_local *A, int64_t most, int64_t *starts,
                             tct_local *out)
{
    const int pieces = pieces_of(A, most);
    const int64_t each = piece_rows(A, most, pieces);
    int64_t first, last, entries = 0;
    *out = (tct_local){.cols = A->cols,
                       .grid = A->grid,
                       .no_grid = A->no_grid,
                       .sample = starts,
                       .piece = each};
    for (int i = 0; i < pieces; i++) {
        piece(A, each, i, &first, &last);
        starts[i] = first;
        out->rows += last - first;
        entries += A->ptr[last] - A->ptr[first];
    }
    TRY(TCT_ALLOC(out->rows + 1, "a sample", &out->ptr));
    TRY(TCT_ALLOC(entries, "a sample", &out->col));
    TRY(TCT_ALLOC(entries, "a sample", &out->val));
    int64_t row = 0, k = 0;
    out->ptr[0] = 0;
    for (int i = 0; i < pieces; i++) {
        piece(A, each, i, &first, &last);
        const int64_t from = A->ptr[first], n = A->ptr[last] - from;
        memcpy(out->col + k, A->col + from, (size_t)n * sizeof *out->col);
        memcpy(out->val + k, A->val + from, (size_t)n * sizeof *out->val);
        for (int64_t j = first; j < last; j++)
            out->ptr[++row] = A->ptr[j + 1] - from + k;
        k += n;
    }
    return TACIT_OK;
}

static double cache_bytes(void)
{
    const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? (double)bytes : CACHE_BYTES;
}

static int64_t evict_pieces(const sampling *s)
{
    return (s->evict + EVICT_PIECE - 1) / EVICT_PIECE;
}

static tacit_status sampling_open(const tct_local *A, tct_team *team,
                                  sampling *s)
{
    const int64_t nonzeros = A->ptr[A->rows];
    const double cache = cache_bytes();
    *s = (sampling){.A = A, .team = team};
    s->cold = 12.0 * (double)nonzeros + 40.0 * (double)A->rows > 0.75 * cache;
    s->evict = (int64_t)(1.5 * cache / sizeof *A->val);
    if (s->evict > nonzeros) s->evict = nonzeros;
    if (nonzeros <= SAMPLE_MOST) s->part = *A;
    else TRY(tct_sample_take(A, SAMPLE_MOST, s->first, &s->part));
    s->part.owned = false;
    TRY(TCT_ALLOC(evict_pieces(s), "a sample", &s->seen));
    TRY(TCT_ALLOC(A->cols, "a sample", &s->x));
    TRY(TCT_ALLOC(s->part.rows, "a sample", &s->y));
    for (int64_t k = 0; k < s->part.ptr[s->part.rows]; k++)
        s->x[s->part.col[k]] = 1.0; /* touches only needed memory */
    return TACIT_OK;
}

static void sampling_close(sampling *s)
{
    if (s->part.ptr != s->A->ptr) {
        TCT_FREE(s->part.ptr, s->part.col, s->part.val);
    }
    TCT_FREE(s->seen, s->x, s->y);
}

/* --- time ----------------------------------------------------------------- */

static void evict_piece(void *work, int64_t piece_of)
{
    const sampling *s = work;
    const int64_t from = piece_of * EVICT_PIECE;
    const int64_t end = from + EVICT_PIECE;
    const double *val = s->A->val;
    double sum[4] = {0.0};
    for (int64_t k = from; k + 4 <= (end < s->evict ? end : s->evict); k += 4)
        for (int i = 0; i < 4; i++) sum[i] += val[k + i];
    s->seen[piece_of] = sum[0] + sum[1] + sum[2] + sum[3];
}

static void evict(sampling *s)
{
    tct_team_run(s->team, tct_team_size(s->team), evict_pieces(s), NULL,
                 evict_piece, s);
}

static double once(sampling *s, const tct_block *B)
{
    const double start = tct_seconds();
    B->ops->multiply(B, s->x, s->y, NULL);
    return tct_seconds() - start;
}

/* Store the sample in a format; NULL and the reason on failure. */
static tct_block *enter(const sampling *s, const tct_format *format,
                        tacit_trial *trial)
{
    tct_local copy = s->part;
    tct_block *B = NULL;
    if (format->create(&copy, s->team, &B) < 0) {
        trial->reason = "no memory to try it";
        return NULL;
    }
    trial->bytes = B->matrix_bytes * (double)s->A->ptr[s->A->rows] /
                   (double)s->part.ptr[s->part.rows];
    return B;
}

/* Ratio of the entries of matrix and sample. */
static double scale_of(const sampling *s)
{
    return (double)s->A->ptr[s->A->rows] / (double)s->part.ptr[s->part.rows];
}

/* The best time of each of `blocks` [count], NULL for none; block `i` is of
 * sample `of[i]`. */
static void race(sampling *const *of, tct_block *const *blocks, int count,
                 tacit_trial *trials)
{
    const int runs = of[0]->cold ? COLD_RUNS : WARM_RUNS;
    tct_min_of_n least[TCT_TRIALS_MOST] = {{.count = 0}};
    bool sure = false;
    tct_team_assemble(of[0]->team, TIMEOUT);
    for (int run = -1; run < (sure ? runs : MORE * runs); run++) {
        sure = true;
        for (int i = 0; i < count; i++) {
            if (!blocks[i]) continue;
            if (of[i]->cold) evict(of[i]);
            const double t = scale_of(of[i]) * once(of[i], blocks[i]);
            if (run < 0) continue; /* the first warms up */
            tct_min_of_n_note(&least[i], t);
            trials[i].seconds = least[i].seconds;
            sure = sure && tct_min_of_n_is_sure(&least[i]);
        }
    }
}

/* Measure the formats that fit. */
static bool measure(const tct_local *A, tct_team *team, tacit_trial *trials,
                    int count)
{
    tct_block *blocks[TCT_TRIALS_MOST] = {NULL};
    sampling s, *of[TCT_TRIALS_MOST];
    const bool open = sampling_open(A, team, &s) >= 0;
    for (int i = 0; i < count; i++) {
        of[i] = &s;
        if (trials[i].bytes < 0.0) continue;
        if (open) blocks[i] = enter(&s, tct_format_at("host", i), &trials[i]);
        else trials[i].reason = "no memory to try it";
    }
    if (open) race(of, blocks, count, trials);
    for (int i = 0; i < count; i++)
        if (blocks[i]) blocks[i]->ops->destroy(blocks[i]);
    sampling_close(&s);
    return open;
}

void tct_format_compare(const tct_local *const A[2],
                        const tct_format *const format[2], tct_team *team,
                        double seconds[2])
{
    sampling s[2], *const of[2] = {&s[0], &s[1]};
    tct_block *blocks[2] = {NULL, NULL};
    tacit_trial trials[2] = {{.seconds = 0.0}, {.seconds = 0.0}};
    for (int i = 0; i < 2; i++)
        if (sampling_open(A[i], team, &s[i]) >= 0)
            blocks[i] = enter(&s[i], format[i], &trials[i]);
    if (blocks[0] && blocks[1]) race(of, blocks, 2, trials);
    for (int i = 0; i < 2; i++) {
        seconds[i] = trials[i].seconds;
        if (blocks[i]) blocks[i]->ops->destroy(blocks[i]);
        sampling_close(&s[i]);
    }
}

/* --- choice --------------------------------------------------------------- */

static const tct_format *least(const tacit_trial *trials, int count,
                               bool by_seconds)
{
    const tct_format *best = &tct_format_csr;
    double lowest = 0.0;
    bool found = false;
    for (int i = 0; i < count; i++) {
        const double value = by_seconds ? trials[i].seconds : trials[i].bytes;
        if (trials[i].bytes < 0.0 || (by_seconds && value <= 0.0)) continue;
        if (found && value >= lowest) continue;
        found = true;
        lowest = value;
        best = tct_format_find("host", trials[i].format);
    }
    return best;
}

/* Bytes of each format; `why` they decide, NULL: they do not. */
static void foretell(const tct_local *A, const char *why, tacit_trial *trials,
                     int *count)
{
    for (*count = 0; tct_format_at("host", *count); ++*count) {
        const tct_format *f = tct_format_at("host", *count);
        tacit_trial *t = &trials[*count];
        *t = (tacit_trial){.format = f->about.name};
        t->bytes = f->bytes(A, &t->reason);
        if (!why || t->bytes < 0.0) continue;
        t->reason = why;
        if (f != &tct_format_stencil || A->ptr[A->rows] > TINY) continue;
        t->bytes = -1.0;
        t->reason = "a small matrix: stored";
    }
}

const tct_format *tct_format_choose(const tct_local *A, tct_team *team,
                                    tacit_trial *trials, int *count)
{
    const bool tiny = A->ptr[A->rows] <= TINY;
    foretell(A, tiny ? "a small matrix: chosen by bytes" : NULL, trials, count);
    if (tiny) return least(trials, *count, false);
    const bool measured = measure(A, team, trials, *count);
    return least(trials, *count, measured);
}

const tct_format *tct_format_by_bytes(const tct_local *A, tacit_trial *trials,
                                      int *count)
{
    foretell(A, "chosen by bytes", trials, count);
    return least(trials, *count, false);
}

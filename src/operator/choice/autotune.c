/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/autotune.c - the fastest format for a matrix on a GPU: the
 * whole matrix is stored in each that fits and that its bytes do not rule out,
 * in turn, and multiplied; the fastest is kept. A persistent kernel saves the
 * launches of an iteration. */
#include "operator/layout/store_device.h"
#include <stdio.h>
#include <string.h>

enum { RUNS = 3, PRODUCTS = 8 };
static const double LONG = 2e-4; /* seconds: fewer products a run */

static const char *const candidates[] = {
    "sell", "sell/f64", "bsell", "bsell/f64", "sell32", "csr", "stencil"};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

/* Loop graph takes this much longer than loop resident for small matrices:
 * seconds an iteration, 3 to 6 us from 5,000 to 80,000 rows on an H200. */
static const double LAUNCHES = 5e-6;
static const double LAUNCH = 2e-6; /* a further kernel of a product */

/* A product takes the time of its bytes where these, x and y among them, are more
 * than CACHE. A format is not stored if it has more than HOPELESS times the
 * bytes of the smallest one, or of CACHE if that one has fewer. Format stencil,
 * which stores nothing, rules out no other. */
static const double CACHE = 1e8, HOPELESS = 1.1;

/* Rows have taken 1.4 to 2 times the time of as many bytes in slices without
 * rows apart: for one solve they are tried if they have fewer bytes than this
 * share of those of slices with doubles. */
static const double ROWS_PAY = 0.8;

typedef struct {
    tacit_queue *q;
    bool one_solve;
    double *x, *y;
    double vectors; /* bytes of x and y */
    double least;   /* bytes of the smallest format with entries; 0: unknown */
    bool counted;   /* the device has counted: */
    tct_value_set values;             /* without its table */
    int dense[CANDIDATES];            /* sizes of blocks, once they are found */
    tacit_trial foretold[CANDIDATES]; /* without a format: not yet */
} course;

static bool is_hopeless(const course *c, double bytes)
{
    const double least = c->least + c->vectors;
    return c->least > 0.0 &&
           bytes + c->vectors > HOPELESS * (least > CACHE ? least : CACHE);
}

/* Seconds of a product, of `count`; < 0: the queue has failed. */
static double once(const course *c, const tct_block *B, int count)
{
    const double start = tct_seconds();
    for (int k = 0; k < count; k++) q_multiply(c->q, B, c->x, c->y, NULL);
    if (q_status(c->q) < 0) return -1.0;
    return (tct_seconds() - start) / count;
}

/* ... the best of some runs. */
static double run(const course *c, const tct_block *B)
{
    double best = -1.0;
    int count = PRODUCTS;
    if (q_status(c->q) < 0) return -1.0;
    for (int i = -1; i < RUNS; i++) { /* the first warms up */
        const double seconds = once(c, B, i < 0 ? 2 : count);
        if (seconds < 0.0) return -1.0;
        if (i < 0 && seconds > LONG) count = 2;
        if (i >= 0 && (best < 0.0 || seconds < best)) best = seconds;
    }
    return best;
}

/* The format of candidate `name`, and `A` as it is to be stored. */
static const tct_format *find(const course *c, const tct_local *A,
                              const char *name, tct_local *copy)
{
    char bare[16];
    const char *slash = strchr(name, '/');
    snprintf(bare, sizeof bare, "%.*s",
             (int)(slash ? slash - name : (int)sizeof bare - 1), name);
    *copy = *A;
    copy->owned = false;
    copy->values = c->counted ? &c->values : NULL;
    if (slash) copy->store = slash + 1;
    return tct_format_find(c->q->device->name, bare);
}

/* Store `A` as in `t`, whose bytes are foretold, and time it, unless it is
 * hopeless. UNSUPPORTED and NO_MEMORY exclude a candidate. */
static tacit_status enter(const course *c, tct_local *A, tacit_trial *t,
                          char *reason, size_t size, tct_block **out)
{
    tct_local copy;
    const tct_format *f = find(c, A, t->format, &copy);
    if (t->bytes < 0.0) return TACIT_OK;
    if (is_hopeless(c, t->bytes)) {
        snprintf(reason, size, "not tried: %.2f times the bytes of another",
                 (t->bytes + c->vectors) / (c->least + c->vectors));
        t->reason = reason;
        return TACIT_OK;
    }
    const tacit_status status = f->create(&copy, c->q->team, out);
    if (status == TACIT_UNSUPPORTED || status == TACIT_NO_MEMORY) {
        snprintf(reason, size, "%s", tacit_error_message());
        t->reason = reason;
        return TACIT_OK;
    }
    TRY(status);
    t->bytes = (*out)->matrix_bytes;
    t->seconds = run(c, *out);
    if (t->seconds < 0.0) return q_status(c->q);
    return TACIT_OK;
}

static void drop(tct_block **B)
{
    if (*B) (*B)->ops->destroy(*B);
    *B = NULL;
}

/* For few entries: of two formats with persistent kernels the one of fewer
 * bytes. Stores that save bytes save no time here. No block if that fails. */
static tacit_status take_small(const course *c, const tct_local *A,
                               tacit_trial *trials, int *count,
                               const char **winner, tct_block **out)
{
    static const char *const small[] = {"sell/f64", "bsell/f64"};
    tct_local copy;
    int best = 0;
    if (A->ptr[A->rows] > TCT_GPU_SMALL || A->store) return TACIT_OK;
    for (int i = 0; i < 2; i++) {
        tacit_trial *t = &trials[i];
        *t = (tacit_trial){.format = small[i]};
        t->bytes = find(c, A, small[i], &copy)->bytes(&copy, &t->reason);
        if (t->bytes >= 0.0) t->reason = "a small matrix: chosen by bytes";
        if (t->bytes >= 0.0 && t->bytes < trials[0].bytes) best = i;
    }
    const tct_format *f = find(c, A, small[best], &copy);
    if (trials[best].bytes < 0.0 || f->create(&copy, c->q->team, out) < 0 ||
        !(*out)->persistent) {
        drop(out);
        return q_status(c->q);
    }
    *count = 2;
    *winner = small[best];
    return TACIT_OK;
}

/* Is candidate `i` of dense blocks? */
static bool is_dense(int i)
{
    return candidates[i][0] == 'b';
}

/* Does candidate `i` differ from the one before it, given the store asked
 * for? */
static bool takes_part(int i, const char *store, const tct_block *before)
{
    const char *slash = strchr(candidates[i], '/');
    if (store && strcmp(store, "auto") != 0) /* one store for all */
        return slash ? strcmp(slash + 1, store) == 0
                     : !(i + 1 < CANDIDATES &&
                         strchr(candidates[i + 1], '/') != NULL);
    return !slash || (before && before->packed);
}

/* The bytes of the blocks of candidate `i`, sell's are those of the one two
 * before: both searches for the best size are the same. */
static double dense_bytes(course *c, const tct_local *A, int i,
                          const char **reason)
{
    double bytes = c->foretold[i - 2].bytes;
    c->dense[i] = tct_gpu_fewer_bytes(A, &bytes);
    if (c->dense[i] > 0) return bytes;
    *reason = "no dense blocks of 2 to 6 rows that take fewer bytes than rows "
              "do";
    return -1.0;
}

/* The bytes of candidate `i`, or why it does not fit; sets the least. */
static void foretell(course *c, const tct_local *A, int i)
{
    tct_local copy;
    tacit_trial *t = &c->foretold[i];
    const tct_format *f = find(c, A, candidates[i], &copy);
    *t = (tacit_trial){.format = candidates[i]};
    t->bytes = is_dense(i) && c->foretold[i - 2].format
                   ? dense_bytes(c, &copy, i, &t->reason)
                   : f->bytes(&copy, &t->reason);
    if (t->bytes > 0.0 && (c->least == 0.0 || t->bytes < c->least))
        c->least = t->bytes;
}

/* Count the values once for all candidates. */
static tacit_status count_values(course *c, const tct_local *A)
{
    const tct_store_rows *R = A->device;
    if (!R || !R->ptr) return TACIT_OK;
    const tacit_status status = tct_store_count_values(R, &c->values);
    c->counted = status >= 0;
    return status == TACIT_NO_MEMORY ? TACIT_OK : status;
}

/* The bytes of the candidates with any store, or with the one asked for: those
 * of others are never fewer, and are foretold if they take part. */
static tacit_status foretell_first(course *c, tct_local *A)
{
    const char *wish = A->store;
    const double start = tct_seconds();
    const bool all = !wish || strcmp(wish, "auto") == 0;
    if (all) TRY(count_values(c, A));
    A->store = NULL;
    for (int i = 0; i < CANDIDATES; i++)
        if (all ? !strchr(candidates[i], '/') : takes_part(i, wish, NULL))
            foretell(c, A, i);
    A->store = wish;
    tct_log(TCT_DETAIL, "bytes of formats foretold in %.2f ms",
            1e3 * (tct_seconds() - start));
    return TACIT_OK;
}

/* Is candidate `i` csr, of hardly fewer bytes than sell32 before it, while the
 * fastest so far has no rows apart? */
static bool rows_lose(const course *c, int i, const tct_block *fastest)
{
    const tacit_trial *slices = &c->foretold[i - 1], *rows = &c->foretold[i];
    return c->one_solve && strcmp(candidates[i], "csr") == 0 && fastest &&
           fastest->kernels == 1 && slices->format && slices->bytes > 0.0 &&
           rows->bytes >= ROWS_PAY * slices->bytes;
}

static tacit_status race(course *c, tct_local *A, tacit_trial *trials,
                         int *count, char (*reasons)[TCT_REASON],
                         const char **winner, tct_block **out)
{
    tct_block *last = NULL;
    const tct_block *before = NULL; /* `last` or, if fastest, `*out` */
    double best = 0.0;
    const char *wish = A->store;
    TRY(foretell_first(c, A));
    for (int i = 0; i < CANDIDATES; i++) {
        if (!takes_part(i, wish, before)) continue;
        drop(&last);
        tacit_trial *t = &trials[*count];
        A->store = NULL;
        const double start = tct_seconds();
        if (!c->foretold[i].format) foretell(c, A, i);
        *t = c->foretold[i];
        if (rows_lose(c, i, *out)) {
            t->reason = "not tried: as many bytes as slices, and slower ones";
            A->store = wish;
            ++*count;
            continue;
        }
        A->dense = c->dense[i];
        const tacit_status status =
            enter(c, A, t, reasons[*count], TCT_REASON, &last);
        t->spent = tct_seconds() - start;
        A->store = wish;
        A->dense = 0;
        ++*count;
        before = last;
        if (status < 0) {
            drop(&last);
            return status;
        }
        if (!last) continue;
        const double saved =
            last->persistent ? LAUNCHES + LAUNCH * (last->kernels - 1) : 0.0;
        const double seconds = t->seconds - saved;
        if (*out && seconds >= best) continue;
        drop(out);
        best = seconds;
        *winner = t->format;
        *out = last;
        last = NULL;
    }
    drop(&last);
    return TACIT_OK;
}

static tacit_status course_open(tacit_queue *q, int64_t rows, int64_t cols,
                                course *out)
{
    *out = (course){.q = q, .vectors = 8.0 * (double)(rows + cols)};
    TRY(tacit_queue_alloc(q, (size_t)cols, &out->x));
    TRY(tacit_queue_alloc(q, (size_t)rows, &out->y));
    q_fill(q, (size_t)cols, 1.0, out->x);
    return TACIT_OK;
}

static void course_close(course *c)
{
    tacit_queue_free(c->q, &c->x);
    tacit_queue_free(c->q, &c->y);
}

tacit_status tct_time_products(tacit_queue *q, tct_block *const *blocks,
                               int count, double *seconds)
{
    course c;
    tacit_status status = course_open(q, blocks[0]->rows, blocks[0]->cols, &c);
    for (int i = -1; status >= 0 && i < RUNS; i++) /* the first warms up */
        for (int k = 0; k < count; k++) {
            const double t = once(&c, blocks[k], PRODUCTS);
            if (i <= 0 || t < seconds[k]) seconds[k] = t;
        }
    course_close(&c);
    return status < 0 ? status : q_status(q);
}

tacit_status tct_format_autotune(tacit_queue *q, tct_local *A, bool one_solve,
                                 tacit_trial *trials, int *count,
                                 char (*reasons)[TCT_REASON],
                                 const char **winner, tct_block **out)
{
    course c;
    *count = 0;
    *out = NULL;
    *winner = NULL;
    tacit_status status = course_open(q, A->rows, A->cols, &c);
    c.one_solve = one_solve;
    if (status >= 0) status = take_small(&c, A, trials, count, winner, out);
    if (status >= 0 && !*out)
        status = race(&c, A, trials, count, reasons, winner, out);
    course_close(&c);
    if (status >= 0 && !*out)
        status =
            tacit_error_set(TACIT_NO_MEMORY, "no format could be tried: %s",
                            *count && trials[0].reason ? trials[0].reason : "");
    if (status < 0) drop(out);
    return status;
}

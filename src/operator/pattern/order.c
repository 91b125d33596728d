/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/order.c - the rows of a rank in another order. */
#include "operator/pattern/order.h"
#include "device/parallel.h"
#include "graph/order.h"
#include "operator/host/slices.h"
#include "operator/layout/slices_build.h"
#include "operator/pattern/split.h"
#include "sparse/csr.h"
#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES_LEAST = 1000000, /* of a matrix that is larger than caches */
    WINDOW = 32,             /* rows whose columns are compared        */
    SAMPLES = 1000
};
static const double FAR_LEAST = 0.1; /* of windows         */
static const double ALIKE = 0.75;    /* of a window's entries */
static const char *const what = "the order of rows";

static const tacit_order orders[] = {
    {"none", "the matrix's"},
    {"rcm", "reverse Cuthill and McKee: columns of neighbours are near"},
    {"metis", "parts with few edges between them, each so"}};
enum { ORDERS = sizeof orders / sizeof *orders };

const tacit_order *tacit_order_at(int i)
{
    return i >= 0 && i < ORDERS ? &orders[i] : NULL;
}

bool tct_order_is_known(const char *name)
{
    const tacit_order *o = NULL;
    for (int i = 0; (o = tacit_order_at(i)) != NULL; i++)
        if (strcmp(o->name, name) == 0) break;
    return o || strcmp(name, "auto") == 0;
}

static bool is_host(const tacit_queue *q)
{
    return q->device->kind == TCT_KIND_HOST;
}

/* Block size that the queue's device would store, 1 if none. */
static int block_of(const tacit_queue *q, const tct_local *A)
{
    double bytes;
    const int b =
        is_host(q) ? tct_slices_best_block(A, &bytes) : tct_gpu_best_block(A);
    return b ? b : 1;
}

/* Entries of row `i` that are those of row `i` - `b`, shifted by `b`
 * columns. */
static int64_t shifted(const tct_local *A, int64_t i, int b)
{
    int64_t above = A->ptr[i - b], same = 0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        while (above < A->ptr[i - b + 1] && A->col[above] < A->col[k] - b)
            above++;
        same += above < A->ptr[i - b + 1] && A->col[above] == A->col[k] - b;
    }
    return same;
}

/* Do the rows of a window, or its block rows, repeat with a shift? Slices then
 * store runs, which need no bits per column. */
static bool in_runs(const tct_local *A, int64_t first, int b)
{
    const int64_t from = first + b, to = first + WINDOW;
    const int64_t entries = A->ptr[to] - A->ptr[from];
    int64_t same = 0;
    for (int64_t i = from; i < to; i++) same += shifted(A, i, b);
    return (double)same >= ALIKE * (double)entries;
}

/* Do the columns of WINDOW rows from `first` on need more than 16 bits? */
static bool is_far(const tct_local *A, int64_t first)
{
    int32_t low = INT32_MAX, high = 0;
    for (int64_t i = first; i < first + WINDOW; i++) {
        if (A->ptr[i] == A->ptr[i + 1]) continue;
        const int32_t from = A->col[A->ptr[i]], to = A->col[A->ptr[i + 1] - 1];
        if (from < low) low = from;
        if (to > high) high = to;
    }
    return high - low > UINT16_MAX;
}

bool tct_order_may_pay(const tacit_queue *q, const tct_local *A)
{
    if (A->ptr[A->rows] < ENTRIES_LEAST) return false;
    const int64_t windows = A->rows / WINDOW;
    const int64_t step = windows / SAMPLES + 1;
    int64_t seen = 0, far = 0;
    for (int64_t w = 0; w < windows; w += step, seen++)
        far += is_far(A, w * WINDOW);
    if ((double)far <= FAR_LEAST * (double)seen) return false;
    const int b = block_of(q, A);
    for (int64_t w = 0; w < windows; w += step)
        far -= is_far(A, w * WINDOW) && in_runs(A, w * WINDOW, b);
    return (double)far > FAR_LEAST * (double)seen;
}

/* --- find ----------------------------------------------------------------- */

typedef struct {
    const tct_local *A;
    int b;
    int64_t *ptr;
    int32_t *next; /* NULL: rows are counted alone */
} merging;

static void merge_range(void *work, int64_t from, int64_t to, void *space)
{
    const merging *m = work;
    int32_t *col = space;
    for (int64_t g = from; g < to; g++) {
        const int32_t n = tct_merge_rows(m->A, m->b, g, col);
        if (m->next) memcpy(m->next + m->ptr[g], col, (size_t)n * sizeof *col);
        else m->ptr[g + 1] = n;
    }
}

/* The graph of block rows; that of rows is the matrix itself. */
static tacit_status block_graph(const tct_local *A, int b, int64_t **ptr,
                                int32_t **next)
{
    const int64_t groups = A->rows / b, widest = tct_most_entries(A, b);
    TRY(TCT_ALLOC(groups + 1, what, ptr));
    (*ptr)[0] = 0;
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        if (pass == 1) {
            for (int64_t g = 0; g < groups; g++) (*ptr)[g + 1] += (*ptr)[g];
            TRY(TCT_ALLOC((*ptr)[groups], what, next));
        }
        if (!tct_parallel_with(groups, TCT_SHORT,
                               (size_t)widest * sizeof **next, merge_range,
                               &(merging){A, b, *ptr, pass ? *next : NULL}))
            FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    }
    return TACIT_OK;
}

static tacit_status find(const tct_graph *g, const char *name, int32_t *order)
{
    return strcmp(name, "metis") == 0 ? tct_order_metis(g, order)
                                      : tct_order_rcm(g, order);
}

/* Expand the order of block rows to rows. */
static void expand_order(int b, int64_t groups, int32_t *order)
{
    for (int64_t g = groups - 1; g >= 0 && b > 1; g--)
        for (int r = b - 1; r >= 0; r--) order[g * b + r] = order[g] * b + r;
}

/* On a GPU a lane waits for the longest row of its slice. Wide chunks reduce
 * that, but separate neighbours; with blocks an entry of x matters less, since
 * a block of rows uses it. (Measured on an H200: 1024 and 8192 are best.) */
static int64_t chunk_of(const tacit_queue *q, int b)
{
    if (is_host(q)) return 0;
    return b == 1 ? 1024 : TCT_CHUNK_MOST;
}

static tacit_status order_rows(const tacit_queue *q, const tct_local *A,
                               const char *name, int32_t *order)
{
    int64_t *ptr = NULL;
    int32_t *next = NULL;
    const int b = block_of(q, A);
    tct_graph g = {.nodes = A->rows / b, .ptr = A->ptr, .next = A->col};
    tacit_status status = TACIT_OK;
    if (b > 1) {
        status = block_graph(A, b, &ptr, &next);
        g.ptr = ptr;
        g.next = next;
    }
    if (status >= 0) status = find(&g, name, order);
    const int64_t chunk = chunk_of(q, b);
    if (status >= 0 && chunk > 0) tct_order_even(&g, chunk, order);
    if (status >= 0) expand_order(b, g.nodes, order);
    tct_free(ptr);
    tct_free(next);
    return status;
}

/* --- make ----------------------------------------------------------------- */

/* Copy `index` for a device to read: two numbers a double. */
static tacit_status put(tacit_queue *q, int64_t n, const int32_t *index,
                        double **out)
{
    const size_t doubles = ((size_t)n + 1) / 2;
    TRY(tacit_queue_alloc(q, doubles, out));
    return tacit_queue_put(q, doubles, (const double *)(const void *)index,
                           *out);
}

static tacit_status make(tacit_queue *q, const tct_local *A, tct_order *o)
{
    const int64_t n = A->rows;
    TRY(TCT_ALLOC(n + 1, what, &o->old));
    TRY(TCT_ALLOC(n + 1, what, &o->now));
    TRY(order_rows(q, A, o->name, o->old));
    o->old[n] = o->now[n] = 0;
    for (int64_t k = 0; k < n; k++) o->now[o->old[k]] = (int32_t)k;
    TRY(put(q, n, o->old, &o->enter));
    TRY(put(q, n, o->now, &o->leave));
    TRY(tacit_queue_alloc(q, (size_t)n, &o->x));
    return tacit_queue_alloc(q, (size_t)n, &o->y);
}

tacit_status tct_order_create(tacit_queue *q, const tct_local *A,
                              const char *name, tct_order **out)
{
    const double start = tct_seconds();
    tct_order *o = tct_calloc(sizeof *o);
    if (!o) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    o->name = strcmp(name, "metis") == 0 ? "metis" : "rcm";
    const tacit_status status = make(q, A, o);
    o->seconds = tct_seconds() - start;
    if (status < 0) tct_order_destroy(q, &o);
    else *out = o;
    return status;
}

void tct_order_destroy(tacit_queue *q, tct_order **o)
{
    if (!*o) return;
    tct_free((*o)->old);
    tct_free((*o)->now);
    tacit_queue_free(q, &(*o)->enter);
    tacit_queue_free(q, &(*o)->leave);
    tacit_queue_free(q, &(*o)->x);
    tacit_queue_free(q, &(*o)->y);
    tct_free(*o);
    *o = NULL;
}

/* --- use ------------------------------------------------------------------ */

typedef struct {
    const tct_order *o;
    const tct_local *A;
    tct_csr *B;
} ordering;

static void copy_rows(void *work, int64_t first, int64_t last)
{
    const ordering *w = work;
    const tct_local *A = w->A;
    tct_csr *B = w->B;
    for (int64_t k = first; k < last; k++) {
        const int64_t from = A->ptr[w->o->old[k]], to = B->ptr[k];
        for (int64_t e = 0; e < B->ptr[k + 1] - to; e++) {
            B->col32[to + e] = w->o->now[A->col[from + e]];
            B->val[to + e] = A->val[from + e];
        }
    }
}

tacit_status tct_order_copy(const tct_order *o, const tct_local *A,
                            tct_local *out)
{
    tct_csr B = {0};
    const int64_t n = A->rows;
    TRY(tct_csr_rows(&B, n, n, 0, n));
    for (int64_t k = 0; k < n; k++)
        B.ptr[k + 1] = B.ptr[k] + A->ptr[o->old[k] + 1] - A->ptr[o->old[k]];
    tacit_status status = tct_csr_entries(&B, B.ptr[n]);
    if (status >= 0) {
        tct_parallel(n, TCT_SHORT, copy_rows, &(ordering){o, A, &B});
        status = tct_csr_sort(&B, false, "the matrix in another order");
    }
    if (status < 0) {
        tct_csr_clear(&B);
        return status;
    }
    *out = *A;
    out->grid = NULL;
    out->no_grid = "its rows are in another order";
    out->lent = NULL;
    out->device = NULL;
    out->ptr = B.ptr;
    out->col = B.col32;
    out->val = B.val;
    return TACIT_OK;
}

tacit_status tct_order_move(const tct_order *o, tct_local *A)
{
    tct_local copy;
    TRY(tct_order_copy(o, A, &copy));
    tct_local_free(A);
    *A = copy;
    return TACIT_OK;
}

typedef struct {
    int32_t row, was; /* new row, and its number among the old ghost rows */
} place;

static int by_row(const void *a, const void *b)
{
    const int32_t x = ((const place *)a)->row, y = ((const place *)b)->row;
    return (x > y) - (x < y);
}

/* Copy ghost rows `at` [ghost_rows], in this order, to `to`. */
static void move_ghosts(const tct_parts *from, const place *at, tct_parts *to)
{
    int64_t k = 0;
    to->ghost_ptr[0] = 0;
    for (int64_t i = 0; i < from->ghost_rows; i++) {
        const int64_t first = from->ghost_ptr[at[i].was];
        const size_t n = (size_t)(from->ghost_ptr[at[i].was + 1] - first);
        to->ghost_row[i] = at[i].row;
        memcpy(to->ghost_col + k, from->ghost_col + first, n * 4);
        memcpy(to->ghost_val + k, from->ghost_val + first, n * 8);
        to->ghost_ptr[i + 1] = k += (int64_t)n;
    }
}

tacit_status tct_order_ghosts(const tct_order *o, tct_parts *parts)
{
    const int64_t rows = parts->ghost_rows;
    if (rows == 0) return TACIT_OK;
    tct_parts to = *parts, old = *parts;
    place *at = NULL;
    to.ghost_row = to.ghost_col = NULL;
    to.ghost_ptr = NULL;
    to.ghost_val = NULL;
    tacit_status status = TCT_ALLOC(rows, what, &at);
    if (status >= 0) status = TCT_ALLOC(rows, what, &to.ghost_row);
    if (status >= 0) status = TCT_ALLOC(rows + 1, what, &to.ghost_ptr);
    if (status >= 0)
        status = TCT_ALLOC(old.ghost_ptr[rows], what, &to.ghost_col);
    if (status >= 0)
        status = TCT_ALLOC(old.ghost_ptr[rows], what, &to.ghost_val);
    if (status >= 0) {
        for (int64_t i = 0; i < rows; i++)
            at[i] = (place){o->now[old.ghost_row[i]], (int32_t)i};
        qsort(at, (size_t)rows, sizeof *at, by_row);
        move_ghosts(&old, at, &to);
        *parts = to;
        to = old;
    }
    TCT_FREE(at, to.ghost_row, to.ghost_ptr, to.ghost_col, to.ghost_val);
    return status;
}

void tct_order_permute_in(const tct_order *o, tacit_queue *q, size_t n,
                          const double *x, double *y)
{
    q_gather(q, n, (const int32_t *)(const void *)o->enter, x, y);
}

void tct_order_permute_out(const tct_order *o, tacit_queue *q, size_t n,
                           const double *x, double *y)
{
    q_gather(q, n, (const int32_t *)(const void *)o->leave, x, y);
}

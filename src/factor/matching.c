/* SPDX-License-Identifier: BSD-3-Clause
 * factor/matching.c - the matching of largest product [DK01]. Entry a_ij costs
 * c_ij = log(max_j |a_ij|) - log |a_ij|. Duals u of rows and v of columns keep
 * c_ij - u_i - v_j >= 0, with 0 for chosen entries; each row without a column
 * gets one along a shortest path. */
#include "factor/matching.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const what = "a matching of rows and columns";

enum { UNREACHED = -1, DONE = -2 }; /* places in the heap */

typedef struct {
    const tct_csr *A;
    int64_t n;
    double *cost;     /* [entries]; infinity: cannot be chosen           */
    double *u, *v;    /* [n] duals of rows and of columns                 */
    int32_t *row;     /* [n] row of a column; -1: none                    */
    int32_t *col;     /* [n] column of a row; -1: none                    */
    int64_t *entry;   /* [n] chosen entry of a column                     */
    double *dist;     /* [n] length of the path to a column               */
    int64_t *via;     /* [n] its last entry, and ...                      */
    int32_t *from;    /* [n] ... the row of that                          */
    int32_t *heap;    /* [n] columns by distance                          */
    int32_t *at;      /* [n] place in the heap, UNREACHED or DONE         */
    int32_t *reached; /* [n] columns reached in this search               */
    int32_t heaped, reaches;
} search;

/* --- heap ----------------------------------------------------------------- */

static void put(search *s, int32_t k, int32_t j)
{
    s->heap[k] = j;
    s->at[j] = k;
}

static void rise(search *s, int32_t k, int32_t j)
{
    while (k > 0 && s->dist[s->heap[(k - 1) / 2]] > s->dist[j]) {
        put(s, k, s->heap[(k - 1) / 2]);
        k = (k - 1) / 2;
    }
    put(s, k, j);
}

static void sink(search *s, int32_t k, int32_t j)
{
    for (int32_t c = 2 * k + 1; c < s->heaped; c = 2 * k + 1) {
        if (c + 1 < s->heaped && s->dist[s->heap[c + 1]] < s->dist[s->heap[c]])
            c++;
        if (s->dist[s->heap[c]] >= s->dist[j]) break;
        put(s, k, s->heap[c]);
        k = c;
    }
    put(s, k, j);
}

static int32_t pop(search *s)
{
    const int32_t top = s->heap[0], last = s->heap[--s->heaped];
    if (s->heaped > 0) sink(s, 0, last);
    s->at[top] = DONE;
    return top;
}

/* --- a path --------------------------------------------------------------- */

/* Column `j` by entry `k` of row `i`, over a path of `length`. */
static void reach(search *s, int32_t i, int64_t k, int32_t j, double length)
{
    if (s->at[j] == UNREACHED) {
        s->reached[s->reaches++] = j;
        s->at[j] = s->heaped++;
    } else if (length >= s->dist[j]) return;
    s->dist[j] = length;
    s->via[j] = k;
    s->from[j] = i;
    rise(s, s->at[j], j);
}

/* Row `i`, at the end of a path of length `base`. */
static void scan(search *s, int32_t i, double base)
{
    for (int64_t k = s->A->ptr[i]; k < s->A->ptr[i + 1]; k++) {
        const int32_t j = s->A->col32[k];
        if (s->at[j] == DONE || isinf(s->cost[k])) continue;
        const double more = s->cost[k] - s->u[i] - s->v[j];
        reach(s, i, k, j, base + (more > 0.0 ? more : 0.0));
    }
}

/* The nearest column without a row, from row `i`; -1: none. */
static int32_t find_free(search *s, int32_t i)
{
    double base = 0.0;
    s->heaped = s->reaches = 0;
    for (;;) {
        scan(s, i, base);
        if (s->heaped == 0) return -1;
        const int32_t j = pop(s);
        base = s->dist[j];
        i = s->row[j];
        if (i < 0) return j;
    }
}

/* Choose the entries of the path from row `i` to column `j`. */
static void take_path(search *s, int32_t i, int32_t j)
{
    for (int32_t r = -1; r != i;) {
        r = s->from[j];
        const int32_t left = s->col[r];
        s->row[j] = r;
        s->col[r] = j;
        s->entry[j] = s->via[j];
        j = left;
    }
}

static void forget(search *s)
{
    for (int32_t c = 0; c < s->reaches; c++) s->at[s->reached[c]] = UNREACHED;
}

/* A row without a column gets one; the duals follow. */
static bool augment(search *s, int32_t i)
{
    const int32_t end = find_free(s, i);
    if (end >= 0) {
        take_path(s, i, end);
        for (int32_t c = 0; c < s->reaches; c++) {
            const int32_t j = s->reached[c];
            if (s->at[j] != DONE) continue;
            s->v[j] += s->dist[j] - s->dist[end];
            s->u[s->row[j]] = s->cost[s->entry[j]] - s->v[j];
        }
    }
    forget(s);
    return end >= 0;
}

/* --- the beginning -------------------------------------------------------- */

static bool counts(double a)
{
    return fabs(a) >= DBL_MIN && isfinite(a);
}

/* Costs, duals of columns, and no entry chosen; `largest` gets log(max_j
 * |a_ij|). */
static void begin(search *s, double *largest)
{
    const tct_csr *A = s->A;
    for (int64_t i = 0; i < s->n; i++) {
        s->v[i] = INFINITY;
        s->row[i] = s->col[i] = -1;
        s->at[i] = UNREACHED;
        double most = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (counts(A->val[k])) most = fmax(most, fabs(A->val[k]));
        largest[i] = log(most);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            s->cost[k] = counts(A->val[k]) ? largest[i] - log(fabs(A->val[k]))
                                           : INFINITY;
    }
    for (int64_t k = 0; k < A->ptr[s->n]; k++)
        s->v[A->col32[k]] = fmin(s->v[A->col32[k]], s->cost[k]);
}

/* Row `i` gets a column of its least reduced cost, if one is free. */
static void take_at_once(search *s, int32_t i)
{
    const tct_csr *A = s->A;
    s->u[i] = INFINITY;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (!isinf(s->cost[k]))
            s->u[i] = fmin(s->u[i], s->cost[k] - s->v[A->col32[k]]);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1] && s->col[i] < 0; k++) {
        const int32_t j = A->col32[k];
        if (isinf(s->cost[k]) || s->row[j] >= 0 ||
            s->cost[k] - s->v[j] > s->u[i])
            continue;
        s->row[j] = i;
        s->col[i] = j;
        s->entry[j] = k;
    }
}

/* Has row `i` entries that only their size rules out? */
static bool has_tiny(const search *s, int32_t i)
{
    const tct_csr *A = s->A;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (A->val[k] != 0.0 && fabs(A->val[k]) < DBL_MIN) return true;
    return false;
}

/* Row `i` and those of the columns reached have too few columns. */
static tacit_status refuse(const search *s, int32_t i)
{
    int32_t tiny = has_tiny(s, i) ? i : -1;
    for (int32_t c = 0; c < s->reaches && tiny < 0; c++)
        if (has_tiny(s, s->row[s->reached[c]])) tiny = s->row[s->reached[c]];
    if (tiny >= 0)
        FAIL(TACIT_INPUT,
             "row %" PRId32 " has entries below 2.2e-308, where doubles lose "
             "their digits: scale the matrix",
             tiny + 1);
    if (s->reaches == 0)
        FAIL(TACIT_INPUT,
             "the matrix is singular: row %" PRId32 " has no entry but 0",
             i + 1);
    FAIL(TACIT_INPUT,
         "the matrix is singular: row %" PRId32 " and %" PRId32
         " other%s have entries in only %" PRId32 " column%s",
         i + 1, s->reaches, s->reaches == 1 ? "" : "s", s->reaches,
         s->reaches == 1 ? "" : "s");
}

static tacit_status match(search *s)
{
    for (int32_t i = 0; i < s->n; i++) take_at_once(s, i);
    for (int32_t i = 0; i < s->n; i++)
        if (s->col[i] < 0 && !augment(s, i)) return refuse(s, i);
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

/* exp(x), kept within the range of doubles. */
static double scale_of(double x)
{
    return exp(fmax(-708.0, fmin(708.0, x)));
}

static tacit_status solve(search *s, double *largest, tct_matching *out)
{
    begin(s, largest);
    TRY(match(s));
    for (int64_t i = 0; i < s->n; i++) {
        out->row[i] = s->row[i];
        out->row_scale[i] = scale_of(s->u[i] - largest[i]);
        out->col_scale[i] = scale_of(s->v[i]);
    }
    return TACIT_OK;
}

static tacit_status open_search(search *s)
{
    const int64_t n = s->n;
    TRY(TCT_ALLOC(s->A->ptr[n], what, &s->cost));
    TRY(TCT_ALLOC(n, what, &s->u));
    TRY(TCT_ALLOC(n, what, &s->v));
    TRY(TCT_ALLOC(n, what, &s->row));
    TRY(TCT_ALLOC(n, what, &s->col));
    TRY(TCT_ALLOC(n, what, &s->entry));
    TRY(TCT_ALLOC(n, what, &s->dist));
    TRY(TCT_ALLOC(n, what, &s->via));
    TRY(TCT_ALLOC(n, what, &s->from));
    TRY(TCT_ALLOC(n, what, &s->heap));
    TRY(TCT_ALLOC(n, what, &s->at));
    return TCT_ALLOC(n, what, &s->reached);
}

tacit_status tct_matching_create(const tct_csr *A, tct_matching *out)
{
    search s = {.A = A, .n = A->rows};
    double *largest = NULL;
    *out = (tct_matching){.row = NULL};
    tacit_status status = tct_memory_require(
        8.0 * (double)tct_csr_nonzeros(A) + 85.0 * (double)A->rows, what);
    if (status >= 0) status = open_search(&s);
    if (status >= 0) status = TCT_ALLOC(s.n, what, &largest);
    if (status >= 0) status = TCT_ALLOC(s.n, what, &out->row);
    if (status >= 0) status = TCT_ALLOC(s.n, what, &out->row_scale);
    if (status >= 0) status = TCT_ALLOC(s.n, what, &out->col_scale);
    if (status >= 0) status = solve(&s, largest, out);
    TCT_FREE(s.cost, s.u, s.v, s.row, s.entry, s.dist, s.via, s.from, s.heap,
             s.at, s.reached, s.col, largest);
    if (status < 0) tct_matching_clear(out);
    return status;
}

void tct_matching_clear(tct_matching *m)
{
    TCT_FREE(m->row, m->row_scale, m->col_scale);
    *m = (tct_matching){.row = NULL};
}

/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_product.c - Q'A Q of interface rows. Each part
 * lists the columns of its rows once in a work space that fits all entries, of
 * which few pages are touched; then the pattern is copied and sorted. */
#include "precond/amg/device/interface_product.h"

static const char *const what = "rows with columns of other ranks";
enum { LEAST = 256 }; /* interface rows that are worth a thread */

typedef struct {
    tct_interface_product *p;
    int32_t *list; /* [entries of A] columns, part by part */
    int64_t *from; /* [parts] first in `list` */
} listing;

/* List the columns of row `n` once each; returns the end of the list. */
static int64_t list_columns(const tct_interface_product *p, int64_t n,
                            int32_t *place, int32_t *list, int64_t end)
{
    const tct_csr *A = p->A;
    for (int64_t m = p->members.begin[n]; m < p->members.begin[n + 1]; m++) {
        const int64_t i = p->members.member[m];
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int32_t col = p->at[A->col32[e]];
            if (col < 0 || place[col] == (int32_t)n) continue;
            place[col] = (int32_t)n;
            list[end++] = col;
        }
    }
    return end;
}

static void list_part(void *work, int64_t part)
{
    const listing *l = work;
    const tct_interface_product *p = l->p;
    int32_t *const place = p->place + part * p->cols;
    const int64_t last = tct_interface_product_first(p, (int)part + 1);
    int64_t end = l->from[part];
    for (int64_t c = 0; c < p->cols; c++) place[c] = -1;
    for (int64_t n = tct_interface_product_first(p, (int)part); n < last; n++) {
        const int64_t from = end;
        end = list_columns(p, n, place, l->list, end);
        p->B.ptr[n + 1] = end - from;
    }
}

static void copy_part(void *work, int64_t part)
{
    const listing *l = work;
    tct_csr *B = &l->p->B;
    const int64_t first = tct_interface_product_first(l->p, (int)part);
    const int64_t last = tct_interface_product_first(l->p, (int)part + 1);
    const int32_t *from = l->list + l->from[part];
    for (int64_t e = B->ptr[first]; e < B->ptr[last]; e++) {
        tct_csr_set_col(B, e, *from++);
        B->val[e] = 0.0;
    }
}

/* A part has room for all entries of its rows of A. */
static void divide(listing *l)
{
    const tct_interface_product *p = l->p;
    int64_t at = 0;
    for (int t = 0; t < p->parts; t++) {
        const int64_t *const begin = p->members.begin;
        l->from[t] = at;
        for (int64_t m = begin[tct_interface_product_first(p, t)];
             m < begin[tct_interface_product_first(p, t + 1)]; m++) {
            const int64_t i = p->members.member[m];
            at += p->A->ptr[i + 1] - p->A->ptr[i];
        }
    }
}

static tacit_status find_pattern(listing *l)
{
    tct_interface_product *p = l->p;
    TRY(TCT_ALLOC(p->parts, what, &l->from));
    TRY(TCT_ALLOC(tct_csr_nonzeros(p->A), what, &l->list));
    TRY(TCT_ALLOC(p->parts * p->cols, what, &p->place));
    TRY(tct_csr_rows(&p->B, p->rows, p->cols, 0, p->rows));
    divide(l);
    tct_parallel_each(p->parts, list_part, l);
    for (int64_t n = 0; n < p->rows; n++) p->B.ptr[n + 1] += p->B.ptr[n];
    TRY(tct_csr_entries(&p->B, p->B.ptr[p->rows]));
    tct_parallel_each(p->parts, copy_part, l);
    return tct_csr_sort(&p->B, false, what);
}

tacit_status tct_interface_product_open(tct_interface_product *p)
{
    listing l = {.p = p};
    TRY(tct_list_members(p->A->rows, p->of, p->rows, &p->members));
    p->parts = tct_parallel_parts(p->A->rows, LEAST);
    const tacit_status status = find_pattern(&l);
    TCT_FREE(l.list, l.from);
    return status;
}

void tct_interface_product_clear(tct_interface_product *p)
{
    tct_members_clear(&p->members);
    tct_csr_clear(&p->B);
    tct_free(p->place);
    *p = (tct_interface_product){.A = NULL};
}

/* --- values --------------------------------------------------------------- */

typedef struct {
    const tct_interface_product *p;
    const double *weight, *ghost_weight;
    bool squared;
} adding;

/* Add row `i` of A to the row that begins at `sum`. */
static void add_row(const adding *a, int64_t i, const int32_t *place,
                    double *sum)
{
    const tct_interface_product *p = a->p;
    const tct_csr *A = p->A;
    const double own = a->weight ? a->weight[i] : 1.0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int32_t g = A->col32[e], col = p->at[g];
        const double val = A->val[e], value = a->squared ? val * val : val;
        const double w = a->ghost_weight ? a->ghost_weight[g] : 1.0;
        if (col >= 0) sum[place[col]] += own * value * w;
    }
}

static void add_part(void *work, int64_t part)
{
    const adding *a = work;
    const tct_interface_product *p = a->p;
    const int64_t last = tct_interface_product_first(p, (int)part + 1);
    for (int64_t n = tct_interface_product_first(p, (int)part); n < last; n++) {
        const int32_t *place = tct_interface_product_places(p, (int)part, n);
        double *const sum = p->B.val + p->B.ptr[n];
        const int64_t length = p->B.ptr[n + 1] - p->B.ptr[n];
        for (int64_t e = 0; e < length; e++) sum[e] = -0.0; /* changes no sum */
        for (int64_t m = p->members.begin[n]; m < p->members.begin[n + 1]; m++)
            add_row(a, p->members.member[m], place, sum);
    }
}

void tct_interface_product_add_up(const tct_interface_product *p,
                                  const double *weight,
                                  const double *ghost_weight, bool squared)
{
    adding a = {p, weight, ghost_weight, squared};
    tct_parallel_each(p->parts, add_part, &a);
}

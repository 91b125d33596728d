/* SPDX-License-Identifier: BSD-3-Clause
 * io/matrix_market_write.c - writes Matrix Market files: threads print lines,
 * and rank 0 gathers them. */
#include "io/matrix_market.h"
#include "io/number.h"
#include <stdio.h>

/* State of the writer. Threads print slots of LINES lines of at most WIDTH
 * bytes, which are then moved together. */
enum { WIDTH = 80, LINES = 512, SLOT = WIDTH * LINES, SLOTS = 128 };

typedef struct {
    const tct_csr *A; /* NULL for a vector */
    bool lower;       /* write the lower triangle only */
    const double *x;
    int64_t at, count; /* entries */
    int64_t row;       /* row of entry `at` */
    tct_crew *crew;
    char *out;           /* [slots][SLOT] */
    size_t bytes[SLOTS]; /* in each slot */
} writer;

/* Print entries [from, to); the first is in `row` or later. */
static size_t print_lines(const writer *p, int64_t from, int64_t to,
                          int64_t row, char *out)
{
    char *start = out;
    for (int64_t k = from; k < to; k++) {
        if (p->A) {
            while (p->A->ptr[row + 1] <= k) row++;
            const int64_t i = p->A->first + row, j = tct_csr_col(p->A, k);
            if (p->lower && j > i) continue;
            out += tct_print_int(out, i + 1);
            *out++ = ' ';
            out += tct_print_int(out, j + 1);
            *out++ = ' ';
        }
        out += tct_print_double(out, p->x[k]);
        *out++ = '\n';
    }
    return (size_t)(out - start);
}

static int64_t row_of(const writer *p, int64_t k)
{
    int64_t low = p->row, high = p->A ? p->A->rows : 0;
    while (high - low > 1) {
        const int64_t mid = low + (high - low) / 2;
        if (p->A->ptr[mid] <= k) low = mid;
        else high = mid;
    }
    return low;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void fill_slot(void *ctx, int s)
{
    writer *p = ctx;
    const int64_t from = p->at + (int64_t)s * LINES;
    p->bytes[s] = print_lines(p, from, least(from + LINES, p->count),
                              row_of(p, from), p->out + (size_t)s * SLOT);
}

static size_t make_lines(void *ctx, char *out, size_t room)
{
    writer *p = ctx;
    const int64_t slots = least((int64_t)(room / SLOT), SLOTS);
    size_t total = 0;
    p->out = out;
    /* Repeat if all of them were above the diagonal. */
    while (total == 0 && p->at < p->count) {
        const int64_t n = least((p->count - p->at + LINES - 1) / LINES, slots);
        tct_crew_run(p->crew, (int)n, fill_slot, p);
        for (int64_t s = 0; s < n; s++) {
            memmove(out + total, out + s * SLOT, p->bytes[s]);
            total += p->bytes[s];
        }
        p->at = least(p->at + n * LINES, p->count);
        if (p->at < p->count) p->row = row_of(p, p->at);
    }
    return total;
}

/* Write the lines of `p`, then of `more` further columns, `stride` apart. */
static tacit_status write_lines(tct_sink *s, writer *p, int more,
                                int64_t stride)
{
    tacit_status status = tct_crew_create(&p->crew);
    status = tct_agree(tct_sink_world(s), status);
    if (status == TACIT_OK) status = tct_sink_gather(s, make_lines, p);
    for (; more > 0 && status == TACIT_OK; more--) {
        p->at = p->row = 0;
        p->x += stride;
        status = tct_sink_gather(s, make_lines, p);
    }
    tct_crew_destroy(&p->crew);
    return status;
}

static int64_t count_lower(const tct_csr *A)
{
    int64_t count = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            count += tct_csr_col(A, k) <= A->first + i;
    return count;
}

tacit_status tct_market_write_matrix(tct_sink *s, const tct_csr *A,
                                     const tct_write_options *options)
{
    const bool lower = options->symmetric;
    int64_t stored = lower ? count_lower(A) : tct_csr_nonzeros(A);
    TRY(tct_reduce_i64(tct_sink_world(s), TCT_SUM, 1, &stored));
    char head[160];
    const int n =
        snprintf(head, sizeof head,
                 "%%%%MatrixMarket matrix coordinate real %s\n%lld %lld %lld\n",
                 lower ? "symmetric" : "general", (long long)A->global_rows,
                 (long long)A->global_cols, (long long)stored);
    TRY(tct_sink_write(s, head, (size_t)n));
    writer p = {
        .A = A, .lower = lower, .x = A->val, .count = tct_csr_nonzeros(A)};
    return write_lines(s, &p, 0, 0);
}

tacit_status tct_market_write_vectors(tct_sink *s, int64_t rows, int64_t count,
                                      int columns, const double *x,
                                      int64_t stride)
{
    char head[120];
    const int n =
        snprintf(head, sizeof head,
                 "%%%%MatrixMarket matrix array real general\n%lld %d\n",
                 (long long)rows, columns);
    TRY(tct_sink_write(s, head, (size_t)n));
    writer p = {.x = x, .count = count};
    return write_lines(s, &p, columns - 1, stride);
}

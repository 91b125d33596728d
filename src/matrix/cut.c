/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/cut.c - the cost of a partition: entries between parts, and values and
 * messages of one exchange for y = A x, with x partitioned like the rows.
 *
 * A part with an entry in column j of another part receives x_j once: volume
 * counts the pairs (j, part), messages the pairs (part of j, part). Each rank
 * collects its pairs in sets; a pair's hash selects the rank that counts it, so
 * each is counted once. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "matrix/ask_columns.h"
#include "matrix/matrix.h"
#include "sparse/keyset.h"

typedef struct {
    const tacit_matrix *m;
    const int32_t *part;
    int parts;
    int64_t edge_cut;
    tct_keyset values;   /* j * parts + part            */
    tct_keyset messages; /* part * parts + part of j    */
} survey;

/* --- pairs of this rank --------------------------------------------------- */

/* Add the pairs of entries [from, to), whose columns have the parts `other`;
 * `*i` is the row of the first. */
static tacit_status add_pairs(survey *s, int64_t from, int64_t to,
                              const int64_t *other, int64_t *i)
{
    const tct_csr *A = &s->m->A;
    for (int64_t k = from; k < to; k++) {
        while (A->ptr[*i + 1] <= k) ++*i;
        const int64_t p = s->part[*i], q = other[k - from];
        if (p == q) continue;
        const int64_t j = tct_csr_col(A, k);
        s->edge_cut += j > A->first + *i;
        TRY(tct_keyset_add(&s->values, j * s->parts + p));
        TRY(tct_keyset_add(&s->messages, p * s->parts + q));
    }
    return TACIT_OK;
}

typedef struct {
    int64_t *table;             /* [rows] the parts as 64-bit words */
    int64_t *answers, *scratch; /* [TCT_COLUMN_BATCH at most] */
} buffers;

static tacit_status collect_pairs(survey *s, const buffers *b)
{
    const int64_t nonzeros = tct_csr_nonzeros(&s->m->A);
    int64_t from = 0, i = 0;
    for (bool more = true; more;) {
        int64_t to = from + TCT_COLUMN_BATCH;
        if (to > nonzeros) to = nonzeros;
        TRY(tct_ask_columns(s->m, from, to, b->table, b->answers, b->scratch));
        TRY(tct_agree(s->m->world, add_pairs(s, from, to, b->answers, &i)));
        from = to;
        TRY(tct_any(s->m->world, from < nonzeros, &more));
    }
    return TACIT_OK;
}

static tacit_status collect(survey *s)
{
    const tct_csr *A = &s->m->A;
    buffers b = {0};
    int64_t batch = tct_csr_nonzeros(A);
    if (batch > TCT_COLUMN_BATCH) batch = TCT_COLUMN_BATCH;
    tacit_status status = TCT_ALLOC(A->rows, "parts", &b.table);
    if (status >= 0) status = TCT_ALLOC(batch, "parts of columns", &b.answers);
    if (status >= 0) status = TCT_ALLOC(batch, "columns", &b.scratch);
    for (int64_t i = 0; status >= 0 && i < A->rows; i++)
        b.table[i] = s->part[i];
    status = tct_agree(s->m->world, status);
    if (status >= 0) status = collect_pairs(s, &b);
    TCT_FREE(b.table, b.answers, b.scratch);
    return status;
}

/* --- pairs of all ranks --------------------------------------------------- */

static int counter(int64_t key, int size)
{
    return (int)(tct_mix(~(uint64_t)key) % (uint64_t)size);
}

/* Pack slots of `set` from *from on, as many as fit into a round. */
static void pack(const tct_keyset *set, tct_alltoall *alltoall, int64_t *from)
{
    const int size = alltoall->world->size;
    int64_t end = *from, n = 0;
    tct_alltoall_begin(alltoall);
    for (; end < set->room; end++) {
        if (set->slot[end] < 0) continue;
        if (n++ == alltoall->room) break;
        alltoall->to[counter(set->slot[end], size)]++;
    }
    tct_alltoall_address(alltoall);
    for (int64_t k = *from; k < end; k++) {
        if (set->slot[k] < 0) continue;
        const int rank = counter(set->slot[k], size);
        *(int64_t *)tct_alltoall_slot(alltoall, rank) = set->slot[k];
    }
    *from = end;
}

static tacit_status unite(const tct_keyset *set, tct_alltoall *alltoall,
                          tct_keyset *all)
{
    int64_t at = 0;
    for (bool more = true; more;) {
        pack(set, alltoall, &at);
        TRY(tct_alltoall_send(alltoall));
        const int64_t *in = (const int64_t *)(const void *)alltoall->in;
        tacit_status status = TACIT_OK;
        for (int64_t k = 0; status >= 0 && k < alltoall->received; k++)
            status = tct_keyset_add(all, in[k]);
        TRY(tct_agree(alltoall->world, status));
        TRY(tct_any(alltoall->world, at < set->room, &more));
    }
    return TACIT_OK;
}

/* Count the distinct keys in the sets of all ranks; clears `set`. */
static tacit_status count_keys(tacit_world *w, tct_keyset *set, int64_t *out)
{
    tct_keyset all = {0};
    tct_alltoall alltoall = {0};
    tacit_status status = TACIT_OK;
    if (w->size > 1) {
        status = tct_alltoall_open(&alltoall, w, sizeof(int64_t), set->count);
        if (status >= 0) status = unite(set, &alltoall, &all);
    }
    *out = w->size > 1 ? all.count : set->count;
    tct_alltoall_close(&alltoall);
    tct_keyset_clear(&all);
    tct_keyset_clear(set);
    TRY(status);
    return tct_reduce_i64(w, TCT_SUM, 1, out);
}

/* --- sizes of the parts --------------------------------------------------- */

static void sizes_to_info(const int64_t *rows, const int64_t *entries,
                          int parts, int64_t nonzeros,
                          tacit_partition_info *out)
{
    int64_t most = 0;
    out->rows_min = INT64_MAX;
    out->rows_max = 0;
    for (int p = 0; p < parts; p++) {
        if (rows[p] < out->rows_min) out->rows_min = rows[p];
        if (rows[p] > out->rows_max) out->rows_max = rows[p];
        if (entries[p] > most) most = entries[p];
    }
    out->imbalance =
        nonzeros ? (double)most * (double)parts / (double)nonzeros : 1;
}

/* Sum `rows` and `entries` [parts], which are adjacent, over all ranks. */
static tacit_status sum_parts(const survey *s, int64_t *rows, int64_t *entries)
{
    const tct_csr *A = &s->m->A;
    for (int64_t p = 0; p < s->parts; p++) rows[p] = entries[p] = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        rows[s->part[i]]++;
        entries[s->part[i]] += A->ptr[i + 1] - A->ptr[i];
    }
    return tct_reduce_i64(s->m->world, TCT_SUM, 2 * (size_t)s->parts, rows);
}

static tacit_status measure_parts(const survey *s, tacit_partition_info *out)
{
    const tacit_matrix *m = s->m;
    int64_t *rows = NULL;
    tacit_status status = TCT_ALLOC(2 * (size_t)s->parts, "the parts", &rows);
    status = tct_agree(m->world, status);
    if (status >= 0) status = sum_parts(s, rows, rows + s->parts);
    if (status >= 0)
        sizes_to_info(rows, rows + s->parts, s->parts, m->nonzeros, out);
    tct_free(rows);
    return status;
}

/* --- all ------------------------------------------------------------------ */

static tacit_status run(survey *s, tacit_partition_info *out)
{
    tacit_world *w = s->m->world;
    TRY(measure_parts(s, out));
    TRY(collect(s));
    out->edge_cut = s->edge_cut;
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &out->edge_cut));
    TRY(count_keys(w, &s->values, &out->volume));
    return count_keys(w, &s->messages, &out->messages);
}

tacit_status tct_cut_describe(const tacit_matrix *m, int parts,
                              const int32_t *part, tacit_partition_info *out)
{
    survey s = {.m = m, .part = part, .parts = parts};
    tacit_partition_info info = {0};
    const tacit_status status = run(&s, &info);
    tct_keyset_clear(&s.values);
    tct_keyset_clear(&s.messages);
    TRY(status);
    *out = info;
    return TACIT_OK;
}

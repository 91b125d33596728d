/* SPDX-License-Identifier: BSD-3-Clause
 * io/assembly.c - bucket sort of entries by row; blocks are freed one by one.
 *
 *     buckets   | rows 0..4095 | rows 4096..8191 | ...   a list of blocks each
 *     block     [ key val | key val | ... ]              16 KiB
 *     key       row in the bucket, then column, in one word */
#include "io/assembly.h"
#include <string.h>

typedef struct {
    uint64_t key;
    double val;
} packed;

enum {
    BLOCK = 1024, /* packed entries, 16 KiB */
    SLAB = 256,   /* blocks allocated at once, 4 MiB */
    MOST_BUCKETS = 512
};
static const uint32_t NONE = UINT32_MAX;

typedef struct {
    uint32_t head, tail; /* blocks */
    uint32_t left;       /* free entries in the tail */
    int64_t count;
} bucket;

/* Write position of one part of a batch in one bucket. */
typedef struct {
    packed *at;
    uint32_t left, block;
} cursor;

/* Arguments of parallel work: the parts of a batch, or the buckets. */
typedef struct {
    tct_assembly *a;
    const tct_part *parts;
    tct_csr *A;
    const int64_t *base; /* offset of each bucket in A */
} work;

struct tct_assembly {
    work work; /* current work */
    tct_crew *crew;
    int64_t global_rows, global_cols, first, rows;
    int row_shift, col_bits;
    int64_t buckets;
    bucket *bucket; /* [buckets] */
    packed **slab;  /* [slabs] */
    uint32_t *next; /* [slabs][SLAB] next block of each */
    uint32_t slabs, slab_room, blocks;
    uint32_t *counts; /* [parts][buckets] */
    cursor *cursors;  /* [parts][buckets] */
    int parts;
};

static packed *block_at(const tct_assembly *a, uint32_t block)
{
    return a->slab[block / SLAB] + (size_t)(block % SLAB) * BLOCK;
}

/* --- create ------------------------------------------------------------- */

/* About 1 MiB per bucket: its rows then fit in the cache. */
static void choose_buckets(tct_assembly *a, int64_t expected)
{
    int64_t wanted = expected / (1 << 16) + 1;
    if (wanted > MOST_BUCKETS) wanted = MOST_BUCKETS;
    const int64_t last_row = a->rows > 0 ? a->rows - 1 : 0;
    const uint64_t last_col =
        a->global_cols > 1 ? (uint64_t)a->global_cols - 1 : 1;
    a->col_bits = 64 - __builtin_clzll(last_col);
    while (last_row >> a->row_shift >= wanted &&
           a->row_shift + a->col_bits < 64)
        a->row_shift++;
    a->buckets = (last_row >> a->row_shift) + 1;
}

tacit_status tct_assembly_create(int64_t global_rows, int64_t global_cols,
                                 int64_t first, int64_t rows, int64_t expected,
                                 tct_crew *crew, tct_assembly **out)
{
    tct_assembly *a = tct_calloc(sizeof *a);
    if (!a) FAIL(TACIT_NO_MEMORY, "no memory to assemble a matrix");
    a->crew = crew;
    a->global_rows = global_rows;
    a->global_cols = global_cols;
    a->first = first;
    a->rows = rows;
    choose_buckets(a, expected);
    const tacit_status status =
        TCT_ALLOC(a->buckets, "the buckets of a matrix", &a->bucket);
    if (status < 0) {
        tct_assembly_destroy(&a);
        return status;
    }
    for (int64_t b = 0; b < a->buckets; b++)
        a->bucket[b] = (bucket){.head = NONE, .tail = NONE};
    *out = a;
    return TACIT_OK;
}

void tct_assembly_destroy(tct_assembly **out)
{
    tct_assembly *a = *out;
    if (!a) return;
    for (uint32_t i = 0; i < a->slabs; i++) tct_free(a->slab[i]);
    TCT_FREE(a->slab, a->next, a->bucket, a->counts, a->cursors, a);
    *out = NULL;
}

/* --- add ---------------------------------------------------------------- */

/* Double the lists of slabs. */
static tacit_status more_slabs(tct_assembly *a)
{
    const uint32_t room = a->slab_room ? 2 * a->slab_room : 16;
    packed **slab = NULL;
    uint32_t *next = NULL;
    TRY(TCT_ALLOC(room, "the entries of a matrix", &slab));
    const tacit_status status =
        TCT_ALLOC((size_t)room * SLAB, "the entries of a matrix", &next);
    if (status < 0) {
        tct_free(slab);
        return status;
    }
    if (a->slabs > 0) {
        memcpy(slab, a->slab, a->slabs * sizeof(*slab));
        memcpy(next, a->next, (size_t)a->slabs * SLAB * sizeof *next);
    }
    tct_free(a->slab);
    tct_free(a->next);
    a->slab = slab;
    a->next = next;
    a->slab_room = room;
    return TACIT_OK;
}

/* Append a new block to bucket `b`. */
static tacit_status more_room(tct_assembly *a, bucket *b)
{
    if (a->blocks == a->slabs * SLAB) {
        if (a->slabs == a->slab_room) TRY(more_slabs(a));
        TRY(TCT_ALLOC_SMALL_PAGES(SLAB * BLOCK, "the entries of a matrix",
                                  &a->slab[a->slabs]));
        a->slabs++;
    }
    const uint32_t block = a->blocks++;
    a->next[block] = NONE;
    if (b->head == NONE) b->head = block;
    else a->next[b->tail] = block;
    b->tail = block;
    b->left = BLOCK;
    return TACIT_OK;
}

/* Reserve space for `count` entries of one part in bucket `b`. */
static tacit_status reserve(tct_assembly *a, bucket *b, uint32_t count,
                            cursor *c)
{
    if (count == 0) return TACIT_OK;
    if (b->left == 0) TRY(more_room(a, b));
    *c = (cursor){block_at(a, b->tail) + (BLOCK - b->left), b->left, b->tail};
    b->count += count;
    while (count > b->left) {
        count -= b->left;
        TRY(more_room(a, b));
    }
    b->left -= count;
    return TACIT_OK;
}

static void count_part(void *ctx, int p)
{
    const work *j = ctx;
    const tct_assembly *a = j->a;
    const tct_part *part = &j->parts[p];
    uint32_t *counts = a->counts + p * a->buckets;
    memset(counts, 0, (size_t)a->buckets * sizeof *counts);
    for (int64_t k = 0; k < part->count; k++)
        counts[(part->entries[k].row - a->first) >> a->row_shift]++;
}

static void distribute_part(void *ctx, int p)
{
    const work *j = ctx;
    const tct_assembly *a = j->a;
    const tct_part *part = &j->parts[p];
    cursor *cursors = a->cursors + p * a->buckets;
    const uint64_t mask = (UINT64_C(1) << a->row_shift) - 1;
    for (int64_t k = 0; k < part->count; k++) {
        const tct_entry *e = &part->entries[k];
        const uint64_t row = (uint64_t)(e->row - a->first);
        cursor *c = &cursors[row >> a->row_shift];
        if (c->left == 0) {
            c->block = a->next[c->block];
            c->at = block_at(a, c->block);
            c->left = BLOCK;
        }
        c->at->key = (row & mask) << a->col_bits | (uint64_t)e->col;
        c->at->val = e->val;
        c->at++;
        c->left--;
    }
}

static tacit_status room_for_parts(tct_assembly *a, int parts)
{
    if (parts <= a->parts) return TACIT_OK;
    tct_free(a->counts);
    tct_free(a->cursors);
    a->counts = NULL;
    a->cursors = NULL;
    a->parts = 0;
    const size_t n = (size_t)parts * (size_t)a->buckets;
    TRY(TCT_ALLOC(n, "the buckets of a matrix", &a->counts));
    TRY(TCT_ALLOC(n, "the buckets of a matrix", &a->cursors));
    a->parts = parts;
    return TACIT_OK;
}

tacit_status tct_assembly_add(tct_assembly *a, const tct_batch *batch)
{
    const int parts = batch->count;
    tct_crew_flush(a->crew);
    TRY(room_for_parts(a, parts));
    a->work = (work){.a = a, .parts = batch->parts};
    for (int p = 0; p < parts; p++) count_part(&a->work, p);
    for (int64_t b = 0; b < a->buckets; b++)
        for (int p = 0; p < parts; p++)
            TRY(reserve(a, &a->bucket[b], a->counts[p * a->buckets + b],
                        &a->cursors[p * a->buckets + b]));
    tct_crew_defer(a->crew, parts, distribute_part, &a->work);
    return TACIT_OK;
}

/* --- finish ------------------------------------------------------------- */

/* Make the rows of bucket `b`, whose entries begin at base[b] of A. ptr[i + 1]
 * is first the length of row i, then its next free offset, at last its end. */
static void make_rows(void *ctx, int b)
{
    const work *j = ctx;
    const tct_assembly *a = j->a;
    tct_csr *A = j->A;
    const int64_t from = (int64_t)b << a->row_shift, size = INT64_C(1)
                                                            << a->row_shift;
    const int64_t rows = a->rows - from < size ? a->rows - from : size;
    int64_t *next = A->ptr + from + 1;
    int64_t left = a->bucket[b].count;
    for (uint32_t i = a->bucket[b].head; i != NONE; i = a->next[i]) {
        const packed *e = block_at(a, i);
        const int64_t n = left < BLOCK ? left : BLOCK;
        for (int64_t k = 0; k < n; k++) next[e[k].key >> a->col_bits]++;
        left -= n;
    }
    for (int64_t r = 0, sum = j->base[b]; r < rows; r++) {
        const int64_t n = next[r];
        next[r] = sum;
        sum += n;
    }
    const uint64_t mask = UINT64_MAX >> (64 - a->col_bits);
    left = a->bucket[b].count;
    for (uint32_t i = a->bucket[b].head; i != NONE; i = a->next[i]) {
        packed *e = block_at(a, i);
        const int64_t n = left < BLOCK ? left : BLOCK;
        for (int64_t k = 0; k < n; k++) {
            const int64_t to = next[e[k].key >> a->col_bits]++;
            tct_csr_set_col(A, to, (int64_t)(e[k].key & mask));
            A->val[to] = e[k].val;
        }
        tct_release_pages(e, BLOCK * sizeof *e);
        left -= n;
    }
}

/* As tct_csr_entries without its check of free memory: memory is freed while
 * these arrays are filled. */
static tacit_status alloc_entries(tct_csr *A, int64_t nonzeros)
{
    TRY(TCT_ALLOC(nonzeros, "the values of a matrix", &A->val));
    if (A->global_cols <= INT32_MAX)
        return TCT_ALLOC(nonzeros, "the columns of a matrix", &A->col32);
    return TCT_ALLOC(nonzeros, "the columns of a matrix", &A->col64);
}

static tacit_status fill(tct_assembly *a, tct_csr *A)
{
    int64_t *base = NULL, total = 0;
    TRY(TCT_ALLOC(a->buckets, "the buckets of a matrix", &base));
    for (int64_t b = 0; b < a->buckets; b++) {
        base[b] = total;
        total += a->bucket[b].count;
    }
    tacit_status status =
        tct_csr_rows(A, a->global_rows, a->global_cols, a->first, a->rows);
    if (status == TACIT_OK) status = alloc_entries(A, total);
    work j = {.a = a, .A = A, .base = base};
    if (status == TACIT_OK)
        tct_crew_run(a->crew, (int)a->buckets, make_rows, &j);
    tct_free(base);
    return status;
}

static void empty(tct_assembly *a)
{
    for (uint32_t i = 0; i < a->slabs; i++) tct_free(a->slab[i]);
    a->slabs = a->blocks = 0;
    for (int64_t b = 0; b < a->buckets; b++)
        a->bucket[b] = (bucket){.head = NONE, .tail = NONE};
}

tacit_status tct_assembly_finish(tct_assembly *a, tct_csr *out,
                                 int64_t *duplicates)
{
    tct_csr A = {0};
    tct_crew_flush(a->crew);
    tacit_status status = fill(a, &A);
    empty(a);
    const int64_t before = status == TACIT_OK ? tct_csr_nonzeros(&A) : 0;
    if (status == TACIT_OK) status = tct_csr_sort(&A, true, "matrix");
    if (status < 0) {
        tct_csr_clear(&A);
        return status;
    }
    *duplicates = before - tct_csr_nonzeros(&A);
    *out = A;
    return TACIT_OK;
}

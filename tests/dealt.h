/* SPDX-License-Identifier: BSD-3-Clause
 * tests/dealt.h - unevenly distributed matrices whose entries are known by
 * formula, for tests over registries. */
#ifndef TESTS_DEALT_H
#define TESTS_DEALT_H
#include "gpu.h"

/* --- entries -------------------------------------------------------------- */

typedef enum shape {
    NO_ENTRY,
    DIAGONAL,
    LINE,       /* each with its neighbours                         */
    SCATTERED,  /* 0 to 6 entries anywhere, each fourth row empty   */
    DENSE_ROW,  /* a diagonal, and one row and one column in full   */
    BLOCKS,     /* dense 3 x 3 blocks, each with the next           */
    LONG_BLOCK, /* neighbours, and far away a stretch of 20 columns */
    SHAPES
} shape;

typedef struct formula {
    shape s;
    int64_t n;
    int seed;
    double (*value)(int seed, int64_t i, int64_t j);
} formula;

static inline double number(int seed, int64_t i, int64_t j)
{
    return 2.0 * tct_uniform((uint64_t)seed, (uint64_t)(i * 100003 + j)) - 1.0;
}

static inline bool has_entry(const formula *f, int64_t i, int64_t j)
{
    const int64_t n = f->n, far = (i * 7 + n / 2) % n;
    switch (f->s) {
    case NO_ENTRY: return false;
    case DIAGONAL: return i == j;
    case LINE: return llabs(i - j) < 2;
    case SCATTERED:
        return i % 4 != 2 && number(f->seed + 1, i, j) > 1.0 - 6.0 / (double)n;
    case DENSE_ROW: return i == j || i == n / 3 || j == n / 2;
    case BLOCKS: return i / 3 == j / 3 || i / 3 == j / 3 + 1;
    case LONG_BLOCK: return llabs(i - j) < 2 || (j >= far && j < far + 20);
    case SHAPES: break;
    }
    return false;
}

/* Row `i` in full: its columns ascending into `cols`, `vals` [n]. */
static inline int64_t row_of(const formula *f, int64_t i, int64_t *cols,
                             double *vals)
{
    int64_t count = 0;
    for (int64_t j = 0; j < f->n; j++) {
        if (!has_entry(f, i, j)) continue;
        cols[count] = j;
        vals[count++] = f->value(f->seed, i, j);
    }
    return count;
}

/* --- ranks ---------------------------------------------------------------- */

typedef enum deal { EVENLY, TO_THE_LAST, TO_THE_FIRST, RAGGED, DEALS } deal;

/* The first row of `rank`. */
static inline int64_t first_of(deal d, int64_t n, int rank)
{
    const int size = tacit_world_size(test_world());
    switch (d) {
    case TO_THE_LAST: return rank == size ? n : 0;
    case TO_THE_FIRST: return rank == 0 ? 0 : n;
    case RAGGED: return n * rank * rank / size / size;
    case EVENLY:
    case DEALS: break;
    }
    return n * rank / size;
}

static inline tacit_matrix *dealt(const formula *f, deal d)
{
    const int rank = tacit_world_rank(test_world());
    const int64_t first = first_of(d, f->n, rank);
    const int64_t rows = first_of(d, f->n, rank + 1) - first;
    const size_t room = (size_t)(rows * f->n + f->n + 1);
    int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);
    int64_t *cols = malloc(room * sizeof *cols);
    double *vals = malloc(room * sizeof *vals);
    assert_true(ptr && cols && vals);
    for (int64_t i = 0; i < rows; i++)
        ptr[i + 1] =
            ptr[i] + row_of(f, first + i, cols + ptr[i], vals + ptr[i]);
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), f->n, first, rows, ptr, cols, vals,
                              &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

/* The number that local row `i` of `m` had at first. */
static inline int64_t original(const tacit_matrix *m, int64_t i)
{
    const int64_t *rows = tacit_matrix_original_rows(m);
    return rows ? rows[i] : tacit_matrix_first_row(m) + i;
}

/* --- files ---------------------------------------------------------------- */

/* A path that all ranks know; four answers are valid at a time. */
static inline const char *shared_path(const char *name)
{
    static _Thread_local char paths[4][256];
    static _Thread_local int next;
    const char *folder = getenv("TMPDIR");
    double id = tacit_world_rank(test_world()) == 0 ? (double)getpid() : 0.0;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &id));
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/tacit-%.0f-%s",
             folder ? folder : "/tmp", id, name);
    return path;
}

/* All ranks are done with the file. */
static inline void discard(const char *path)
{
    OK(tacit_world_agree(test_world(), TACIT_OK));
    if (tacit_world_rank(test_world()) == 0) unlink(path);
}

#endif

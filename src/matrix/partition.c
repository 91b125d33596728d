/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/partition.c - the ways to cut rows into parts, by name. */
#include "device/parallel.h"
#include "graph/ptscotch.h"
#include "matrix/matrix.h"
#include <inttypes.h>
#include <string.h>

typedef enum { METIS, CONTIGUOUS, BOXES, PTSCOTCH, FROM_FILE, WAYS } way;
static const tacit_partitioner ways[WAYS] = {
    {"metis", "graph partition that cuts few entries", false, NULL},
    {"contiguous", "the rows in their order, about as many to each", false,
     NULL},
    {"boxes", "boxes of the grid that a gallery matrix stands on", false, NULL},
    {"ptscotch", "graph partition by PT-Scotch, which no rank gathers", false,
     TCT_PTSCOTCH_MISSING},
    {"file", "the part of each row, a number a line", true, NULL}};

const tacit_partitioner *tacit_partitioner_at(int i)
{
    return i >= 0 && i < WAYS ? &ways[i] : NULL;
}

static tacit_status find_way(const char *how, way *out)
{
    const char *names[WAYS];
    for (int i = 0; i < WAYS; i++) {
        names[i] = ways[i].name;
        *out = (way)i;
        if (strcmp(how, names[i]) != 0) continue;
        if (!ways[i].reason) return TACIT_OK;
        FAIL(TACIT_UNSUPPORTED, "partitioner '%s' is not available: %s", how,
             ways[i].reason);
    }
    const char *near = tct_nearest(how, names, WAYS);
    FAIL(TACIT_INVALID, "unknown partitioner '%s': did you mean '%s'?", how,
         near ? near : "metis");
}

/* The default distribution of rows for as many ranks, if not redistributed. */
static void cut_contiguous(const tacit_matrix *m, int parts, int32_t *part)
{
    static const int64_t none[3] = {0};
    const tct_slabs slabs =
        tct_slabs_of(m->original ? none : m->grid, m->A.global_rows, parts);
    int p = 0;
    for (int64_t i = 0; i < m->A.rows; i++) {
        while (tct_slab_first(&slabs, p + 1) <= m->A.first + i) p++;
        part[i] = p;
    }
}

/* `rows` [parts] is scratch. */
static tacit_status check_parts(const tacit_matrix *m, way w, int parts,
                                const int32_t *part, int64_t *rows)
{
    for (int p = 0; p < parts; p++) rows[p] = 0;
    for (int64_t i = 0; i < m->A.rows; i++) rows[part[i]]++;
    TRY(tct_reduce_i64(m->world, TCT_SUM, (size_t)parts, rows));
    for (int p = 0; p < parts; p++)
        if (rows[p] == 0)
            FAIL(TACIT_UNSUPPORTED,
                 "partitioner '%s' leaves part %d of %d empty: use fewer parts "
                 "or the partitioner 'metis'",
                 ways[w].name, p, parts);
    return TACIT_OK;
}

/* Partitioners that may leave parts of a small matrix empty. */
static tacit_status cut_and_check(const tacit_matrix *m, way w, int parts,
                                  int32_t *part)
{
    int64_t *rows = NULL;
    if (w == BOXES) tct_boxes_cut(m, parts, part);
    else TRY(tct_ptscotch_rows(m, parts, part));
    tacit_status status =
        tct_agree(m->world, TCT_ALLOC(parts, "the parts", &rows));
    if (status >= 0) status = check_parts(m, w, parts, part, rows);
    tct_free(rows);
    return status;
}

static tacit_status cut(const tacit_matrix *m, way w, int parts, int32_t *part)
{
    if (w == METIS) return tct_metis_cut(m, parts, &tct_cut_bounds_usual, part);
    if (w != CONTIGUOUS && parts > 1) return cut_and_check(m, w, parts, part);
    cut_contiguous(m, parts, part);
    return TACIT_OK;
}

static tacit_status require_square(const tacit_matrix *m)
{
    if (m->A.global_rows == m->A.global_cols) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "cannot partition a matrix that is not square: %" PRId64
         " rows and %" PRId64 " columns",
         m->A.global_rows, m->A.global_cols);
}

static tacit_status check_cut(const tacit_matrix *m, const char *how, int parts,
                              const int32_t *part, way *out)
{
    TRY(find_way(how, out));
    if (*out == FROM_FILE)
        FAIL(TACIT_INVALID,
             "a cut is made by 'metis', 'contiguous', 'boxes' or 'ptscotch'");
    TRY(tct_matrix_require_entries(m));
    TRY(require_square(m));
    if (*out == BOXES) TRY(tct_boxes_check(m));
    const int64_t rows = m->A.global_rows;
    if (parts < 1 || parts > rows || parts > INT64_MAX / rows)
        FAIL(TACIT_INVALID,
             "cannot cut %" PRId64
             " rows into %d parts: expected 1 to %" PRId64,
             rows, parts, rows);
    if (part || m->A.rows == 0) return TACIT_OK;
    FAIL(TACIT_INVALID, "tacit_matrix_cut: `part` is NULL: expected room for "
                        "the rows of this rank");
}

tacit_status tacit_matrix_cut(const tacit_matrix *matrix, const char *how,
                              int parts, int32_t *part,
                              tacit_partition_info *out)
{
    REQUIRE(matrix != NULL, how != NULL, out != NULL);
    TRY(tct_check_sized("tacit_partition_info", out));
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    tacit_partition_info info;
    way w;
    TRY(tct_agree_name(matrix->world, "the partitioner", how));
    TRY(tct_agree(matrix->world, check_cut(matrix, how, parts, part, &w)));
    TRY(cut(matrix, w, parts, part));
    TRY(tct_cut_describe(matrix, parts, part, &info));
    tct_write_sized(&info, sizeof info, out);
    return TACIT_OK;
}

static tacit_status check_partition(const tacit_matrix *m, const char *how,
                                    const char *file, way *out)
{
    TRY(find_way(how, out));
    if (*out == FROM_FILE && !file)
        FAIL(TACIT_INVALID,
             "partition 'file' needs the name of the file, and it is NULL");
    TRY(tct_matrix_require_entries(m));
    if (*out == BOXES) TRY(tct_boxes_check(m));
    return *out == CONTIGUOUS ? TACIT_OK : require_square(m);
}

tacit_status tacit_matrix_partition(tacit_matrix *matrix, const char *how,
                                    const char *file)
{
    REQUIRE(matrix != NULL, how != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    tacit_world *world = matrix->world;
    way w;
    TRY(tct_agree_name(world, "the partitioner", how));
    TRY(tct_agree(world, check_partition(matrix, how, file, &w)));
    if (w == CONTIGUOUS) return TACIT_OK;
    int32_t *part = NULL;
    tacit_status status = TCT_ALLOC(matrix->A.rows, "the parts", &part);
    status = tct_agree(world, status);
    if (status >= 0)
        status = w == FROM_FILE ? tct_read_parts(matrix, file, part)
                                : cut(matrix, w, world->size, part);
    if (status >= 0) status = tct_redistribute(matrix, part);
    tct_free(part);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/assemble.c - a matrix of entries in any order, or of one triangle: the
 * entries go to the owners of their rows, where the readers' assembly sorts and
 * adds them. */
#include "device/parallel.h"
#include "io/assembly.h"
#include "matrix/entries.h"
#include "matrix/rows.h"
#include <inttypes.h>

typedef struct {
    tacit_world *world;
    tct_range mine;
    const tct_given *g;
    int64_t *starts; /* [size + 1] */
    tct_crew *crew;
    tct_assembly *a;
    int64_t sent, summed;
} assembling;

static tacit_status add_entries(void *ctx, const tct_batch *batch)
{
    return tct_assembly_add(ctx, batch);
}

static tacit_status prepare(assembling *s)
{
    const int64_t n = s->mine.global_rows;
    TRY(tct_given_check(s->g, n));
    TRY(TCT_ALLOC(s->world->size + 1, "the row starts", &s->starts));
    TRY(tct_crew_create(&s->crew));
    return tct_assembly_create(n, n, s->mine.first, s->mine.rows, s->g->count,
                               s->crew, &s->a);
}

static tacit_status assemble(assembling *s, tct_csr *A)
{
    TRY(tct_agree(s->world, prepare(s)));
    TRY(tct_allgather(s->world, sizeof s->mine.first, &s->mine.first,
                      s->starts));
    s->starts[s->world->size] = s->mine.global_rows;
    TRY(tct_given_send(s->world, s->starts, s->g, s->crew, add_entries, s->a,
                       &s->sent));
    tacit_status status = tct_assembly_finish(s->a, A, &s->summed);
    if (status >= 0) status = tct_rows_finite(A);
    return tct_agree(s->world, status);
}

static tacit_status tell_cost(assembling *s, tacit_matrix *m)
{
    int64_t sums[] = {s->sent, s->summed, s->g->count};
    TRY(tct_reduce_i64(s->world, TCT_SUM, 3, sums));
    m->sent = sums[0];
    m->summed = sums[1];
    if (s->world->rank == 0)
        tct_log(TCT_DETAIL,
                "%" PRId64 " entries given: %" PRId64
                " sent to other ranks, %" PRId64 " added to others",
                sums[2], sums[0], sums[1]);
    return TACIT_OK;
}

static tacit_status make(tacit_world *world, tct_range mine, const tct_given *g,
                         tacit_matrix **out)
{
    assembling s = {.world = world, .mine = mine, .g = g};
    tct_csr A = {0};
    tacit_matrix *m = NULL;
    tacit_status status = assemble(&s, &A);
    TCT_FREE(s.starts);
    tct_assembly_destroy(&s.a);
    tct_crew_destroy(&s.crew);
    TRY(tct_matrix_adopt(world, status, &A, &m));
    m->format = "entries";
    m->symmetric_storage = g->triangle != TACIT_TRIANGLE_BOTH;
    status = tell_cost(&s, m);
    if (status < 0) tacit_matrix_destroy(&m);
    else *out = m;
    return status;
}

tacit_status tacit_matrix_from_entries(tacit_world *world, int64_t global_rows,
                                       int64_t first_row, int64_t rows,
                                       const tacit_entries *entries,
                                       tacit_matrix **out)
{
    REQUIRE(world != NULL, entries != NULL, out != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(world));
    const tct_range mine = {global_rows, first_row, rows};
    tct_given g = {0};
    TRY(tct_agree(world, tct_given_read(entries, &g)));
    TRY(tct_ranges_check(world, mine));
    return make(world, mine, &g, out);
}

/* --- one triangle --------------------------------------------------------- */

static tacit_status check_triangle(tct_range mine, const tct_rows_given *rows,
                                   tacit_triangle triangle)
{
    if (triangle != TACIT_TRIANGLE_UPPER && triangle != TACIT_TRIANGLE_LOWER)
        FAIL(TACIT_INVALID,
             "tacit_matrix_from_triangle: triangle is %d: expected "
             "TACIT_TRIANGLE_UPPER or TACIT_TRIANGLE_LOWER",
             (int)triangle);
    return tct_rows_check(mine, rows);
}

static tacit_status from_triangle(tacit_world *world, tct_range mine,
                                  const tct_rows_given *rows,
                                  tacit_triangle triangle, tacit_matrix **out)
{
    TCT_THREADS_AT_MOST(tct_world_threads(world));
    TRY(tct_ranges_check(world, mine));
    TRY(tct_agree(world, check_triangle(mine, rows, triangle)));
    const tct_given g = {.count =
                             mine.rows > 0 ? tct_row_start(rows, mine.rows) : 0,
                         .ptr64 = rows->ptr64,
                         .ptr32 = rows->ptr32,
                         .first = mine.first,
                         .cols64 = rows->cols64,
                         .cols32 = rows->cols32,
                         .vals = rows->vals,
                         .triangle = triangle};
    return make(world, mine, &g, out);
}

tacit_status tacit_matrix_from_triangle(tacit_world *world, int64_t global_rows,
                                        int64_t first_row, int64_t rows,
                                        const int64_t *ptr, const int64_t *cols,
                                        const double *vals,
                                        tacit_triangle triangle,
                                        tacit_matrix **out)
{
    REQUIRE(world != NULL, out != NULL);
    const tct_rows_given g = {.ptr64 = ptr, .cols64 = cols, .vals = vals};
    return from_triangle(world, (tct_range){global_rows, first_row, rows}, &g,
                         triangle, out);
}

tacit_status tacit_matrix_from_triangle32(
    tacit_world *world, int64_t global_rows, int64_t first_row, int64_t rows,
    const int32_t *ptr, const int32_t *cols, const double *vals,
    tacit_triangle triangle, tacit_matrix **out)
{
    REQUIRE(world != NULL, out != NULL);
    const tct_rows_given g = {.ptr32 = ptr, .cols32 = cols, .vals = vals};
    return from_triangle(world, (tct_range){global_rows, first_row, rows}, &g,
                         triangle, out);
}

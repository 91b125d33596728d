/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/superlu_dist.c - import of SuperLU_DIST's factors, P diag(R) A
 * diag(C) P' = L U. L is stored by supernodes, including the diagonal block of
 * U; the rest of U by block rows, each column from its first nonzero to the end
 * of the block. R and C are applied to the values, so that L U = P A P'. Only
 * the structs are used. */
#include "factor/import/adapters.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <superlu_ddefs.h>

static const char *const what = "a factor of SuperLU_DIST";

/* A row of L or column of U in a supernode: number, values; U from row `from`
 * on. */
typedef struct {
    int32_t number;
    int64_t from, at;
} place;

typedef struct {
    const int_t *xsup;
    const dLocalLU_t *Llu;
    const dScalePermstruct_t *P;
    tct_fronts F;
    int32_t *original;     /* [rows] */
    place *rows, *columns; /* [rows] of the current supernode, ascending */
    int32_t *number;       /* [rows] and values to store */
    double *value;
} source;

/* --- supported input ------------------------------------------------------ */

/* The loaded library must have the structs of this build. */
static tacit_status check_version(void)
{
    int (*version)(int *, int *, int *) = NULL;
    int major = 0, minor = 0, patch = 0;
    void *found = dlsym(RTLD_DEFAULT, "superlu_dist_GetVersionNumber");
    memcpy(&version, &found, sizeof found);
    if (!version || version(&major, &minor, &patch) != 0) return TACIT_OK;
    if (major != SUPERLU_DIST_MAJOR_VERSION ||
        minor != SUPERLU_DIST_MINOR_VERSION)
        FAIL(TACIT_UNSUPPORTED,
             "SuperLU_DIST %d.%d is loaded, and Tacit was built for %d.%d: "
             "build it with the headers of that one",
             major, minor, SUPERLU_DIST_MAJOR_VERSION,
             SUPERLU_DIST_MINOR_VERSION);
    return TACIT_OK;
}

static tacit_status check(int64_t rows, const gridinfo_t *grid,
                          const dScalePermstruct_t *P)
{
    TRY(check_version());
    if (rows < 0 || rows > INT32_MAX)
        FAIL(TACIT_INVALID,
             "a factor of SuperLU_DIST: expected 0 to 2^31 - 1 rows, got "
             "%" PRId64,
             rows);
    if (grid->nprow != 1 || grid->npcol != 1)
        FAIL(TACIT_UNSUPPORTED,
             "a factor of SuperLU_DIST must be on a grid of one process, this "
             "one is on %lld x %lld",
             (long long)grid->nprow, (long long)grid->npcol);
    for (int64_t i = 0; i < rows; i++)
        if (P->perm_r[i] != i)
            FAIL(TACIT_UNSUPPORTED,
                 "a factor of SuperLU_DIST whose rows were permuted, row "
                 "%" PRId64 " to %lld, while columns stayed: factor with "
                 "options.RowPerm = NOROWPERM",
                 i, (long long)P->perm_r[i]);
    return TACIT_OK;
}

/* --- a supernode ---------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* List the rows of L below supernode `k`. */
static int64_t find_rows(source *s, int32_t k)
{
    const int_t *index = s->Llu->Lrowind_bc_ptr[k];
    int64_t count = 0, at = 0;
    if (!index) return 0;
    const int_t *p = index + BC_HEADER;
    for (int_t b = 0; b < index[0]; b++) {
        const int_t block = p[0], rows = p[1];
        for (int_t i = 0; i < rows; i++, at++)
            if (block != k)
                s->rows[count++] =
                    (place){(int32_t)p[LB_DESCRIPTOR + i], 0, at};
        p += LB_DESCRIPTOR + rows;
    }
    qsort(s->rows, (size_t)count, sizeof *s->rows, by_number);
    return count;
}

/* List the nonzero columns of U right of supernode `k`. */
static int64_t find_columns(source *s, int32_t k)
{
    const int_t *index = s->Llu->Ufstnz_br_ptr[k], end = s->xsup[k + 1];
    int64_t count = 0, at = 0;
    if (!index) return 0;
    const int_t *p = index + BR_HEADER;
    for (int_t b = 0; b < index[0]; b++) {
        const int_t first = s->xsup[p[0]], w = s->xsup[p[0] + 1] - first;
        for (int_t j = 0; j < w; j++) {
            const int_t from = p[UB_DESCRIPTOR + j];
            if (from >= end) continue;
            s->columns[count++] = (place){(int32_t)(first + j), from, at};
            at += end - from;
        }
        p += UB_DESCRIPTOR + w;
    }
    qsort(s->columns, (size_t)count, sizeof *s->columns, by_number);
    return count;
}

/* The union of both into `to`, unless NULL; returns its size. */
static int64_t unite(const source *s, int64_t rows, int64_t columns,
                     int32_t *to)
{
    int64_t a = 0, b = 0, count = 0;
    for (; a < rows || b < columns; count++) {
        const int32_t i = a < rows ? s->rows[a].number : INT32_MAX;
        const int32_t j = b < columns ? s->columns[b].number : INT32_MAX;
        if (to) to[count] = i < j ? i : j;
        a += i <= j;
        b += j <= i;
    }
    return count;
}

static tacit_status take_fronts(source *s)
{
    tct_fronts *F = &s->F;
    TRY(TCT_ALLOC(F->count + 1, what, &F->first));
    TRY(TCT_ALLOC(F->count + 1, what, &F->start));
    F->first[0] = F->start[0] = 0;
    for (int32_t k = 0; k < F->count; k++) {
        const int64_t w = s->xsup[k + 1] - s->xsup[k], rows = find_rows(s, k);
        F->first[k + 1] = s->xsup[k + 1];
        F->start[k + 1] =
            F->start[k] + unite(s, rows, find_columns(s, k), NULL);
        F->nonzeros += w * (w + 1) / 2 + w * rows;
    }
    TRY(TCT_ALLOC(F->start[F->count], what, &F->below));
    for (int32_t k = 0; k < F->count; k++) {
        const int64_t rows = find_rows(s, k);
        unite(s, rows, find_columns(s, k), F->below + F->start[k]);
    }
    return TACIT_OK;
}

/* --- values --------------------------------------------------------------- */

static double row_scale(const source *s, int64_t k)
{
    const DiagScale_t with = s->P->DiagScale;
    return with == ROW || with == BOTH ? s->P->R[s->original[k]] : 1.0;
}

static double column_scale(const source *s, int64_t k)
{
    const DiagScale_t with = s->P->DiagScale;
    return with == COL || with == BOTH ? s->P->C[s->original[k]] : 1.0;
}

/* Column `j` of L, unit diagonal: diag(R)^-1 L diag(R). */
static void put_lower(const source *s, int32_t k, int64_t j, int64_t rows,
                      const tacit_factor *L)
{
    const int64_t first = s->xsup[k], end = s->xsup[k + 1];
    const double *value =
        s->Llu->Lnzval_bc_ptr[k] + (j - first) * s->Llu->Lrowind_bc_ptr[k][1];
    const double r = row_scale(s, j);
    int64_t count = 0;
    for (int64_t i = j; i < end; i++, count++) {
        s->number[count] = (int32_t)i;
        s->value[count] = i == j ? 1.0 : value[i - first] * r / row_scale(s, i);
    }
    for (int64_t a = 0; a < rows; a++, count++) {
        const int32_t i = s->rows[a].number;
        s->number[count] = i;
        s->value[count] = value[s->rows[a].at] * r / row_scale(s, i);
    }
    tct_import_put(L, L->value, k, j, count, s->number, s->value);
}

/* Row `i` of U: diag(R)^-1 U diag(C)^-1. */
static void put_upper(const source *s, int32_t k, int64_t i, int64_t columns,
                      const tacit_factor *L)
{
    const int64_t first = s->xsup[k], end = s->xsup[k + 1];
    const int64_t h = s->Llu->Lrowind_bc_ptr[k][1];
    const double *block = s->Llu->Lnzval_bc_ptr[k] + (i - first);
    const double *right = s->Llu->Unzval_br_ptr[k], r = row_scale(s, i);
    int64_t count = 0;
    for (int64_t j = i; j < end; j++, count++) {
        s->number[count] = (int32_t)j;
        s->value[count] = block[(j - first) * h] / (r * column_scale(s, j));
    }
    for (int64_t b = 0; b < columns; b++) {
        const place *c = &s->columns[b];
        if (c->from > i) continue;
        s->number[count] = c->number;
        s->value[count++] =
            right[c->at + (i - c->from)] / (r * column_scale(s, c->number));
    }
    tct_import_put(L, L->upper, k, i, count, s->number, s->value);
}

static void put(source *s, const tacit_factor *L)
{
    for (int32_t k = 0; k < s->F.count; k++) {
        const int64_t rows = find_rows(s, k), columns = find_columns(s, k);
        for (int64_t j = s->xsup[k]; j < s->xsup[k + 1]; j++) {
            put_lower(s, k, j, rows, L);
            put_upper(s, k, j, columns, L);
        }
    }
}

/* --- creation ------------------------------------------------------------- */

static tacit_status build(source *s, const tacit_factor_options *options,
                          tacit_factor **out)
{
    const int64_t n = s->F.rows;
    TRY(TCT_ALLOC(n, what, &s->original));
    TRY(TCT_ALLOC(n, what, &s->rows));
    TRY(TCT_ALLOC(n, what, &s->columns));
    TRY(TCT_ALLOC(n, what, &s->number));
    TRY(TCT_ALLOC(n, what, &s->value));
    for (int64_t j = 0; j < n; j++) s->original[s->P->perm_c[j]] = (int32_t)j;
    TRY(take_fronts(s));
    TRY(tct_import_begin(&s->F, TACIT_FACTOR_LU, s->original, options, out));
    put(s, *out);
    return tct_import_end(out);
}

tacit_status tacit_factor_import_superlu_dist(
    int64_t rows, const void *LU, const void *scale_perm, const void *grid,
    const tacit_factor_options *options, tacit_factor **out)
{
    REQUIRE(LU != NULL, scale_perm != NULL, grid != NULL, out != NULL);
    const dLUstruct_t *from = LU;
    source s = {.xsup = from->Glu_persist->xsup,
                .Llu = from->Llu,
                .P = scale_perm,
                .F = {.rows = rows}};
    tacit_factor *L = NULL;
    TRY(check(rows, grid, scale_perm));
    s.F.count = rows ? (int32_t)from->Glu_persist->supno[rows - 1] + 1 : 0;
    const tacit_status status = build(&s, options, &L);
    tct_fronts_clear(&s.F);
    TCT_FREE(s.original, s.rows, s.columns, s.number, s.value);
    if (status >= 0) *out = L;
    return status;
}

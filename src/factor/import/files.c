/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/files.c - factors in files: triangles are matrices of any
 * format, D and permutations are vectors. */
#include "factor/import/import.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <tacit/file.h>

static const char *const what = "a factor from a file";

/* --- reading -------------------------------------------------------------- */

/* A triangle stored by columns. */
typedef struct {
    int64_t rows, *ptr;
    int32_t *row;
    double *value;
} list;

typedef struct {
    tacit_factor_files files;
    list L, U;
    double *diagonal, *numbers;
    int32_t *original;
} reading;

static tacit_status transpose(const tacit_rows *from, list *to)
{
    const int64_t n = from->count, entries = from->ptr[n];
    to->rows = n;
    TRY(TCT_ALLOC(n + 2, what, &to->ptr));
    TRY(TCT_ALLOC(entries, what, &to->row));
    TRY(TCT_ALLOC(entries, what, &to->value));
    memset(to->ptr, 0, ((size_t)n + 2) * sizeof *to->ptr);
    for (int64_t k = 0; k < entries; k++) to->ptr[from->cols32[k] + 2]++;
    for (int64_t j = 0; j < n; j++) to->ptr[j + 2] += to->ptr[j + 1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = from->ptr[i]; k < from->ptr[i + 1]; k++) {
            const int64_t at = to->ptr[from->cols32[k] + 1]++;
            to->row[at] = (int32_t)i;
            to->value[at] = from->vals[k];
        }
    return TACIT_OK;
}

static tacit_status take_triangle(const tacit_matrix *m, const char *path,
                                  list *to)
{
    tacit_matrix_info info = {.size = sizeof info};
    tacit_rows rows;
    TRY(tacit_matrix_describe(m, &info));
    if (info.rows != info.cols)
        FAIL(TACIT_INPUT,
             "%s: a triangle is square, and this is %" PRId64 " x %" PRId64,
             path, info.rows, info.cols);
    TRY(tacit_matrix_view_rows(m, &rows));
    if (info.rows > INT32_MAX || !rows.cols32)
        FAIL(TACIT_UNSUPPORTED,
             "%s: a factor counts rows in 32 bits, and %" PRId64
             " are too many",
             path, info.rows);
    return transpose(&rows, to);
}

static tacit_status read_upper(tacit_world *world, reading *r)
{
    tacit_matrix *m = NULL;
    TRY(tacit_matrix_open(world, r->files.upper, NULL, &m));
    tacit_status status = take_triangle(m, r->files.upper, &r->U);
    tacit_matrix_destroy(&m);
    if (status >= 0 && r->U.rows != r->L.rows)
        status = tacit_error_set(
            TACIT_INPUT, "%s: has %" PRId64 " rows, and %s %" PRId64,
            r->files.upper, r->U.rows, r->files.lower, r->L.rows);
    return status;
}

static tacit_status refuse_number(const reading *r, int64_t k, int32_t base)
{
    const double x = r->numbers[k];
    FAIL(TACIT_INPUT,
         "%s: number %" PRId64 " is %.*g%s: row numbers from %d to %" PRId64
         " are wanted, each once",
         r->files.permutation, k + 1, x == floor(x) ? 6 : 17, x,
         isfinite(x) && x != floor(x) ? ", which is not whole" : "", (int)base,
         r->L.rows - 1 + base);
}

/* Read the permutation, from 0 or 1, and check that each number occurs once. */
static tacit_status take_numbers(reading *r)
{
    const int64_t n = r->L.rows;
    int32_t base = 1;
    char *seen = NULL;
    TRY(TCT_ALLOC(n, what, &r->original));
    for (int64_t k = 0; k < n; k++)
        if (r->numbers[k] == 0.0) base = 0;
    tacit_status status = TCT_ALLOC(n, what, &seen);
    for (int64_t k = 0; k < n && status >= 0; k++) seen[k] = 0;
    for (int64_t k = 0; k < n && status >= 0; k++) {
        const double x = r->numbers[k] - base;
        if (!(x >= 0.0 && x < (double)n) || x != floor(x) || seen[(int64_t)x]++)
            status = refuse_number(r, k, base);
        else r->original[k] = (int32_t)x;
    }
    tct_free(seen);
    return status;
}

/* Read the vector files that belong to `m`, which is L. */
static tacit_status read_vectors(const tacit_matrix *m, reading *r)
{
    if (r->files.diagonal) {
        TRY(TCT_ALLOC(r->L.rows, what, &r->diagonal));
        TRY(tacit_matrix_read_vector(m, r->files.diagonal, r->diagonal));
    }
    if (!r->files.permutation) return TACIT_OK;
    TRY(TCT_ALLOC(r->L.rows, what, &r->numbers));
    TRY(tacit_matrix_read_vector(m, r->files.permutation, r->numbers));
    return take_numbers(r);
}

static tacit_status read_all(tacit_world *world, reading *r)
{
    tacit_matrix *m = NULL;
    TRY(tacit_matrix_open(world, r->files.lower, NULL, &m));
    tacit_status status = take_triangle(m, r->files.lower, &r->L);
    if (status >= 0) status = read_vectors(m, r);
    tacit_matrix_destroy(&m);
    if (status >= 0 && r->files.upper) status = read_upper(world, r);
    return status;
}

static tacit_status import(tacit_world *world, reading *r,
                           const tacit_factor_options *options,
                           tacit_factor **out)
{
    const tct_import_names names = {r->files.lower, r->files.upper,
                                    r->files.diagonal, 1};
    TRY(read_all(world, r));
    const tacit_factor_columns C = {.size = sizeof C,
                                    .kind = r->files.upper ? TACIT_FACTOR_LU
                                            : r->files.diagonal
                                                ? TACIT_FACTOR_LDLT
                                                : TACIT_FACTOR_LLT,
                                    .rows = r->L.rows,
                                    .ptr = r->L.ptr,
                                    .row = r->L.row,
                                    .value = r->L.value,
                                    .upper_ptr = r->U.ptr,
                                    .upper_row = r->U.row,
                                    .upper_value = r->U.value,
                                    .diagonal = r->diagonal,
                                    .original = r->original};
    return tct_import(&C, &names, options, out);
}

static tacit_status check_files(tacit_world *world,
                                const tacit_factor_files *files,
                                tacit_factor_files *out)
{
    TRY(tct_read_sized("tacit_factor_files", files, out, sizeof *out));
    if (!out->lower)
        FAIL(TACIT_INVALID, "tacit_factor_files: `lower` is NULL: expected the "
                            "name of a file");
    if (tacit_world_size(world) > 1)
        FAIL(TACIT_UNSUPPORTED,
             "a factor is of one process, and here are %d: run it with one",
             tacit_world_size(world));
    return TACIT_OK;
}

tacit_status tacit_factor_read(tacit_world *world,
                               const tacit_factor_files *files,
                               const tacit_factor_options *options,
                               tacit_factor **out)
{
    REQUIRE(world != NULL, files != NULL, out != NULL);
    reading r = {.L = {.rows = 0}};
    TRY(check_files(world, files, &r.files));
    if (r.files.upper && r.files.diagonal)
        FAIL(TACIT_INVALID, "a factor in files has U or D, not both");
    const tacit_status status = import(world, &r, options, out);
    TCT_FREE(r.L.ptr, r.L.row, r.L.value, r.U.ptr, r.U.row, r.U.value,
             r.diagonal, r.numbers, r.original);
    return status;
}

/* --- writing -------------------------------------------------------------- */

/* Write one number a line: doubles, or rows from 1. */
static tacit_status write_numbers(tacit_world *world, const char *path,
                                  int64_t n, const double *value,
                                  const int32_t *row)
{
    enum { LONGEST = 26 };
    char *text = NULL;
    size_t at = 0;
    TRY(TCT_ALLOC((size_t)n * LONGEST + 1, "a file of numbers", &text));
    text[0] = '\0';
    for (int64_t k = 0; k < n; k++)
        at += (size_t)(value ? snprintf(text + at, LONGEST, "%.17g\n", value[k])
                             : snprintf(text + at, LONGEST, "%" PRId32 "\n",
                                        row[k] + 1));
    const tacit_status status = tacit_file_write(world, path, text);
    tct_free(text);
    return status;
}

/* The nonzeros of a triangle, as rows of a matrix. */
typedef struct {
    int64_t *ptr, *col;
    double *value;
} csr;

/* First call, `to` NULL: count rows into ptr[i + 2]; second: store entries.
 * Column j of `value` is column j of L or row j of U. */
static void walk(const tacit_factor_panels *P, const double *value, bool upper,
                 csr *to, bool count)
{
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        const int32_t *row = P->row + P->row_start[K];
        for (int64_t j = 0; j < P->first[K + 1] - P->first[K]; j++)
            for (int64_t i = j; i < h; i++) {
                const double x = value[P->value_start[K] + j * h + i];
                const int64_t r = row[upper ? j : i], c = row[upper ? i : j];
                if (x == 0.0 && i != j) continue;
                if (count) {
                    to->ptr[r + 2]++;
                    continue;
                }
                to->col[to->ptr[r + 1]] = c;
                to->value[to->ptr[r + 1]++] = x;
            }
    }
}

static tacit_status list_entries(const tacit_factor_panels *P,
                                 const double *value, bool upper, csr *to)
{
    const int64_t n = P->rows;
    TRY(TCT_ALLOC(n + 2, "a triangle", &to->ptr));
    memset(to->ptr, 0, ((size_t)n + 2) * sizeof *to->ptr);
    walk(P, value, upper, to, true);
    for (int64_t i = 0; i < n; i++) to->ptr[i + 2] += to->ptr[i + 1];
    TRY(TCT_ALLOC(to->ptr[n + 1], "a triangle", &to->col));
    TRY(TCT_ALLOC(to->ptr[n + 1], "a triangle", &to->value));
    walk(P, value, upper, to, false);
    return TACIT_OK;
}

static tacit_status write_triangle(tacit_world *world, const char *path,
                                   const tacit_factor_panels *P,
                                   const double *value, bool upper)
{
    csr T = {.ptr = NULL};
    tacit_matrix *m = NULL;
    tacit_status status = list_entries(P, value, upper, &T);
    if (status >= 0)
        status = tacit_matrix_from_rows(world, P->rows, 0, P->rows, T.ptr,
                                        T.col, T.value, &m);
    TCT_FREE(T.ptr, T.col, T.value);
    if (status >= 0) status = tacit_matrix_write(m, path);
    tacit_matrix_destroy(&m);
    return status;
}

static tacit_status check_names(const tacit_factor_panels *P,
                                const tacit_factor_files *f)
{
    if (P->row_order || P->off_diagonal)
        FAIL(TACIT_UNSUPPORTED,
             "a factor in files has no scales and no %s, and this matrix "
             "needed both for its pivots: solve with the factor where it is "
             "made",
             P->row_order ? "rows of other columns" : "pivots of 2 x 2");
    if ((P->upper != NULL) != (f->upper != NULL) ||
        (P->diagonal != NULL) != (f->diagonal != NULL))
        FAIL(TACIT_INVALID,
             "a factor in files: a name for U is for kinds LU and ILU0, one "
             "for D for LDLT");
    for (int64_t k = 0; P->original && !f->permutation && k < P->rows; k++)
        if (P->original[k] != k)
            FAIL(TACIT_INVALID, "a factor in files: its rows are in an order "
                                "of their own, which needs a file, too");
    return TACIT_OK;
}

static tacit_status write_files(tacit_world *world,
                                const tacit_factor_panels *P,
                                const tacit_factor_files *f)
{
    if (f->permutation)
        TRY(write_numbers(world, f->permutation, P->rows, NULL, P->original));
    if (f->diagonal)
        TRY(write_numbers(world, f->diagonal, P->rows, P->diagonal, NULL));
    if (f->upper) TRY(write_triangle(world, f->upper, P, P->upper, true));
    return write_triangle(world, f->lower, P, P->value, false);
}

tacit_status tacit_factor_write(const tacit_factor *factor, tacit_world *world,
                                const tacit_factor_files *files)
{
    REQUIRE(factor != NULL, world != NULL, files != NULL);
    const tacit_factor_panels *P = &factor->panels;
    tacit_factor_files f;
    TRY(check_files(world, files, &f));
    TRY(check_names(P, &f));
    tacit_file_hold(world);
    return tacit_file_release(world, write_files(world, P, &f));
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_slices.c - sliced ELL as it is built for a GPU, read back as a
 * kernel does: every entry is found once and in column order, padding is
 * harmless, products are exact to the bit. Needs no GPU. */
#include "operator/layout/slices_build.h"
#include "slice_shapes.h"
#include "solver/resident/kernel_table.h"
#include <tacit/solver.h>

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* --- the walk ------------------------------------------------------------- */

/* What a product needs to know of an entry of a slice. */
typedef struct {
    int64_t col;  /* block column */
    int64_t cell; /* -1: none */
    double value; /* of SLICE_CONST */
} entry;

/* Does lane `l` of slice `s` have an entry in its column `k`? */
static bool entry_at(const tct_gpu_arrays *a, int64_t s, int l, int k,
                     entry *out)
{
    const tct_gpu_slice *slice = &a->slice[s];
    const void *index = a->index + slice->index;
    const int32_t *far = index;
    const uint16_t *near = index;
    const tct_column_run *run = index;
    const tct_gpu_const *same = index;
    out->cell = slice->cell + k;
    switch ((tct_slice_kind)slice->kind) {
    case SLICE_RUN: out->col = (int64_t)run[k].base + l; break;
    case SLICE_CONST:
        *out = (entry){(int64_t)same[k].base + l, -1, same[k].value};
        return same[k].mask >> l & 1;
    case SLICE_NEAR:
        out->col = slice->base + near[2 * (k / 2 * GPU_LANES + l) + k % 2];
        break;
    case SLICE_FAR: out->col = far[GPU_LANES * k + l]; break;
    }
    if (slice->kind == SLICE_RUN) return run[k].mask >> l & 1;
    return k < slice->full || k < a->length[GPU_LANES * s + l];
}

static double decode(const tct_gpu_arrays *a, int64_t at)
{
    const uint8_t *v8 = a->value;
    const uint16_t *v16 = a->value;
    const uint32_t *v32 = a->value;
    uint64_t bits;
    double v = NAN;
    switch ((tct_gpu_store)a->store) {
    case GPU_F64: return ((const double *)a->value)[at];
    case GPU_F32: return (double)((const float *)a->value)[at];
    case GPU_DICT8: assert_true(v8[at] < a->dict_count); return a->dict[v8[at]];
    case GPU_DICT16:
        assert_true(v16[at] < a->dict_count);
        return a->dict[v16[at]];
    case GPU_F48:
        bits = (uint64_t)v32[at] << 32 | (uint64_t)a->value_low[at] << 16;
        memcpy(&v, &bits, sizeof v);
        break;
    }
    return v;
}

static double value_at(const tct_gpu_arrays *a, const entry *e, int c, int i)
{
    if (e->cell < 0) return e->value;
    const int b = a->b;
    return decode(a, ((e->cell * b + c) * GPU_LANES * b) + i);
}

static int64_t group_of(const tct_gpu_arrays *a, int64_t s, int l)
{
    const int64_t at = GPU_LANES * s + l;
    return a->slice[s].sorted ? at / GPU_WINDOW * GPU_WINDOW + a->order[at]
                              : at;
}

/* The product of row `i` of slice `s`, in the order of a kernel. */
static double row_sum(const tct_gpu_arrays *a, int64_t s, int i,
                      const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < a->slice[s].width; k++) {
        entry e;
        if (!entry_at(a, s, i / a->b, k, &e)) continue;
        for (int c = 0; c < a->b; c++)
            sum = fma(value_at(a, &e, c, i), x[e.col * a->b + c], sum);
    }
    return sum;
}

/* --- checks --------------------------------------------------------------- */

static const char *about_what; /* what is being checked, for messages */

#define CHECK(cond)                                         \
    do {                                                    \
        if (!(cond)) fail_msg("%s: %s", about_what, #cond); \
    } while (0)

/* What `v` is after it was stored. */
static double stored(const char *store, double v)
{
    if (strcmp(store, "low32") == 0) return (double)(float)v;
    if (strcmp(store, "low48") != 0 || v == 0.0 || !isfinite(v)) return v;
    int exponent;
    const double m = frexp(v, &exponent);
    const double near = ldexp(rint(ldexp(m, 37)), exponent - 37);
    if (isfinite(near)) return near;
    return copysign(0x1.fffffffffp1023, v);
}

static void check_lane(const tct_gpu_arrays *a, int64_t s, int l)
{
    const tct_gpu_slice *slice = &a->slice[s];
    const bool columns = slice->kind == SLICE_NEAR || slice->kind == SLICE_FAR;
    int64_t last = -1;
    int count = 0;
    for (int k = 0; k < slice->width; k++) {
        entry e;
        if (entry_at(a, s, l, k, &e)) {
            CHECK(e.col > last && e.col < a->cols / a->b);
            last = e.col;
            count++;
            continue;
        }
        CHECK(!columns || (e.col >= 0 && e.col < a->cols / a->b));
        for (int r = 0; r < a->b && e.cell >= 0; r++)
            for (int c = 0; c < a->b; c++)
                CHECK(same_bits(value_at(a, &e, c, l * a->b + r), 0.0));
    }
    CHECK(!columns || count >= slice->full);
    CHECK(!columns || !a->length || count == a->length[GPU_LANES * s + l]);
    CHECK(group_of(a, s, l) < a->groups || count == 0);
}

static int joined_seen;

/* Slices that a warp takes at once: what it reads of the others from the header
 * of the first must be their own. */
static void check_joined(const tct_gpu_arrays *a, int64_t n)
{
    const tct_gpu_slice *first = &a->slice[n];
    const tct_gpu_const *run = (const void *)(a->index + first->index);
    assert_int_equal(a->b, 1);
    assert_int_equal(n % GPU_JOIN, 0);
    assert_true((n + GPU_JOIN) * GPU_LANES <= a->groups);
    for (int m = 0; m < GPU_JOIN; m++) {
        const tct_gpu_slice *s = first + m;
        const tct_gpu_const *own = (const void *)(a->index + s->index);
        assert_int_equal(s->kind, SLICE_CONST);
        assert_int_equal(s->width, first->width);
        assert_ptr_equal(own, run + m * first->width);
        for (int k = 0; k < first->width; k++) {
            assert_int_equal(own[k].base, run[k].base + GPU_LANES * m);
            assert_true(same_bits(own[k].value, run[k].value));
        }
    }
    joined_seen++;
}

static void check_slices(const tct_gpu_arrays *a, tct_gpu_kinds kinds)
{
    int64_t cells = 0, index = 0;
    uint8_t *seen = tct_calloc((size_t)(a->slices * GPU_LANES + GPU_WINDOW));
    for (int64_t s = 0; s < a->slices; s++) {
        const tct_gpu_slice *slice = &a->slice[s];
        const tct_slice_kind kind = (tct_slice_kind)slice->kind;
        CHECK(slice->index % 16 == 0 && slice->index == (index + 15) / 16 * 16);
        CHECK(kind == SLICE_CONST || slice->cell == cells);
        index = slice->index + tct_gpu_index_bytes(kind, slice->width);
        cells += kind == SLICE_CONST ? 0 : slice->width;
        CHECK(kinds == GPU_ANY_KIND || kind == SLICE_FAR);
        CHECK(kind != SLICE_CONST || a->b == 1);
        CHECK(!slice->sorted || (a->order && kind >= SLICE_NEAR));
        CHECK(kind < SLICE_NEAR || slice->full == slice->width || a->length);
        const int64_t window = s / GPU_WINDOW_SLICES * GPU_WINDOW_SLICES;
        CHECK(slice->sorted == a->slice[window].sorted);
        if (slice->joined) check_joined(a, s);
        for (int l = 0; l < GPU_LANES; l++) {
            CHECK(seen[group_of(a, s, l)]++ == 0);
            check_lane(a, s, l);
        }
    }
    CHECK(a->cells == cells);
    CHECK(a->index_bytes == (index + 15) / 16 * 16);
    tct_free(seen);
}

/* Rows kept apart are whole, and `apart` [rows] tells which. */
static int64_t check_long_rows(const tct_gpu_arrays *a, const tct_local *A,
                               bool *apart)
{
    int64_t at = 0, segment = 0;
    CHECK(a->long_rows == 0 || a->b == 1);
    for (int64_t i = 0; i < a->long_rows; i++) {
        const int64_t row = a->long_row[i], from = A->ptr[row];
        const int64_t n = A->ptr[row + 1] - from;
        CHECK(i == 0 || row > a->long_row[i - 1]);
        CHECK(a->long_ptr[i] == at && a->long_ptr[i + 1] == at + n && n > 64);
        CHECK(a->long_segment[i] == segment);
        const int64_t place = a->long_place[i];
        CHECK(group_of(a, place / GPU_LANES, (int)(place % GPU_LANES)) == row);
        CHECK(memcmp(a->long_col + at, A->col + from, (size_t)n * 4) == 0);
        CHECK(memcmp(a->long_val + at, A->val + from, (size_t)n * 8) == 0);
        apart[row] = true;
        for (int64_t end = at + n; at < end; segment++) {
            CHECK(a->segment_first[segment] == at);
            CHECK(a->segment_count[segment] > 0 &&
                  a->segment_count[segment] <= GPU_SEGMENT);
            at += a->segment_count[segment];
            CHECK(at <= end);
        }
        CHECK(a->long_segment[i + 1] == segment);
    }
    CHECK(a->segments == segment);
    return at;
}

/* The slices multiply as plain rows do; every entry is there once. */
static void check_product(const tct_gpu_arrays *a, const tct_local *A,
                          const char *store)
{
    bool *apart = tct_calloc((size_t)A->rows);
    double *x = tct_alloc((size_t)A->cols * sizeof *x);
    for (int64_t j = 0; j < A->cols; j++) x[j] = uniform(j, 5) - 0.5;
    check_long_rows(a, A, apart);
    for (int64_t s = 0; s < a->slices; s++)
        for (int i = 0; i < GPU_LANES * a->b; i++) {
            const int64_t group = group_of(a, s, i / a->b);
            if (group >= a->groups) continue;
            const int64_t row = group * a->b + i % a->b;
            double sum = 0.0;
            for (int64_t k = A->ptr[row]; k < A->ptr[row + 1] && !apart[row];
                 k++)
                sum = fma(stored(store, A->val[k]), x[A->col[k]], sum);
            const double got = row_sum(a, s, i, x);
            if (!same_bits(sum, got) && sum != got) /* -0 of underflow */
                fail_msg("%s: row %lld is %.17g, not %.17g", about_what,
                         (long long)row, got, sum);
        }
    tct_free(apart);
    tct_free(x);
}

static void check_about(const tct_gpu_arrays *a, const tct_gpu_about *about,
                        const tct_local *A, const char *store)
{
    CHECK(about->stored >= A->ptr[A->rows]);
    CHECK(about->lossy == (strncmp(store, "low", 3) == 0));
    CHECK(strlen(about->detail) > 20);
    CHECK(about->matrix_bytes <= about->bytes + 1.0);
    CHECK(about->matrix_bytes >= 32.0 * (double)a->slices);
    CHECK(!a->dict || same_bits(a->dict[0], 0.0));
}

/* --- another pattern ------------------------------------------------------ */

static bool has_entry(const tct_local *A, int64_t row, int64_t from, int64_t to)
{
    for (int64_t k = A->ptr[row]; k < A->ptr[row + 1]; k++)
        if (A->col[k] >= from && A->col[k] < to) return true;
    return false;
}

/* Does the block of `side` x `side` entries that begins there have any? */
static bool has_block(const tct_local *A, int64_t row, int64_t col,
                      int64_t side)
{
    bool any = false;
    for (int64_t i = row; i < row + side; i++)
        any = any || has_entry(A, i, col, col + side);
    return any;
}

/* Row `row` has columns `from` and `to` changed: what is found is in one of the
 * two only, an entry or a block of b x b; nothing is where all blocks stay. */
static void check_found(const tct_gpu_arrays *a, const tct_local *was,
                        const tct_local *is, int64_t row, int64_t from,
                        int64_t to)
{
    const int64_t b = a->b, group = row / b * b;
    const int64_t cols[] = {from / b * b, to / b * b};
    bool differs = false;
    for (int k = 0; k < 2; k++)
        differs = differs || has_block(was, group, cols[k], b) !=
                                 has_block(is, group, cols[k], b);
    tct_difference d;
    CHECK(tct_gpu_slices_compare(a, is, &d) == TACIT_OK);
    CHECK((d.row >= 0) == differs);
    if (!differs) return;
    CHECK(d.dense == (d.missing && b > 1));
    const int64_t side = d.dense ? b : 1;
    CHECK(has_block(was, d.row, d.col, side) == d.missing);
    CHECK(has_block(is, d.row, d.col, side) == !d.missing);
}

/* A row has one entry less, or one that stands elsewhere. */
static void check_differences(const tct_gpu_arrays *a, const tct_local *A)
{
    const int64_t n = A->ptr[A->rows];
    tct_difference d;
    CHECK(tct_gpu_slices_compare(a, A, &d) == TACIT_OK && d.row < 0);
    for (int64_t row = 0; row < A->rows; row += 1 + A->rows / 9) {
        const int64_t last = A->ptr[row + 1] - 1;
        if (last < A->ptr[row]) continue;
        tct_local B = allocate(A->rows, A->cols, n);
        memcpy(B.ptr, A->ptr, (size_t)(A->rows + 1) * sizeof *B.ptr);
        memcpy(B.col, A->col, (size_t)n * sizeof *B.col);
        if (A->col[last] + 6 < A->cols) {
            B.col[last] += 6; /* another block, whatever its size */
            check_found(a, A, &B, row, A->col[last], B.col[last]);
            B.col[last] -= 6;
        }
        for (int64_t k = last; k + 1 < n; k++) B.col[k] = B.col[k + 1];
        for (int64_t i = row + 1; i <= A->rows; i++) B.ptr[i]--;
        check_found(a, A, &B, row, A->col[last], A->col[last]);
        clear(&B);
    }
}

static int kinds_seen[4], stores_seen[5], sorted_seen, long_seen;

static tacit_status check(const tct_local *A, int b, tct_gpu_kinds kinds,
                          const char *store)
{
    tct_gpu_arrays a;
    tct_gpu_about about;
    const tacit_status status =
        tct_gpu_slices_build(A, b, kinds, store, &a, &about);
    const char *reason = NULL;
    const double bytes = tct_gpu_slices_bytes(A, b, kinds, store, &reason);
    if (status != TACIT_OK) {
        CHECK(status == TACIT_UNSUPPORTED && bytes < 0.0 && reason);
        return status;
    }
    check_slices(&a, kinds);
    check_product(&a, A, store);
    check_about(&a, &about, A, store);
    check_differences(&a, A);
    if (b == 1)
        CHECK(fabs(bytes - about.matrix_bytes) <= 0.01 * about.matrix_bytes);
    for (int64_t s = 0; s < a.slices; s++) {
        kinds_seen[a.slice[s].kind]++;
        sorted_seen += a.slice[s].sorted;
    }
    stores_seen[a.store]++;
    long_seen += a.long_rows > 0;
    tct_gpu_slices_build_free(&a);
    return TACIT_OK;
}

/* Sanitizers take three times as long: of stores and values each is there, not
 * every pair. */
#if defined(__SANITIZE_ADDRESS__)
enum { EVERY = 3 };
#else
enum { EVERY = 1 };
#endif

/* Every store of `A` in blocks of `b`. */
static void check_stores(const tct_local *A, const char *name, values v, int b,
                         tct_gpu_kinds kinds)
{
    static const char *const stores[] = {"auto",  "f64",    "low48", "f32",
                                         "dict8", "dict16", "low32"};
    static char text[160];
    about_what = text;
    for (int i = (int)v % EVERY; i < 7; i += EVERY) {
        snprintf(text, sizeof text, "%s, values %d, b %d, %s, kinds %d", name,
                 (int)v, b, stores[i], (int)kinds);
        const tacit_status status = check(A, b, kinds, stores[i]);
        if (status != TACIT_OK && i < 3) /* these hold any values */
            CHECK(A->rows % b || A->cols % b);
    }
}

static void everything_is_there_once(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        const char *name = shapes[shape].name;
        tct_local A = make(shape, GIVEN);
        const size_t blocks = tct_memory_blocks();
        for (int v = 0; v < VALUES; v++) {
            for (int64_t k = 0; k < A.ptr[A.rows] && v != GIVEN; k++)
                A.val[k] = value((values)v, k);
            check_stores(&A, name, (values)v, 1, GPU_ANY_KIND);
            check_stores(&A, name, (values)v, 1, GPU_ONLY_FAR);
            for (int b = 2; b <= GPU_BLOCK_MOST; b++)
                if (v == GIVEN || v == FLOATS || v == D257)
                    check_stores(&A, name, (values)v, b, GPU_ANY_KIND);
        }
        assert_int_equal(tct_memory_blocks(), blocks);
        clear(&A);
    }
    for (int k = 0; k < 4; k++) assert_true(kinds_seen[k] > 0);
    for (int k = 0; k < 5; k++) assert_true(stores_seen[k] > 0);
    assert_true(sorted_seen > 0 && long_seen > 0 && joined_seen > 0);
}

/* --- choices -------------------------------------------------------------- */

/* Build for rows, say what came out, forget it. */
static tct_gpu_arrays glance(const char *shape, values v, const char *store,
                             tct_gpu_about *about)
{
    tct_local A = make(find_shape(shape), v);
    tct_gpu_arrays a;
    about_what = shape;
    assert_int_equal(
        tct_gpu_slices_build(&A, 1, GPU_ANY_KIND, store, &a, about), TACIT_OK);
    tct_gpu_arrays copy = a;
    tct_gpu_slices_build_free(&a);
    clear(&A);
    return copy; /* pointers only tell whether there was an array */
}

static void stores_are_the_smallest(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        values v;
        tct_gpu_store store;
    } want[] = {
        {"uneven", RANDOM, GPU_F64},         {"uneven", FLOATS, GPU_F32},
        {"uneven", SIGNED_ZEROS, GPU_DICT8}, {"uneven", D255, GPU_DICT8},
        {"uneven", D257, GPU_DICT16},        {"poisson2d:60", D257, GPU_DICT16},
    };
    tct_gpu_about about;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(glance(want[i].shape, want[i].v, NULL, &about).store,
                         want[i].store);
        assert_true(about.persistent);
    }
    assert_int_equal(glance("uneven", D255, "auto", &about).dict_count, 256);
    assert_int_equal(glance("uneven", D257, "auto", &about).dict_count, 258);
    assert_int_equal(glance("uneven", SIGNED_ZEROS, NULL, &about).dict_count,
                     3);
}

/* --- kernels of the persistent loop --------------------------------------- */

typedef struct {
    const char *method;
    const tct_kernel_row *rows;
    int count;
} kernel_table;
#define TABLE(name)                                                    \
    {                                                                  \
#name, tct_##name##_table, TCT_TABLE_COUNT(tct_##name##_table) \
    }
static const kernel_table tables[] = {TABLE(cg), TABLE(single), TABLE(pipe_pr),
                                      TABLE(sstep), TABLE(cg_factor)};
enum { TABLES = sizeof tables / sizeof *tables };

static bool has_row(const kernel_table *t, int b, int store, int walk,
                    int solves)
{
    return tct_table_has(t->rows, t->count, b, store, walk, solves);
}

/* A walk may fall back to the next more general one, down to GPU_ANY: that is
 * there for all solves of a row. */
static void each_walk_has_a_more_general_one(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++)
        for (int i = 0; i < tables[t].count; i++) {
            const tct_kernel_row *row = &tables[t].rows[i];
            assert_in_range(row->b, 1, GPU_BLOCK_MOST);
            assert_true(row->walk == GPU_ANY || row->b == 1);
            assert_true(row->solves != 0);
            if (!has_row(&tables[t], row->b, row->store, GPU_ANY, row->solves))
                fail_msg("%s, row %d: no kernel of any slices",
                         tables[t].method, i);
            for (int k = 0; k < i; k++)
                assert_false(tables[t].rows[k].b == row->b &&
                             tables[t].rows[k].store == row->store &&
                             tables[t].rows[k].walk == row->walk);
        }
}

/* Format auto takes a stencil in place of rows of doubles, so that each solve
 * that these have a kernel for a stencil has, too. */
static void stencils_have_what_rows_have(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++)
        for (int bit = 1; bit <= TCT_EVERYWHERE; bit *= 2)
            if (has_row(&tables[t], 1, GPU_F64, GPU_ANY, bit) !=
                has_row(&tables[t], 1, GPU_F64, GPU_GRID, bit))
                fail_msg("%s, solves %d: rows or a stencil alone have a kernel",
                         tables[t].method, bit);
}

/* The rescue of a method continues in the same loop: that of pipe-pr and sstep
 * is single, that of the others cg. */
static void the_rescue_has_what_a_method_has(void **state)
{
    (void)state;
    for (int t = 1; t < TABLES; t++) {
        const bool factor = strcmp(tables[t].method, "cg_factor") == 0;
        const bool single = strcmp(tables[t].method, "pipe_pr") == 0 ||
                            strcmp(tables[t].method, "sstep") == 0;
        const kernel_table *rescue = &tables[single ? 1 : 0];
        for (int i = 0; i < tables[t].count; i++) {
            const tct_kernel_row *row = &tables[t].rows[i];
            if (!has_row(rescue, row->b, row->store, GPU_ANY,
                         factor ? TCT_ALONE : row->solves))
                fail_msg("%s, row %d: %s has none", tables[t].method, i,
                         rescue->method);
        }
    }
}

/* Format auto takes doubles for a small matrix, in rows or in blocks of any
 * size: cg has a kernel for each. */
static void doubles_have_kernels_of_cg(void **state)
{
    (void)state;
    for (int b = 1; b <= GPU_BLOCK_MOST; b++)
        assert_true(has_row(&tables[0], b, GPU_F64, GPU_ANY, TCT_ALONE));
}

/* A block is called persistent if cg has a kernel for it, and only then: of
 * each block size and store that can be built. */
static void persistent_is_what_has_kernels(void **state)
{
    (void)state;
    static const char *const stores[] = {"f64",    "f32",   "dict8",
                                         "dict16", "low32", "low48"};
    int with = 0, without = 0;
    tct_local A = make(find_shape("blocks of 3"), D255);
    for (int64_t k = 0; k < A.ptr[A.rows]; k++)
        A.val[k] = (double)(1 + k % 200);
    for (int b = 1; b <= GPU_BLOCK_MOST; b++)
        for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
            tct_gpu_arrays a;
            tct_gpu_about about;
            assert_int_equal(tct_gpu_slices_build(&A, b, GPU_ANY_KIND,
                                                  stores[i], &a, &about),
                             TACIT_OK);
            const bool has =
                has_row(&tables[0], b, a.store, GPU_ANY, TCT_ALONE);
            if (has != about.persistent)
                fail_msg("blocks of %d in %s: persistent is %d, a kernel %d", b,
                         stores[i], about.persistent, has);
            with += has;
            without += !has;
            tct_gpu_slices_build_free(&a);
        }
    assert_true(with >= GPU_BLOCK_MOST && without > 0);
    clear(&A);
}

/* The list of kernels of a build with CUDA. */
static void kernels_are_listed(void **state)
{
    (void)state;
    char text[768];
    if (!tacit_method_resident("cg", text, sizeof text)) {
        printf("skipped: this build has no CUDA, so no kernels\n");
        skip();
    }
    const char *from = strchr(text, ';');
    assert_non_null(from);
    assert_string_equal(
        from, "; stencil; sell, sell32: f64 f32 dict8 dict16 low48; bsell 2x2: "
              "f64; bsell 3x3: f64 f32 dict8 low48; bsell 4x4: f64; bsell 5x5: "
              "f64; bsell 6x6: f64; with jacobi, stencil; sell, sell32: f64 "
              "f32 dict8; bsell 2x2: f64; bsell 3x3: f64; bsell 6x6: f64; with "
              "ic0 or ic1, stencil; sell, sell32: f64 dict8; bsell 2x2: f64; "
              "bsell 3x3: f64 dict8; bsell 6x6: f64; on several GPUs, stencil; "
              "sell, sell32: f64 dict8; bsell 3x3: f64 dict8");
}

/* --- refusals ------------------------------------------------------------- */

static void refusals_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *store, *word;
        values v;
        int b;
    } bad[] = {{"f32", "exactly floats", RANDOM, 1},
               {"dict8", "256", D257, 1},
               {"dict16", "65536", RANDOM, 1},
               {"low32", "too large", WIDE, 1},
               {"f16", "f16", RANDOM, 1},
               {"auto", "blocks of 7", RANDOM, 7}};
    tct_local big = from_gallery("random:9000,12");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tct_gpu_arrays a;
        tct_gpu_about about;
        for (int64_t k = 0; k < big.ptr[big.rows]; k++)
            big.val[k] = value(bad[i].v, k);
        assert_int_equal(tct_gpu_slices_build(&big, bad[i].b, GPU_ANY_KIND,
                                              bad[i].store, &a, &about),
                         TACIT_UNSUPPORTED);
        if (!strstr(tacit_error_message(), bad[i].word))
            fail_msg("%s", tacit_error_message());
        assert_null(a.slice);
    }
    clear(&big);
}

/* Stencils are runs, constant ones where each diagonal has one value. */
static void stencils_are_runs(void **state)
{
    (void)state;
    tct_gpu_about about;
    const tct_gpu_arrays a = glance("poisson2d:60", GIVEN, NULL, &about);
    assert_int_equal(a.cells, 0);
    assert_non_null(strstr(about.detail, "100 % constant runs"));
    assert_true(about.packed); /* as doubles it is another format */
    assert_true(about.matrix_bytes < 6.0 * 3600.0);
    assert_true(glance("poisson2d:60", GIVEN, "f64", &about).cells > 0);
    assert_non_null(strstr(about.detail, "% runs"));
    assert_false(about.packed);
    assert_true(glance("poisson2d:60", GIVEN, "low32", &about).cells > 0);
    glance("an arrow", RANDOM, NULL, &about);
    assert_non_null(strstr(about.detail, "1 long rows"));
    assert_true(about.persistent && about.kernels == 3);
    glance("a wide arrow", RANDOM, NULL, &about);
    assert_false(about.persistent); /* too much for one block */
}

static void blocks_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *store;
        int b;
    } want[] = {{"blocks of 3", NULL, 3},
                {"blocks of 3", "low32", 3},
                /* too many of 64 lanes are empty */
                {"elasticity3d:4", "f64", GPU_WAVE == 64 ? 0 : 3},
                {"poisson2d:60", NULL, 0},
                {"a power law", NULL, 0},
                {"no entries", NULL, 0},
                {"no rows", NULL, 0},
                {"1 x 1", NULL, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        tct_local A = make(find_shape(want[i].shape), RANDOM);
        A.store = want[i].store;
        assert_int_equal(tct_gpu_best_block(&A), want[i].b);
        double bytes = tct_gpu_slices_bytes(&A, 1, GPU_ANY_KIND, A.store, NULL);
        if (A.store && strcmp(A.store, "low32") == 0) bytes = -1.0;
        assert_int_equal(tct_gpu_fewer_bytes(&A, &bytes), want[i].b);
        if (want[i].b)
            assert_true(bytes == tct_gpu_slices_bytes(&A, want[i].b,
                                                      GPU_ANY_KIND, A.store,
                                                      NULL));
        clear(&A);
    }
}

/* A sample foretells the size of a matrix that is larger than the sample. */
static void sizes_are_foretold(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d:300", "random:60000,8",
                                        "elasticity3d:26", "jump3d:45,1e4,5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tct_local A = from_gallery(names[i]);
        tct_gpu_arrays a;
        tct_gpu_about about;
        const double bytes =
            tct_gpu_slices_bytes(&A, 1, GPU_ANY_KIND, NULL, NULL);
        assert_int_equal(
            tct_gpu_slices_build(&A, 1, GPU_ANY_KIND, NULL, &a, &about),
            TACIT_OK);
        if (fabs(bytes - about.matrix_bytes) > 0.1 * about.matrix_bytes)
            fail_msg("%s: %g bytes, not %g", names[i], about.matrix_bytes,
                     bytes);
        tct_gpu_slices_build_free(&a);
        clear(&A);
    }
}

static void patterns_are_told_apart(void **state)
{
    (void)state;
    tct_local A = make(find_shape("edges"), RANDOM);
    const uint64_t pattern = tct_gpu_pattern(&A);
    A.val[7] = 3.0;
    assert_true(tct_gpu_pattern(&A) == pattern);
    A.col[A.ptr[501] - 1]++;
    assert_true(tct_gpu_pattern(&A) != pattern);
    A.col[A.ptr[501] - 1]--;
    A.ptr[17]++;
    assert_true(tct_gpu_pattern(&A) != pattern);
    clear(&A);
}

/* Each allocation fails once; nothing is lost. */
static void no_memory_is_survived(void **state)
{
    (void)state;
    tct_local A = make(find_shape("an arrow"), D257);
    const size_t blocks = tct_memory_blocks();
    int refused = 0;
    for (long k = 1; k < 80; k++) {
        tct_gpu_arrays a;
        tct_gpu_about about;
        tct_memory_fail_at(k);
        const tacit_status status =
            tct_gpu_slices_build(&A, 1, GPU_ANY_KIND, NULL, &a, &about);
        tct_memory_fail_at(0);
        refused += status == TACIT_NO_MEMORY;
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        tct_gpu_slices_build_free(&a);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_true(refused > 10);
    clear(&A);
}

static void rounding_never_overflows(void **state)
{
    (void)state;
    static const double v[] = {0x1.fffffffffffffp1023,
                               -0x1.fffffffffffffp1023,
                               INFINITY,
                               -INFINITY,
                               -0.0,
                               0x1p-1074,
                               1.0};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        const uint64_t bits = tct_gpu_round48(v[i]) << 16;
        double near;
        memcpy(&near, &bits, sizeof near);
        assert_true(isfinite(near) == isfinite(v[i]));
        assert_true(signbit(near) == signbit(v[i]));
        assert_true(!isinf(v[i]) || near == v[i]);
    }
    const uint64_t nan_bits = tct_gpu_round48(NAN) << 16;
    double nan_value;
    memcpy(&nan_value, &nan_bits, sizeof nan_value);
    assert_true(isnan(nan_value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_there_once),
        cmocka_unit_test(stores_are_the_smallest),
        cmocka_unit_test(each_walk_has_a_more_general_one),
        cmocka_unit_test(stencils_have_what_rows_have),
        cmocka_unit_test(the_rescue_has_what_a_method_has),
        cmocka_unit_test(doubles_have_kernels_of_cg),
        cmocka_unit_test(persistent_is_what_has_kernels),
        cmocka_unit_test(kernels_are_listed),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(stencils_are_runs),
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(sizes_are_foretold),
        cmocka_unit_test(patterns_are_told_apart),
        cmocka_unit_test(no_memory_is_survived),
        cmocka_unit_test(rounding_never_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

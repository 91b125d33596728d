/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/kernels.c - the inner loops of the host's products, compiled
 * once per instruction set. Each is a template: functions marked INLINE are
 * expanded for constant block sizes, stores of values and numbers of vectors,
 * and unrolled by the compiler. */
#include "operator/host/kernels.h"
#include "device/isa.h"
#include "operator/host/lanes.h"
#include <math.h>

enum { VECTORS_MOST = 4 };

/* --- values --------------------------------------------------------------- */

typedef struct {
    const char *at; /* of the next column */
    const double *dict, *pair;
#if defined(__AVX512F__)
    lanes table[4]; /* the first 32 of dict, in registers */
#endif
} values;

INLINE values values_start(const tct_slices *B, int64_t chunk, value_kind kind)
{
    const int64_t cell = (int64_t)LANES * B->b * B->b;
    values v = {.at = (const char *)B->value +
                      B->at[chunk].cell * cell * (int64_t)tct_value_size(kind),
                .dict = B->dict,
                .pair = B->pair[0]};
#if defined(__AVX512F__)
    for (int i = 0; i < 4; i++) v.table[i] = lanes_load(B->dict + LANES * i);
#endif
    return v;
}

/* Value number `n` in the blocks of the eight lanes. */
INLINE lanes values_load(const values *v, value_kind kind, int n)
{
    const char *at = v->at + (size_t)(LANES * n) * tct_value_size(kind);
    if (kind == VALUE_F64) return lanes_load((const double *)(const void *)at);
    if (kind == VALUE_F32) return lanes_floats((const float *)(const void *)at);
    const uint8_t *code = (const uint8_t *)at;
#if defined(__AVX512F__)
    if (kind != VALUE_DICT) {
        const __m512i which = _mm512_cvtepu8_epi64(
            _mm_loadl_epi64((const __m128i *)(const void *)code));
        const lanes low =
            _mm512_permutex2var_pd(v->table[0], which, v->table[1]);
        if (kind == VALUE_DICT16) return low;
        const lanes high =
            _mm512_permutex2var_pd(v->table[2], which, v->table[3]);
        return _mm512_mask_blend_pd(
            _mm512_test_epi64_mask(which, _mm512_set1_epi64(16)), low, high);
    }
#elif defined(__AVX2__)
    if (kind == VALUE_DICT16) return lanes_lookup_pairs(v->pair, code);
#endif
    return lanes_lookup(v->dict, code);
}

/* --- slices --------------------------------------------------------------- */

typedef struct {
    values value;
    const uint8_t *index, *some;
    const double *x[VECTORS_MOST];
    double *y[VECTORS_MOST];
    lanes sum[VECTORS_MOST][BLOCK_MOST]; /* row i of each lane's group */
} state;

/* The blocks of each x at this column; `base` is the slice's. */
INLINE void column_blocks(const state *s, tct_slice_kind kind, int b,
                          int vectors, int64_t base, lanes xs[][BLOCK_MOST])
{
    int64_t at[LANES] = {0};
    if (kind == SLICE_RUN) {
        int32_t c;
        memcpy(&c, s->index, sizeof c);
        for (int v = 0; v < vectors; v++)
            lanes_blocks(s->x[v] + (int64_t)b * c, b, xs[v]);
        return;
    }
    if (kind == SLICE_NEAR)
        lanes_near((const uint16_t *)(const void *)s->index, b,
                   b == 1 || vectors == 1, at);
    else lanes_far((const int32_t *)(const void *)s->index, b, at);
    for (int v = 0; v < vectors; v++)
        for (int j = 0; j < b; j++)
            xs[v][j] = lanes_pick(s->x[v] + base + j, at);
}

/* sum += a column of blocks times x, for all lanes or `some`; `magnitude`: of
 * their absolute values. */
INLINE void add_column(state *s, tct_slice_kind kind, value_kind value, int b,
                       int vectors, bool magnitude, int64_t base, bool whole)
{
    lanes xs[VECTORS_MOST][BLOCK_MOST];
    const unsigned some = whole ? 0 : *s->some++;
    column_blocks(s, kind, b, vectors, base, xs);
    s->index += tct_index_size(kind);
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) {
            const lanes stored = values_load(&s->value, value, i * b + j);
            const lanes a = magnitude ? lanes_magnitude(stored) : stored;
            for (int v = 0; v < vectors; v++)
                s->sum[v][i] =
                    whole ? lanes_fused(a, xs[v][j], s->sum[v][i])
                          : lanes_fused_some(some, a, xs[v][j], s->sum[v][i]);
        }
    s->value.at += (size_t)(LANES * b * b) * tct_value_size(value);
}

INLINE void add_slice(state *s, const tct_slice *slice, tct_slice_kind kind,
                      value_kind value, int b, int vectors, bool magnitude)
{
    const int64_t base = kind == SLICE_NEAR ? (int64_t)b * slice->base : 0;
    const int full = slice->full, width = slice->width;
    for (int k = 0; k < full; k++)
        add_column(s, kind, value, b, vectors, magnitude, base, true);
    for (int k = full; k < width; k++)
        add_column(s, kind, value, b, vectors, magnitude, base, false);
}

/* Store the rows of slice `n`, in row order or in its own order. */
INLINE void store(const state *s, const tct_slices *B, const tct_slice *slice,
                  int64_t n, int b, int v)
{
    const int64_t first = LANES * n;
    const int64_t window =
        slice->sorted ? first / B->window * B->window : first;
    const int occupied =
        first + LANES <= B->groups ? LANES : (int)(B->groups - first);
    const uint8_t *order = B->order + first;
    double *y = s->y[v] + b * window, sum[BLOCK_MOST][LANES];
    if (b == 1 && !slice->sorted && occupied == LANES) {
        lanes_store(y, s->sum[v][0]);
        return;
    }
    for (int i = 0; i < b; i++) lanes_store(sum[i], s->sum[v][i]);
    if (occupied < LANES || slice->sorted) {
        for (int l = 0; l < occupied; l++)
            for (int i = 0; i < b; i++)
                y[b * (slice->sorted ? order[l] : l) + i] = sum[i][l];
        return;
    }
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < b; i++) y[b * l + i] = sum[i][l];
}

INLINE void slices_of(state *s, const tct_slices *B, int64_t chunk,
                      value_kind value, int b, int vectors, bool magnitude)
{
    s->value = values_start(B, chunk, value);
    s->index = B->index + B->at[chunk].index;
    s->some = B->some + B->at[chunk].some;
    for (int64_t n = B->at[chunk].slice; n < B->at[chunk + 1].slice; n++) {
        const tct_slice *slice = &B->slice[n];
        for (int v = 0; v < vectors; v++)
            for (int i = 0; i < b; i++) s->sum[v][i] = lanes_zero();
        switch ((tct_slice_kind)slice->kind) {
        case SLICE_RUN:
            add_slice(s, slice, SLICE_RUN, value, b, vectors, magnitude);
            break;
        case SLICE_NEAR:
            add_slice(s, slice, SLICE_NEAR, value, b, vectors, magnitude);
            break;
        case SLICE_FAR:
            add_slice(s, slice, SLICE_FAR, value, b, vectors, magnitude);
            break;
        case SLICE_CONST: break; /* never on the host */
        }
        store(s, B, slice, n, b, 0); /* a loop would keep sums in memory */
        if (vectors > 1) store(s, B, slice, n, b, 1);
        if (vectors > 2) store(s, B, slice, n, b, 2);
        if (vectors > 2) store(s, B, slice, n, b, 3);
    }
}

typedef void (*sized)(const tct_slices *B, int64_t chunk,
                      const double *const *x, double *const *y);

/* The expansions: every block size with every store of values. Common sizes use
 * tables in registers on AVX-512, and two values per load for the smallest on
 * AVX2; otherwise small dictionaries are read like the large one, and share its
 * code. */
#define SIZED(name, value, b, vectors)                                         \
    static void name##_##value##_##b(const tct_slices *B, int64_t chunk,       \
                                     const double *const *x, double *const *y) \
    {                                                                          \
        state s;                                                               \
        for (int v = 0; v < (vectors); v++) {                                  \
            s.x[v] = x[v];                                                     \
            s.y[v] = y[v];                                                     \
        }                                                                      \
        slices_of(&s, B, chunk, VALUE_##value, b, vectors, false);             \
    }
#define SMALL(name, value, vectors) \
    SIZED(name, value, 1, vectors)  \
    SIZED(name, value, 2, vectors)  \
    SIZED(name, value, 3, vectors)
#define LARGE(name, value, vectors) \
    SIZED(name, value, 4, vectors)  \
    SIZED(name, value, 5, vectors)  \
    SIZED(name, value, 6, vectors)
#define LIST(name, small, large)                                       \
    {                                                                  \
        name##_##small##_1, name##_##small##_2, name##_##small##_3,    \
            name##_##large##_4, name##_##large##_5, name##_##large##_6 \
    }
#if defined(__AVX512F__)
#define TABLES(name, vectors) \
    SMALL(name, DICT16, vectors) SMALL(name, DICT32, vectors)
#define LIST16(name) LIST(name, DICT16, DICT)
#define LIST32(name) LIST(name, DICT32, DICT)
#elif defined(__AVX2__)
#define TABLES(name, vectors) SMALL(name, DICT16, vectors)
#define LIST16(name)          LIST(name, DICT16, DICT)
#define LIST32(name)          LIST(name, DICT, DICT)
#else
#define TABLES(name, vectors)
#define LIST16(name) LIST(name, DICT, DICT)
#define LIST32(name) LIST(name, DICT, DICT)
#endif
#define ALL(name, vectors)                               \
    SMALL(name, F64, vectors)                            \
    LARGE(name, F64, vectors)                            \
    SMALL(name, F32, vectors)                            \
    LARGE(name, F32, vectors)                            \
    SMALL(name, DICT, vectors)                           \
    LARGE(name, DICT, vectors)                           \
    TABLES(name, vectors)                                \
    static const sized name[VALUE_KINDS][BLOCK_MOST] = { \
        [VALUE_F64] = LIST(name, F64, F64),              \
        [VALUE_F32] = LIST(name, F32, F32),              \
        [VALUE_DICT16] = LIST16(name),                   \
        [VALUE_DICT32] = LIST32(name),                   \
        [VALUE_DICT] = LIST(name, DICT, DICT)};

ALL(one, 1)
ALL(two, 2)

/* Four vectors where that gains most; otherwise two and two. */
SMALL(four, F64, 4)
SMALL(four, F32, 4)
SIZED(four, DICT, 1, 4)
#if defined(__AVX512F__)
SIZED(four, DICT16, 1, 4)
SIZED(four, DICT32, 1, 4)
#elif defined(__AVX2__)
SIZED(four, DICT16, 1, 4)
#define four_DICT32_1 four_DICT_1
#else
#define four_DICT16_1 four_DICT_1
#define four_DICT32_1 four_DICT_1
#endif
static const sized four[VALUE_KINDS][BLOCK_MOST] = {
    [VALUE_F64] = {four_F64_1, four_F64_2, four_F64_3},
    [VALUE_F32] = {four_F32_1, four_F32_2, four_F32_3},
    [VALUE_DICT16] = {four_DICT16_1},
    [VALUE_DICT32] = {four_DICT32_1},
    [VALUE_DICT] = {four_DICT_1}};

static void slices(const tct_slices *B, int64_t chunk, const double *x,
                   double *y)
{
    one[B->kind][B->b - 1](B, chunk, &x, &y);
}

static void slices_some(const tct_slices *B, int64_t chunk, int vectors,
                        const double *const *x, double *const *y)
{
    const sized all = vectors == 4 ? four[B->kind][B->b - 1] : NULL;
    if (all) all(B, chunk, x, y);
    for (int v = 0; v < vectors && !all; v += 2)
        two[B->kind][B->b - 1](B, chunk, x + v, y + v);
}

/* Once a solve: an expansion a store, of any block size. */
static void slices_magnitude(const tct_slices *B, int64_t chunk,
                             const double *x, double *y)
{
    state s = {.x = {x}, .y = {y}};
    if (B->kind == VALUE_F64) slices_of(&s, B, chunk, VALUE_F64, B->b, 1, true);
    else if (B->kind == VALUE_F32)
        slices_of(&s, B, chunk, VALUE_F32, B->b, 1, true);
    else slices_of(&s, B, chunk, VALUE_DICT, B->b, 1, true);
}

/* --- compressed rows ------------------------------------------------------ */

/* One row in column order, from entry `at`, added to `sum`. */
INLINE double row_sum(tct_csr_view A, int64_t at, int64_t end, const double *x,
                      double sum)
{
    for (; at < end; at++) sum = fused(A.val[at], x[A.col[at]], sum);
    return sum;
}

/* Four rows at a time: their sums are independent. */
static void rows_by_four(tct_csr_view A, int64_t from, int64_t to,
                         const double *x, double *y)
{
    int64_t i = from;
    for (; i + 4 <= to; i += 4) {
        int64_t a = A.ptr[i], b = A.ptr[i + 1], c = A.ptr[i + 2],
                d = A.ptr[i + 3];
        const int64_t ends[4] = {b, c, d, A.ptr[i + 4]};
        int64_t common = b - a;
        if (c - b < common) common = c - b;
        if (d - c < common) common = d - c;
        if (ends[3] - d < common) common = ends[3] - d;
        double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
        for (int64_t k = 0; k < common; k++, a++, b++, c++, d++) {
            p = fused(A.val[a], x[A.col[a]], p);
            q = fused(A.val[b], x[A.col[b]], q);
            r = fused(A.val[c], x[A.col[c]], r);
            s = fused(A.val[d], x[A.col[d]], s);
        }
        y[i] = row_sum(A, a, ends[0], x, p);
        y[i + 1] = row_sum(A, b, ends[1], x, q);
        y[i + 2] = row_sum(A, c, ends[2], x, r);
        y[i + 3] = row_sum(A, d, ends[3], x, s);
    }
    for (; i < to; i++) y[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x, 0.0);
}

/* The processor overlaps short rows by itself, and mistakes fewer ends. */
static void rows_by_one(tct_csr_view A, int64_t from, int64_t to,
                        const double *x, double *y)
{
    for (int64_t i = from; i < to; i++)
        y[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x, 0.0);
}

/* `groups`, one or two, of `g` rows with the same columns each, from row i
 * on. */
INLINE void alike(tct_csr_view A, int64_t i, int g, int groups, const double *x,
                  double *y)
{
    const int64_t at[2] = {A.ptr[i], A.ptr[i + (groups - 1) * g]};
    const int64_t n[2] = {A.ptr[i + 1] - at[0],
                          A.ptr[i + (groups - 1) * g + 1] - at[1]};
    const int64_t common = n[0] < n[1] ? n[0] : n[1];
    double sum[2][TCT_SAME_ROWS_MOST] = {{0.0}};
    for (int64_t k = 0; k < common; k++)
        for (int v = 0; v < groups; v++) {
            const double of = x[A.col[at[v] + k]];
            for (int r = 0; r < g; r++)
                sum[v][r] = fused(A.val[at[v] + r * n[v] + k], of, sum[v][r]);
        }
    for (int v = 0; v < groups; v++)
        for (int64_t k = common; k < n[v]; k++) {
            const double of = x[A.col[at[v] + k]];
            for (int r = 0; r < g; r++)
                sum[v][r] = fused(A.val[at[v] + r * n[v] + k], of, sum[v][r]);
        }
    for (int v = 0; v < groups; v++)
        for (int r = 0; r < g; r++) y[i + v * g + r] = sum[v][r];
}

/* Columns and x are read once for rows that are alike. */
static void rows_alike(tct_csr_view A, int64_t from, int64_t to,
                       const double *x, double *y)
{
    for (int64_t i = from; i < to;) {
        const int g = A.alike[i] < to - i ? A.alike[i] : (int)(to - i);
        const bool pair = g > 1 && i + 2 * g <= to && A.alike[i + g] == g;
        switch (pair ? g + TCT_SAME_ROWS_MOST : g) {
        case 1: y[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x, 0.0); break;
        case 2: alike(A, i, 2, 1, x, y); break;
        case 3: alike(A, i, 3, 1, x, y); break;
        case 4: alike(A, i, 4, 1, x, y); break;
        case 6: alike(A, i, 2, 2, x, y); break;
        case 7: alike(A, i, 3, 2, x, y); break;
        default: alike(A, i, 4, 2, x, y); break;
        }
        i += pair ? 2 * g : g;
    }
}

static void rows(tct_csr_view A, int64_t from, int64_t to, const double *x,
                 double *y)
{
    enum { SHORT = 16 }; /* entries a row */
    if (A.alike) rows_alike(A, from, to, x, y);
    else if (A.ptr[to] - A.ptr[from] < SHORT * (to - from))
        rows_by_one(A, from, to, x, y);
    else rows_by_four(A, from, to, x, y);
}

static void rows_pair(tct_csr_view A, int64_t from, int64_t to,
                      const double *x0, double *y0, const double *x1,
                      double *y1)
{
    for (int64_t i = from; i < to; i++) {
        y0[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x0, 0.0);
        y1[i] = row_sum(A, A.ptr[i], A.ptr[i + 1], x1, 0.0); /* cached */
    }
}

static void rows_four(tct_csr_view A, int64_t from, int64_t to,
                      const double *const *x, double *const *y)
{
    const double *const x0 = x[0], *const x1 = x[1], *const x2 = x[2],
                        *const x3 = x[3];
    for (int64_t i = from; i < to; i++) {
        double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const double a = A.val[k];
            const int64_t c = A.col[k];
            p = fused(a, x0[c], p);
            q = fused(a, x1[c], q);
            r = fused(a, x2[c], r);
            s = fused(a, x3[c], s);
        }
        y[0][i] = p;
        y[1][i] = q;
        y[2][i] = r;
        y[3][i] = s;
    }
}

static void rows_some(tct_csr_view A, int64_t from, int64_t to, int vectors,
                      const double *const *x, double *const *y)
{
    if (vectors == 2) rows_pair(A, from, to, x[0], y[0], x[1], y[1]);
    else rows_four(A, from, to, x, y);
}

static void rows_magnitude(tct_csr_view A, int64_t from, int64_t to,
                           const double *x, double *y)
{
    for (int64_t i = from; i < to; i++) {
        double sum = 0.0;
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++)
            sum = fused(fabs(A.val[k]), x[A.col[k]], sum);
        y[i] = sum;
    }
}

static double dot(int64_t n, const double *x, const double *y)
{
    lanes even = lanes_zero(), odd = lanes_zero();
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        even = lanes_fused(lanes_load(x + i), lanes_load(y + i), even);
        odd = lanes_fused(lanes_load(x + i + LANES), lanes_load(y + i + LANES),
                          odd);
    }
    double sum = lanes_total(even) + lanes_total(odd);
    for (; i < n; i++) sum = fused(x[i], y[i], sum);
    return sum;
}

#define tct_kernels_isa TCT_ISA_NAME(tct_kernels)
const tct_kernels tct_kernels_isa = {
    .slices = slices,
    .slices_some = slices_some,
    .slices_magnitude = slices_magnitude,
    .rows = rows,
    .rows_some = rows_some,
    .rows_magnitude = rows_magnitude,
    .dot = dot,
};

/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_size.c - plans all windows of a matrix, to build it,
 * or a sample of them, to predict its size; finds the best block size. Costs
 * are the bytes that a product reads. */
#include "device/parallel.h"
#include "operator/layout/slices_build.h"
#include "operator/pattern/slice_cost.h"
#include <pthread.h>

enum {
    SAMPLES = 96, /* windows, fewer of long rows: */
    SAMPLES_LEAST = 12,
    SAMPLE_ENTRIES = 1 << 18,
    BLOCK_ROWS = 512,   /* that show whether blocks are dense */
    SHARE_SAMPLES = 32, /* whose values are worth a thread */
    NO_MEMORY = 1,      /* reason of a failed plan */
    TOO_WIDE = 2,
    MUCH = 1 << 15 /* entries */
};
static const double FILL_MOST = 1.30; /* values of blocks, per non-zero */
/* No further look is taken at blocks of which few rows hold more. */
static const double FILL_NEVER = 1.6;
static const char *const not_dense = "the blocks are not dense";

/* --- rules ---------------------------------------------------------------- */

/* Keep the longest row apart while it is too long compared to the others. */
static void keep_apart(tct_window *w)
{
    int64_t sum = 0, rows = w->groups;
    for (int g = 0; g < w->groups; g++) sum += w->length[g];
    for (;;) {
        int top = 0;
        for (int g = 1; g < w->groups; g++)
            if (w->length[g] > w->length[top]) top = g;
        const int64_t length = w->length[top];
        const bool is_outlier =
            rows > 1 && length * (rows - 1) > GPU_LONG_TIMES * (sum - length);
        if (length <= GPU_LONG_LEAST ||
            (length <= GPU_LONG_ALWAYS && !is_outlier))
            return;
        sum -= length;
        rows--;
        w->cut = (int32_t)length - 1;
        w->length[top] = 0;
    }
}

const tct_slicing_rules tct_gpu_rules = {
    .lanes = GPU_LANES,
    .window = GPU_WINDOW,
    .rows = GPU_WINDOW * GPU_BLOCK_MOST, /* the same for all blocks */
    .index = {[SLICE_RUN] = sizeof(tct_column_run),
              [SLICE_CONST] = sizeof(tct_gpu_const),
              [SLICE_NEAR] = 2 * GPU_LANES,
              [SLICE_FAR] = 4 * GPU_LANES},
    .near_step = 2,
    .slice = sizeof(tct_gpu_slice),
    .ragged = 2 * GPU_LANES, /* its `length` */
    .sorted = GPU_LANES,     /* its `order`  */
    .padded = true,
    .rotated = true,
    .keep_apart = keep_apart};

int64_t tct_gpu_index_bytes(tct_slice_kind kind, int width)
{
    return (int64_t)tct_index_bytes(&tct_gpu_rules, kind, width);
}

void tct_gpu_set_store(tct_gpu_maker *M, tct_gpu_store store)
{
    M->store = store;
    tct_slicing_values(&M->slicing, tct_gpu_store_bytes(store));
}

tacit_status tct_gpu_maker_open(const tct_local *A, int b, tct_gpu_kinds kinds,
                                const char *store, tct_gpu_maker *out)
{
    TRY(tct_gpu_wish_read(store, b, kinds, &out->wish));
    if (b < 1 || b > GPU_BLOCK_MOST || A->rows % b || A->cols % b)
        FAIL(TACIT_UNSUPPORTED,
             "%lld rows and %lld columns are not blocks of %d",
             (long long)A->rows, (long long)A->cols, b);
    out->slicing = tct_slicing_of(&tct_gpu_rules, A, b);
    out->slicing.only_far = kinds == GPU_ONLY_FAR;
    out->slicing.consts = out->wish.consts;
    out->known = NULL;
    tct_gpu_set_store(out, out->wish.store);
    return TACIT_OK;
}

int64_t tct_gpu_plan_window(const tct_gpu_plan *P, int64_t i)
{
    return P->window ? P->window[i] : i;
}

/* --- values --------------------------------------------------------------- */

/* All values of a window: its rows are adjacent. */
static void look_at_rows(const tct_gpu_maker *M, int64_t window,
                         tct_value_set *set)
{
    const tct_local *A = M->slicing.A;
    const int64_t size = (int64_t)GPU_WINDOW * M->slicing.b;
    const int64_t first = window * size;
    const int64_t last = first + size < A->rows ? first + size : A->rows;
    tct_value_set_look(set, A->val + A->ptr[first],
                       A->ptr[last] - A->ptr[first]);
}

/* The values in cells of window `i` of the plan, b = 1. */
static void look_at_cells(const tct_gpu_maker *M, const tct_gpu_plan *P,
                          int64_t i, tct_value_set *set)
{
    const tct_local *A = M->slicing.A;
    const int64_t window = tct_gpu_plan_window(P, i);
    const int slices = tct_window_slices(&M->slicing, window);
    for (int n = 0; n < slices; n++) {
        if (P->slice[GPU_WINDOW_SLICES * i + n].kind == SLICE_CONST) continue;
        for (int l = 0; l < GPU_LANES; l++) {
            const int64_t at = GPU_WINDOW * i + GPU_LANES * n + l;
            if (P->length[at] == 0) continue;
            const int64_t row = window * GPU_WINDOW + P->order[at];
            tct_value_set_look(set, A->val + A->ptr[row], P->length[at]);
        }
    }
}

/* The set of values matters to dictionaries only: reduced stores hold any in
 * range, and floats any that are exactly floats. */
static void open_set(const tct_gpu_maker *M, tct_value_set *set)
{
    const tct_gpu_wish *wish = &M->wish;
    const bool listed = wish->automatic || wish->store == GPU_DICT8 ||
                        wish->store == GPU_DICT16;
    tct_value_set_open(set, listed ? TCT_GPU_VALUES_MOST : 0, wish->low);
    tct_value_set_zero(set);
}

/* Windows that are worth a thread: those of dense blocks have many entries
 * each. */
static int64_t windows_of_thread(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    const tct_local *A = M->slicing.A;
    return P->count > 16 || A->ptr[A->rows] > MUCH ? 1 : P->count;
}

typedef struct {
    const tct_gpu_maker *M;
    tct_gpu_plan *P;
    bool cells;
    int parts;
    pthread_mutex_t lock; /* of P->values */
} collecting;

static void collect_part(void *work, int64_t part)
{
    collecting *c = work;
    const int64_t count = c->P->count;
    const int64_t end = tct_part_first(count, (int)part + 1, c->parts);
    tct_value_set mine;
    open_set(c->M, &mine);
    for (int64_t i = tct_part_first(count, (int)part, c->parts); i < end; i++)
        if (c->cells) look_at_cells(c->M, c->P, i, &mine);
        else look_at_rows(c->M, tct_gpu_plan_window(c->P, i), &mine);
    pthread_mutex_lock(&c->lock);
    tct_value_set_join(&c->P->values, &mine);
    pthread_mutex_unlock(&c->lock);
    tct_value_set_close(&mine);
}

/* The set of values, of rows or of `cells`. */
static void collect_values(const tct_gpu_maker *M, tct_gpu_plan *P, bool cells)
{
    const int64_t least = P->window ? SHARE_SAMPLES : windows_of_thread(M, P);
    collecting c = {M, P, cells, tct_parallel_parts(P->count, least),
                    PTHREAD_MUTEX_INITIALIZER};
    tct_value_set_close(&P->values);
    open_set(M, &P->values);
    tct_parallel_each(c.parts, collect_part, &c);
}

/* The values of all rows, as they are known or as the windows show them. */
static void find_values(const tct_gpu_maker *M, tct_gpu_plan *P)
{
    const tct_value_set *known = M->known;
    if (!known) {
        collect_values(M, P, false);
        return;
    }
    tct_value_set_close(&P->values);
    P->values = (tct_value_set){.most = known->most,
                                .count = known->count,
                                .looked = known->looked,
                                .floats = known->floats};
}

/* --- windows -------------------------------------------------------------- */

typedef struct {
    int64_t blocks, consts, entries;
} census;

static int plan_window(const tct_gpu_maker *M, tct_gpu_plan *P, int64_t i,
                       int32_t *scratch, census *c)
{
    const tct_slicing *S = &M->slicing;
    const int64_t *ptr = S->A->ptr;
    tct_window w;
    tct_slice *slice = P->slice + GPU_WINDOW_SLICES * i;
    uint8_t *order = P->order + GPU_WINDOW * i;
    tct_window_read(S, tct_gpu_plan_window(P, i), scratch, &w);
    if (tct_window_plan(S, &w, slice, order) < 0.0) return TOO_WIDE;
    for (int at = 0; at < GPU_WINDOW; at++) {
        const int g = order[at];
        const int32_t length = g < w.groups ? w.length[g] : 0;
        P->length[GPU_WINDOW * i + at] = (uint16_t)length;
        c->blocks += length;
        if (length > 0 && slice[at / GPU_LANES].kind == SLICE_CONST)
            c->consts += length;
    }
    P->long_rows[i + 1] = tct_window_long(S, &w, &P->long_entries[i + 1]);
    c->entries += ptr[S->b * (w.first + w.groups)] - ptr[S->b * w.first];
    return 0;
}

typedef struct {
    const tct_gpu_maker *M;
    tct_gpu_plan *P;
    atomic_int_fast64_t blocks, consts, entries;
    atomic_int failed;
} planning;

static void plan_range(void *work, int64_t from, int64_t to, void *scratch)
{
    planning *p = work;
    census c = {0};
    int failed = 0;
    for (int64_t i = from; i < to && !failed; i++)
        failed = plan_window(p->M, p->P, i, scratch, &c);
    if (failed) atomic_store(&p->failed, failed);
    atomic_fetch_add(&p->blocks, c.blocks);
    atomic_fetch_add(&p->consts, c.consts);
    atomic_fetch_add(&p->entries, c.entries);
}

static int plan_windows(const tct_gpu_maker *M, tct_gpu_plan *P)
{
    const size_t room = (size_t)tct_window_room(&M->slicing);
    planning p = {.M = M, .P = P};
    if (!tct_parallel_with(P->count, windows_of_thread(M, P),
                           room * sizeof(int32_t), plan_range, &p))
        return NO_MEMORY;
    const int failed = atomic_load(&p.failed);
    for (int64_t i = 0; i < P->count && !failed; i++) {
        P->long_rows[i + 1] += P->long_rows[i];
        P->long_entries[i + 1] += P->long_entries[i];
    }
    P->blocks = atomic_load(&p.blocks);
    P->const_entries = atomic_load(&p.consts);
    P->entries = atomic_load(&p.entries);
    return failed;
}

static tacit_status allocate(tct_gpu_plan *P)
{
    const char *what = "the plan of the matrix in slices";
    P->reason = "no memory to plan it";
    TRY(TCT_ALLOC(P->count * GPU_WINDOW_SLICES, what, &P->slice));
    TRY(TCT_ALLOC(P->count * GPU_WINDOW, what, &P->order));
    TRY(TCT_ALLOC(P->count * GPU_WINDOW, what, &P->length));
    TRY(TCT_ALLOC(P->count + 1, what, &P->long_rows));
    TRY(TCT_ALLOC(P->count + 1, what, &P->long_entries));
    P->long_rows[0] = P->long_entries[0] = 0;
    P->reason = NULL;
    return TACIT_OK;
}

tacit_status tct_gpu_plan_make(tct_gpu_maker *M, tct_gpu_plan *P)
{
    const tct_gpu_wish *wish = &M->wish;
    const bool matters = tct_gpu_values_matter(wish);
    TRY(allocate(P));
    if (matters) find_values(M, P);
    if (wish->automatic) tct_gpu_set_store(M, tct_gpu_store_best(&P->values));
    const int failed = plan_windows(M, P);
    if (failed == TOO_WIDE) P->reason = "a row has more than 65535 blocks";
    if (failed == NO_MEMORY) P->reason = "no memory to plan it";
    if (failed)
        FAIL(failed == NO_MEMORY ? TACIT_NO_MEMORY : TACIT_UNSUPPORTED,
             "the matrix in slices: %s", P->reason);
    if (!matters) return TACIT_OK;
    const bool fewer = P->const_entries > 0 || P->long_rows[P->count] > 0;
    bool holds = tct_gpu_store_holds(M->store, wish->low, &P->values);
    if (fewer && !(holds && M->store == GPU_DICT8)) {
        collect_values(M, P, true); /* values outside of cells do not matter */
        if (wish->automatic)
            tct_gpu_set_store(M, tct_gpu_store_best(&P->values));
        holds = tct_gpu_store_holds(M->store, wish->low, &P->values);
    }
    if (holds) return TACIT_OK;
    P->reason = tct_gpu_store_reason(M->store, wish->low);
    FAIL(TACIT_UNSUPPORTED,
         "the matrix cannot be stored so: %s: try another store, as in "
         "FORMAT/f64, or none",
         P->reason);
}

void tct_gpu_plan_clear(tct_gpu_plan *P)
{
    TCT_FREE(P->slice, P->order, P->length, P->long_rows, P->long_entries);
    tct_value_set_close(&P->values);
}

double tct_gpu_plan_bytes(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    double bytes = 0.0;
    for (int64_t i = 0; i < P->count; i++) {
        const int slices =
            tct_window_slices(&M->slicing, tct_gpu_plan_window(P, i));
        for (int n = 0; n < slices; n++)
            bytes += tct_slice_cost(&M->slicing,
                                    &P->slice[GPU_WINDOW_SLICES * i + n]);
    }
    return bytes;
}

/* --- size ----------------------------------------------------------------- */

typedef struct {
    double rows, entries;
} tally;

typedef struct {
    const tct_local *A;
    int64_t first;
    atomic_int_fast64_t rows, entries;
} huge;

static void count_range(void *work, int64_t from, int64_t to)
{
    huge *h = work;
    int64_t rows = 0, entries = 0;
    for (int64_t i = h->first + from; i < h->first + to; i++) {
        const int64_t length = h->A->ptr[i + 1] - h->A->ptr[i];
        if (length <= GPU_LONG_ALWAYS) continue;
        rows++;
        entries += length;
    }
    atomic_fetch_add(&h->rows, rows);
    atomic_fetch_add(&h->entries, entries);
}

/* Rows of [first, last) so long that they are always kept apart: one can be
 * most of a matrix, and a sample misses it. */
static tally count_huge(const tct_gpu_maker *M, int64_t first, int64_t last)
{
    huge h = {.A = M->slicing.A, .first = first};
    if (M->slicing.b == 1) tct_parallel(last - first, 1 << 15, count_range, &h);
    return (tally){(double)atomic_load(&h.rows),
                   (double)atomic_load(&h.entries)};
}

static tally count_huge_of_plan(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    tally sum = {0.0, 0.0};
    if (P->long_rows[P->count] == 0) return sum;
    for (int64_t i = 0; i < P->count; i++) {
        const int64_t first = tct_gpu_plan_window(P, i) * GPU_WINDOW;
        const int64_t last = first + GPU_WINDOW;
        const tally one = count_huge(
            M, first, last < M->slicing.groups ? last : M->slicing.groups);
        sum.rows += one.rows;
        sum.entries += one.entries;
    }
    return sum;
}

static double long_bytes(double rows, double entries)
{
    return 32.0 * rows + 12.0 * entries;
}

/* Bytes of the whole matrix, from the plan of a sample. */
static double scaled_bytes(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    const tct_slicing *S = &M->slicing;
    const tally all = count_huge(M, 0, S->A->rows);
    const tally seen = count_huge_of_plan(M, P);
    const double rows = (double)P->long_rows[P->count] - seen.rows;
    const double entries = (double)P->long_entries[P->count] - seen.entries;
    const double some = (double)P->entries - seen.entries;
    double scale = P->count ? (double)S->windows / (double)P->count : 0.0;
    if (some > 0.0)
        scale = ((double)S->A->ptr[S->A->rows] - all.entries) / some;
    const bool dict = M->store == GPU_DICT8 || M->store == GPU_DICT16;
    return scale * (tct_gpu_plan_bytes(M, P) + long_bytes(rows, entries)) +
           long_bytes(all.rows, all.entries) +
           (dict ? 8.0 * (double)P->values.count : 0.0);
}

/* Windows of a sample. */
static int64_t samples_of(const tct_slicing *S)
{
    const int64_t entries = S->A->ptr[S->A->rows];
    const int64_t each = S->windows > 0 ? entries / S->windows : 0;
    const int64_t count = SAMPLE_ENTRIES / (each + 1);
    return count > SAMPLES         ? SAMPLES
           : count < SAMPLES_LEAST ? SAMPLES_LEAST
                                   : count;
}

/* Block row `i` of those that are looked at, one of each `step`, at random. */
static int64_t block_row(int64_t i, int64_t step, int64_t groups)
{
    const int64_t g =
        i * step + (int64_t)(tct_mix((uint64_t)i) % (uint64_t)step);
    return g < groups ? g : groups - 1;
}

/* Values of blocks per non-zero in some block rows; 0: unknown. */
static double sampled_fill(const tct_local *A, int b)
{
    const int64_t groups = A->rows / b;
    const int64_t step = (groups + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int64_t entries = 0, most = 0, blocks = 0;
    int32_t *col = NULL;
    for (int64_t i = 0; i * step < groups; i++) {
        const int64_t row = b * block_row(i, step, groups);
        const int64_t n = A->ptr[row + b] - A->ptr[row];
        entries += n;
        if (n > most) most = n;
    }
    if (entries == 0 || TCT_ALLOC(most, "a sample", &col) < 0) return 0.0;
    for (int64_t i = 0; i * step < groups; i++)
        blocks += tct_merge_rows(A, b, block_row(i, step, groups), col);
    tct_free(col);
    return (double)(blocks * b * b) / (double)entries;
}

double tct_gpu_slices_bytes(const tct_local *A, int b, tct_gpu_kinds kinds,
                            const char *store, const char **reason)
{
    tct_gpu_maker M;
    int64_t window[SAMPLES];
    const char *unused;
    if (!reason) reason = &unused;
    *reason = "no whole blocks";
    if (b > 1 && (A->ptr[A->rows] == 0 || A->rows % b || A->cols % b))
        return -1.0;
    *reason = "an unknown store of values";
    if (tct_gpu_maker_open(A, b, kinds, store, &M) < 0) return -1.0;
    *reason = not_dense;
    if (b > 1 && sampled_fill(A, b) > FILL_NEVER) return -1.0;
    M.known = A->values;
    const tct_slicing *S = &M.slicing;
    tct_gpu_plan P = {.window = window};
    const int64_t samples = samples_of(S);
    P.count = tct_slicing_sample(S, (S->windows + samples - 1) / samples, true,
                                 window);
    double bytes = -1.0;
    const tacit_status status = tct_gpu_plan_make(&M, &P);
    *reason = P.reason;
    if (status >= 0) {
        const double values = (double)P.blocks * b * b;
        const bool dense = b == 1 || values <= FILL_MOST * (double)P.entries;
        *reason = dense ? NULL : not_dense;
        if (dense) bytes = scaled_bytes(&M, &P);
    }
    tct_gpu_plan_clear(&P);
    return bytes;
}

static double packed_bytes(const tct_local *A, int b)
{
    return tct_gpu_slices_bytes(A, b, GPU_ANY_KIND, A->store, NULL);
}

int tct_gpu_best_block(const tct_local *A)
{
    tct_gpu_wish wish;
    if (tct_gpu_wish_read(A->store, 1, GPU_ANY_KIND, &wish) < 0) return 0;
    double least = wish.low ? -1.0 : packed_bytes(A, 1);
    return tct_gpu_fewer_bytes(A, &least);
}

int tct_gpu_fewer_bytes(const tct_local *A, double *bytes)
{
    return tct_best_block(A, bytes, packed_bytes);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_device.c - builds slices on a device: see
 * store_device.h. */
#include "operator/layout/store_device.h"
#include <stdlib.h>
#include <string.h>

static const char *const what = "the matrix in slices";

typedef struct {
    const tct_store_rows *R;
    tct_gpu_maker M;
    tct_gpu_plan P; /* on the host; its order and length are on the device */
    tct_store_work g;
    tct_store_state state; /* as read last */
    tct_gpu_slice *slice;  /* on the host */
    tct_gpu_arrays host;   /* arrays of rows kept apart on the host */
    char *scratch;         /* of the device */
} builder;

bool tct_store_takes(const char *store)
{
    tct_gpu_wish wish;
    return tct_gpu_wish_read(store, 1, GPU_ANY_KIND, &wish) >= 0 && !wish.low;
}

double tct_store_scratch(const tct_store_kernels *K, int64_t rows)
{
    const double slots = (double)(1 << K->bits);
    const double slices = (double)rows / GPU_LANES;
    return slices * (2.0 * sizeof(tct_slice) + 7.0 * GPU_LANES) + 10.0 * slots +
           8.0 * TCT_GPU_VALUES_MOST;
}

/* --- the device ----------------------------------------------------------- */

static tacit_status take(const builder *B, int64_t count, size_t size,
                         void *out)
{
    return B->R->kernels->take(B->R->q, (size_t)count * size, out);
}
#define TAKE(B, count, to) take(B, count, sizeof **(to), (void *)(to))

static tacit_status each(const builder *B, tct_store_task task, int64_t n)
{
    return n > 0 ? B->R->kernels->each(B->R->q, task, n, &B->g) : TACIT_OK;
}

static tacit_status get(const builder *B, void *to, const void *from,
                        int64_t count, size_t size)
{
    if (count == 0) return TACIT_OK;
    return B->R->kernels->get(B->R->q, to, from, (size_t)count * size);
}

static tacit_status put(const builder *B, void *to, const void *from,
                        int64_t count, size_t size)
{
    if (count == 0) return TACIT_OK;
    return B->R->kernels->put(B->R->q, to, from, (size_t)count * size);
}

static tacit_status read_state(builder *B)
{
    return get(B, &B->state, B->g.state, 1, sizeof B->state);
}

/* Slots of the table of values. */
static int64_t slots_of(const builder *B)
{
    return (int64_t)1 << B->g.bits;
}

/* --- values --------------------------------------------------------------- */

/* The values of all rows, or only of `cells`. */
static tacit_status collect(builder *B, bool cells)
{
    const tct_store_kernels *K = B->R->kernels;
    const int64_t pieces =
        (B->g.entries + TCT_STORE_PIECE - 1) / TCT_STORE_PIECE;
    tct_store_state fresh = B->state;
    tct_value_set *set = &B->P.values;
    fresh.values = fresh.no_float = 0;
    TRY(put(B, B->g.state, &fresh, 1, sizeof fresh));
    TRY(K->zero(B->R->q, B->g.key, (size_t)slots_of(B) * sizeof *B->g.key));
    TRY(cells ? each(B, TCT_STORE_cells, B->M.slicing.slices)
              : each(B, TCT_STORE_values, pieces));
    TRY(read_state(B));
    const int64_t count = B->state.values + 1; /* and +0 */
    set->most = TCT_GPU_VALUES_MOST;
    set->count = count <= set->most ? count : set->most + 1;
    set->floats = B->state.no_float == 0;
    set->looked = cells ? B->state.blocks - B->state.consts : B->g.entries;
    return TACIT_OK;
}

/* Memory for the table of values alone. */
static tacit_status take_table(builder *B)
{
    const tct_store_kernels *K = B->R->kernels;
    B->g.bits = K->bits;
    TRY(K->require(8.0 * (double)slots_of(B), "the values of the matrix"));
    TRY(TAKE(B, 1, &B->g.state));
    return TAKE(B, slots_of(B), &B->g.key);
}

tacit_status tct_store_count_values(const tct_store_rows *R, tct_value_set *out)
{
    builder B = {.R = R};
    B.g.val = R->val;
    B.g.entries = R->entries;
    tacit_status status = take_table(&B);
    if (status >= 0) status = collect(&B, false);
    R->kernels->give(R->q, B.g.state);
    R->kernels->give(R->q, B.g.key);
    const tct_value_set *set = &B.P.values;
    *out = (tct_value_set){.most = set->most,
                           .count = set->count,
                           .looked = set->looked,
                           .floats = set->floats};
    return status;
}

static void choose_store(builder *B)
{
    if (B->M.wish.automatic)
        tct_gpu_set_store(&B->M, tct_gpu_store_best(&B->P.values));
    B->g.slicing.cell = B->M.slicing.cell;
}

/* The store of the cells, once it is known which slices have some. */
static tacit_status settle_store(builder *B)
{
    const tct_gpu_wish *wish = &B->M.wish;
    if (!tct_gpu_values_matter(wish)) return TACIT_OK;
    const bool fewer = B->state.consts > 0 || B->state.long_rows > 0;
    bool holds = tct_gpu_store_holds(B->M.store, false, &B->P.values);
    if (fewer && !(holds && B->M.store == GPU_DICT8)) {
        TRY(collect(B, true)); /* values outside of cells do not matter */
        choose_store(B);
        holds = tct_gpu_store_holds(B->M.store, false, &B->P.values);
    }
    if (holds) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "the matrix cannot be stored so: %s: try another store, as in "
         "FORMAT/f64, or none",
         tct_gpu_store_reason(B->M.store, false));
}

static int by_bits(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* The dictionary, +0 first and then by bits, and the codes of values. */
static tacit_status number_values(builder *B)
{
    tct_store_work *g = &B->g;
    const int64_t n = B->P.values.count;
    double *dict = NULL, *there = NULL;
    TRY(each(B, TCT_STORE_list, slots_of(B) / GPU_LANES));
    TRY(TCT_ALLOC(n, what, &dict));
    dict[0] = 0.0;
    tacit_status status = get(B, dict + 1, g->list, n - 1, sizeof *dict);
    qsort(dict + 1, (size_t)n - 1, sizeof *dict, by_bits);
    if (status >= 0) status = TAKE(B, n, &there);
    g->a.dict = there;
    g->a.dict_count = n;
    if (status >= 0) status = put(B, there, dict, n, sizeof *dict);
    tct_free(dict);
    TRY(status);
    return each(B, TCT_STORE_number, slots_of(B) / GPU_LANES);
}

/* --- plan ----------------------------------------------------------------- */

/* The parts of one piece of memory, of multiples of 256 bytes. */
typedef struct {
    char *at;
    size_t bytes;
} piece;

static void *part(piece *p, int64_t count, size_t size)
{
    char *to = p->at ? p->at + p->bytes : NULL;
    p->bytes += ((size_t)count * size + 255) / 256 * 256;
    return to;
}

static size_t divide(builder *B, char *at)
{
    tct_store_work *g = &B->g;
    piece p = {.at = at};
    const int64_t windows = B->M.slicing.windows, slots = slots_of(B);
    const int64_t lanes = windows * GPU_WINDOW;
    const int64_t slices = windows * GPU_WINDOW_SLICES;
    g->state = part(&p, 1, sizeof *g->state);
    g->group_length = part(&p, lanes, sizeof *g->group_length);
    g->plan = part(&p, slices, sizeof *g->plan);
    g->sorted = part(&p, slices, sizeof *g->sorted);
    g->long_rows = part(&p, windows + 1, sizeof *g->long_rows);
    g->long_entries = part(&p, windows + 1, sizeof *g->long_entries);
    g->key = part(&p, slots, sizeof *g->key);
    g->code = part(&p, slots, sizeof *g->code);
    g->list = part(&p, TCT_GPU_VALUES_MOST, sizeof *g->list);
    return p.bytes;
}

static tacit_status take_scratch(builder *B)
{
    tct_store_work *g = &B->g;
    const int64_t lanes = B->M.slicing.windows * GPU_WINDOW;
    TRY(take(B, 1, divide(B, NULL), &B->scratch));
    divide(B, B->scratch);
    TRY(TAKE(B, lanes, &g->order));
    TRY(TAKE(B, lanes, &g->length));
    return B->R->kernels->zero(B->R->q, g->state, sizeof *g->state);
}

static void give_scratch(builder *B)
{
    const tct_store_kernels *K = B->R->kernels;
    K->give(B->R->q, B->scratch);
    K->give(B->R->q, B->g.order);
    K->give(B->R->q, B->g.length);
}

/* The rows kept apart before each window. */
static tacit_status sum_long_rows(builder *B)
{
    tct_gpu_plan *P = &B->P;
    const int64_t n = P->count;
    TRY(TCT_ALLOC(n + 1, what, &P->long_rows));
    TRY(TCT_ALLOC(n + 1, what, &P->long_entries));
    if (B->state.long_rows == 0) {
        memset(P->long_rows, 0, (size_t)(n + 1) * sizeof *P->long_rows);
        memset(P->long_entries, 0, (size_t)(n + 1) * sizeof *P->long_entries);
        return TACIT_OK;
    }
    TRY(get(B, P->long_rows, B->g.long_rows, n + 1, sizeof *P->long_rows));
    TRY(get(B, P->long_entries, B->g.long_entries, n + 1,
            sizeof *P->long_entries));
    P->long_rows[0] = P->long_entries[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        P->long_rows[i + 1] += P->long_rows[i];
        P->long_entries[i + 1] += P->long_entries[i];
    }
    TRY(put(B, B->g.long_rows, P->long_rows, n + 1, sizeof *P->long_rows));
    return put(B, B->g.long_entries, P->long_entries, n + 1,
               sizeof *P->long_entries);
}

static tacit_status plan(builder *B)
{
    tct_gpu_plan *P = &B->P;
    const tct_slicing *S = &B->M.slicing;
    if (tct_gpu_values_matter(&B->M.wish)) TRY(collect(B, false));
    choose_store(B);
    TRY(each(B, TCT_STORE_count, S->windows * GPU_WINDOW_SLICES));
    TRY(each(B, TCT_STORE_plan, S->windows));
    TRY(each(B, TCT_STORE_hash, (B->g.rows + GPU_LANES - 1) / GPU_LANES));
    TRY(read_state(B));
    if (B->state.too_wide)
        FAIL(TACIT_UNSUPPORTED,
             "the matrix in slices: a row has more than 65535 blocks");
    P->blocks = B->state.blocks;
    P->const_entries = B->state.consts;
    P->entries = B->g.entries;
    TRY(sum_long_rows(B));
    TRY(TCT_ALLOC(S->slices, what, &P->slice));
    TRY(get(B, P->slice, B->g.plan, S->slices, sizeof *P->slice));
    return settle_store(B);
}

/* --- arrays --------------------------------------------------------------- */

static tacit_status take_long_rows(builder *B)
{
    tct_store_work *g = &B->g;
    tct_gpu_arrays *a = &g->a;
    const int64_t n = a->long_rows, entries = B->P.long_entries[B->P.count];
    if (n == 0) return TACIT_OK;
    TRY(TAKE(B, n, &g->apart.row));
    a->long_row = g->apart.row;
    TRY(TAKE(B, n, &g->long_place));
    a->long_place = g->long_place;
    TRY(TAKE(B, n + 1, &g->apart.ptr));
    a->long_ptr = g->apart.ptr;
    TRY(TAKE(B, entries, &g->apart.col));
    a->long_col = g->apart.col;
    TRY(TAKE(B, entries, &g->apart.val));
    a->long_val = g->apart.val;
    return put(B, g->apart.ptr + n, &entries, 1, sizeof entries);
}

/* A copy on the device of an array of rows kept apart. */
static tacit_status bring(const builder *B, const void *from, int64_t count,
                          size_t size, void *out)
{
    void *p = NULL;
    TRY(take(B, count, size, &p));
    memcpy(out, &p, sizeof p);
    return put(B, p, from, count, size);
}

/* Rows, places and segments of rows kept apart; their entries. */
static tacit_status keep_apart(builder *B)
{
    tct_gpu_arrays *a = &B->g.a, *h = &B->host;
    int64_t *ptr = NULL;
    const int64_t n = h->long_rows = a->long_rows;
    if (n == 0) return TACIT_OK;
    TRY(each(B, TCT_STORE_long_rows, B->P.count));
    TRY(TCT_ALLOC(n + 1, what, &ptr));
    h->long_ptr = ptr;
    TRY(get(B, ptr, B->g.apart.ptr, n + 1, sizeof *ptr));
    TRY(tct_gpu_cut_long_rows(h));
    a->segments = h->segments;
    TRY(bring(B, h->segment_first, h->segments, sizeof *h->segment_first,
              &a->segment_first));
    TRY(bring(B, h->segment_count, h->segments, sizeof *h->segment_count,
              &a->segment_count));
    TRY(bring(B, h->long_segment, n + 1, sizeof *h->long_segment,
              &a->long_segment));
    return each(B, TCT_STORE_segment, a->segments);
}

static tacit_status lay_out(builder *B)
{
    tct_gpu_arrays *a = &B->g.a;
    TRY(TCT_ALLOC(a->slices, what, &B->slice));
    tct_gpu_lay_out(B->P.slice, B->slice, a);
    a->store = (int32_t)B->M.store;
    a->long_rows = B->P.long_rows[B->P.count];
    const int64_t cell = GPU_LANES * a->b * a->b;
    return B->R->kernels->require(
        (double)a->cells * (double)cell * tct_gpu_store_bytes(B->M.store) +
            (double)a->index_bytes + (double)a->slices * sizeof *B->slice +
            12.0 * (double)B->P.long_entries[B->P.count],
        what);
}

static tacit_status take_arrays(builder *B)
{
    tct_store_work *g = &B->g;
    tct_gpu_arrays *a = &g->a;
    const size_t size = (size_t)tct_gpu_value_bytes(B->M.store);
    TRY(TAKE(B, a->slices, &g->slice));
    a->slice = g->slice;
    TRY(put(B, g->slice, B->slice, a->slices, sizeof *g->slice));
    TRY(TAKE(B, a->index_bytes, &g->index));
    a->index = g->index;
    TRY(take(B, a->cells * a->b * a->b * GPU_LANES, size, &g->value));
    a->value = g->value;
    return take_long_rows(B);
}

/* The walk, once slices are joined. */
static tacit_status join(builder *B)
{
    tct_gpu_arrays *a = &B->g.a;
    a->walk = GPU_ANY;
    if (a->b == 1)
        TRY(each(B, TCT_STORE_join, (a->slices + GPU_LANES - 1) / GPU_LANES));
    TRY(read_state(B)); /* all tasks are done then */
    if (a->b == 1 && B->state.runs == a->slices)
        a->walk = 2 * B->state.joined > a->slices ? GPU_JOINED : GPU_RUNS;
    return TACIT_OK;
}

/* Keep the order and the lengths if the matrix needs them. */
static void hand_over(builder *B)
{
    tct_store_work *g = &B->g;
    const tct_slice *slice = B->P.slice;
    if (tct_gpu_plan_is_sorted(slice, g->a.slices)) {
        g->a.order = g->order;
        g->order = NULL;
    }
    if (tct_gpu_plan_is_ragged(slice, g->a.slices)) {
        g->a.length = g->length;
        g->length = NULL;
    }
}

static void give_arrays(const builder *B)
{
    tct_gpu_array all[TCT_GPU_ARRAYS];
    tct_gpu_list(&B->g.a, 0, all);
    for (int i = 0; i < TCT_GPU_ARRAYS; i++)
        B->R->kernels->give(B->R->q, (void *)(uintptr_t)all[i].p);
}

/* --- build ---------------------------------------------------------------- */

static tacit_status build(builder *B, tct_gpu_about *about)
{
    TRY(take_scratch(B));
    TRY(plan(B));
    TRY(lay_out(B));
    TRY(take_arrays(B));
    if (B->M.store == GPU_DICT8 || B->M.store == GPU_DICT16)
        TRY(number_values(B));
    TRY(each(B, TCT_STORE_fill, B->g.a.slices));
    TRY(keep_apart(B));
    TRY(join(B));
    tct_gpu_arrays told = B->g.a;
    told.long_ptr = B->host.long_ptr;
    tct_gpu_tell(&B->M, &B->P, &told, about);
    return TACIT_OK;
}

static void open(builder *B)
{
    const tct_store_rows *R = B->R;
    const tct_slicing *S = &B->M.slicing;
    B->P.count = S->windows;
    B->g = (tct_store_work){.rows = R->rows,
                            .cols = R->cols,
                            .entries = R->entries,
                            .ptr = R->ptr,
                            .col = R->col,
                            .val = R->val,
                            .bits = R->kernels->bits,
                            .slicing = *S,
                            .rules = *S->rules};
    B->g.a = (tct_gpu_arrays){.rows = R->rows,
                              .cols = R->cols,
                              .b = S->b,
                              .groups = S->groups,
                              .slices = S->slices};
}

/* Free what the host has of it. */
static void clear(builder *B)
{
    give_scratch(B);
    tct_free(B->slice);
    tct_gpu_slices_build_free(&B->host);
    tct_gpu_plan_clear(&B->P);
}

tacit_status tct_store_build(const tct_store_rows *R, int b,
                             tct_gpu_kinds kinds, const char *store,
                             tct_gpu_arrays *out, tct_gpu_about *about,
                             uint64_t *pattern)
{
    builder B = {.R = R};
    const tct_local shape = {.rows = R->rows, .cols = R->cols};
    *out = (tct_gpu_arrays){0};
    TRY(tct_gpu_maker_open(&shape, b, kinds, store, &B.M));
    if (B.M.wish.low)
        FAIL(TACIT_UNSUPPORTED, "reduced values are stored by the host");
    open(&B);
    const tacit_status status = build(&B, about);
    if (status >= 0) {
        hand_over(&B);
        *out = B.g.a;
        *pattern = tct_slice_hash(R->cols, (uint64_t)B.state.hash);
    } else {
        give_arrays(&B);
    }
    clear(&B);
    return status;
}

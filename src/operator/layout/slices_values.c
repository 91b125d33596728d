/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_values.c - stores of values on a GPU: which of them lose
 * nothing, and the tables of dictionaries. Values differ if their bits do, so
 * that -0 and +0 stay what they are. */
#include "operator/layout/slices_build.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 1024, DICT8_MOST = 256 };

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* --- names -------------------------------------------------------------------- */

tacit_status tct_gpu_wish_read(const char *store, int b, tct_gpu_kinds kinds,
                               tct_gpu_wish *out)
{
    static const struct {
        const char *name;
        tct_gpu_wish wish;
    } stores[] = {
        {"auto", {.automatic = true, .consts = true, .store = GPU_F64}},
        {"f64", {.store = GPU_F64}},
        {"f32", {.consts = true, .store = GPU_F32}},
        {"dict8", {.consts = true, .store = GPU_DICT8}},
        {"dict16", {.consts = true, .store = GPU_DICT16}},
        {"low32", {.low = true, .store = GPU_F32}},
        {"low48", {.low = true, .store = GPU_F48}},
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (strcmp(store ? store : "auto", stores[i].name) == 0) {
            *out = stores[i].wish;
            out->consts = out->consts && b == 1 && kinds == GPU_ANY_KIND;
            return TACIT_OK;
        }
    FAIL(TACIT_UNSUPPORTED,
         "unknown store of values '%s': auto, f64, f32, dict8, dict16, low32 "
         "or low48",
         store);
}

int tct_gpu_store_bytes(tct_gpu_store store)
{
    return tct_gpu_value_bytes(store) +
           (store == GPU_F48 ? (int)sizeof(uint16_t) : 0);
}

bool tct_gpu_store_holds(tct_gpu_store store, bool low,
                         const tct_gpu_values *set)
{
    switch (store) {
    case GPU_F32: return low ? set->in_range : set->floats;
    case GPU_DICT8: return set->count <= DICT8_MOST;
    case GPU_DICT16: return set->count <= TCT_GPU_VALUES_MOST;
    case GPU_F64:
    case GPU_F48: break;
    }
    return true;
}

const char *tct_gpu_store_reason(tct_gpu_store store, bool low)
{
    if (store == GPU_DICT8) return "there are more than 256 different values";
    if (store == GPU_DICT16)
        return "there are more than 65536 different values";
    return low ? "a value is too large for a float"
               : "not all values are exactly floats";
}

tct_gpu_store tct_gpu_store_best(const tct_gpu_values *set)
{
    if (set->count <= DICT8_MOST) return GPU_DICT8;
    if (set->floats) return GPU_F32;
    /* the table itself is read, too */
    if (set->count <= TCT_GPU_VALUES_MOST && set->looked > 8 * set->count)
        return GPU_DICT16;
    return GPU_F64;
}

uint64_t tct_gpu_round48(double v)
{
    const uint64_t bits = bits_of(v), exponent = UINT64_C(0x7ff) << 52;
    if (isnan(v)) return bits >> 16 | UINT64_C(1) << 35;
    const uint64_t near = bits + 0x7fff + (bits >> 16 & 1); /* ties to even */
    return ((near & exponent) == exponent ? bits : near) >> 16;
}

/* --- sets ----------------------------------------------------------------------- */

void tct_gpu_values_open(tct_gpu_values *set)
{
    *set = (tct_gpu_values){.count = 1, .floats = true, .in_range = true};
    set->key = tct_calloc(SLOTS_FIRST * sizeof *set->key);
    if (set->key) set->slots = SLOTS_FIRST;
    else set->count = TCT_GPU_VALUES_MOST + 1;
}

void tct_gpu_values_close(tct_gpu_values *set)
{
    tct_free(set->key);
    tct_free(set->code);
    set->key = NULL;
    set->code = NULL;
}

/* Where `bits` are or belong. */
static int64_t slot_of(const tct_gpu_values *set, uint64_t bits)
{
    const int64_t mask = set->slots - 1;
    int64_t at = (int64_t)(tct_mix(bits) & (uint64_t)mask);
    while (set->key[at] != 0 && set->key[at] != bits) at = (at + 1) & mask;
    return at;
}

/* Four times the slots; without memory for that there are too many values. */
static void grow(tct_gpu_values *set)
{
    tct_gpu_values more = *set;
    more.slots = 4 * set->slots;
    more.key = tct_calloc((size_t)more.slots * sizeof *more.key);
    if (!more.key) {
        set->count = TCT_GPU_VALUES_MOST + 1;
        return;
    }
    for (int64_t i = 0; i < set->slots; i++)
        if (set->key[i]) more.key[slot_of(&more, set->key[i])] = set->key[i];
    tct_free(set->key);
    *set = more;
}

static void add(tct_gpu_values *set, uint64_t bits)
{
    if (bits == 0) return;
    const int64_t at = slot_of(set, bits);
    if (set->key[at] == bits) return;
    if (++set->count > TCT_GPU_VALUES_MOST) return;
    set->key[at] = bits;
    if (2 * set->count > set->slots) grow(set);
}

void tct_gpu_values_look(tct_gpu_values *set, const double *val, int64_t n)
{
    uint64_t last = 0;
    set->looked += n;
    for (int64_t k = 0; k < n; k++) {
        const uint64_t bits = bits_of(val[k]);
        if (bits == last) continue;
        last = bits;
        /* no cast of what is out of range: that is undefined */
        const bool finite = isfinite(val[k]);
        const bool fits = !finite || fabs(val[k]) < 0x1.ffffffp127;
        set->in_range = set->in_range && fits;
        set->floats =
            set->floats && fits && bits_of((double)(float)val[k]) == bits;
        if (set->count <= TCT_GPU_VALUES_MOST) add(set, bits);
    }
}

void tct_gpu_values_join(tct_gpu_values *into, const tct_gpu_values *from)
{
    into->looked += from->looked;
    into->floats = into->floats && from->floats;
    into->in_range = into->in_range && from->in_range;
    if (from->count > TCT_GPU_VALUES_MOST) into->count = from->count;
    for (int64_t i = 0; i < from->slots; i++)
        if (from->key[i] && into->count <= TCT_GPU_VALUES_MOST)
            add(into, from->key[i]);
}

/* --- numbers -------------------------------------------------------------------- */

static int by_bits(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

tacit_status tct_gpu_values_number(tct_gpu_values *set, double **dict)
{
    uint64_t *sorted = NULL;
    int64_t n = 1;
    TRY(TCT_ALLOC(set->count, "a dictionary of values", &sorted));
    sorted[0] = 0;
    for (int64_t i = 0; i < set->slots; i++)
        if (set->key[i]) sorted[n++] = set->key[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_bits);
    tacit_status status =
        TCT_ALLOC(set->slots, "a dictionary of values", &set->code);
    if (status >= 0) status = TCT_ALLOC(n, "a dictionary of values", dict);
    for (int64_t c = 0; c < n && status >= 0; c++) {
        memcpy(*dict + c, sorted + c, sizeof **dict);
        if (c > 0) set->code[slot_of(set, sorted[c])] = (uint16_t)c;
    }
    tct_free(sorted);
    return status;
}

uint16_t tct_gpu_values_code(const tct_gpu_values *set, double v)
{
    const uint64_t bits = bits_of(v);
    return bits == 0 ? 0 : set->code[slot_of(set, bits)];
}

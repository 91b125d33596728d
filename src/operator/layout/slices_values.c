/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_values.c - stores of values on a GPU, and which of
 * them are lossless. */
#include "operator/layout/slices_build.h"
#include <math.h>
#include <string.h>

enum { DICT8_MOST = 256 };

/* --- names ---------------------------------------------------------------- */

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
                         const tct_value_set *set)
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

tct_gpu_store tct_gpu_store_best(const tct_value_set *set)
{
    if (set->count <= DICT8_MOST) return GPU_DICT8;
    if (set->floats) return GPU_F32;
    /* the table is read, too */
    if (set->count <= TCT_GPU_VALUES_MOST && set->looked > 8 * set->count)
        return GPU_DICT16;
    return GPU_F64;
}

uint64_t tct_gpu_round48(double v)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v)) return bits >> 16 | UINT64_C(1) << 35;
    const uint64_t near = bits + 0x7fff + (bits >> 16 & 1); /* ties to even */
    return ((near & exponent) == exponent ? bits : near) >> 16;
}

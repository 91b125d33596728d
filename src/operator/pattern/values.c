/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/values.c - the smallest store for values that loses nothing: how
 * many distinct ones are there, and is each exactly a float? Values are
 * distinct if their bits are, so that -0 and 0 stay what they are. */
#include "operator/host/slices_build.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = TCT_VALUE_SLOTS,
    SHARED_FROM = 1 << 19 /* values: fewer are looked at by one thread */
};

typedef struct { /* a hash table of bits */
    uint64_t key[SLOTS];
    bool taken[SLOTS];
    int count; /* DICT_MOST + 1: too many */
} value_set;

static void add(value_set *set, uint64_t bits)
{
    size_t at = tct_value_slot(bits);
    for (; set->taken[at]; at = (at + 1) % SLOTS)
        if (set->key[at] == bits) return;
    if (++set->count > DICT_MOST) return;
    set->key[at] = bits;
    set->taken[at] = true;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Go on with values [from, to) as long as they may be few, or floats. */
static void look(const double *val, int64_t from, int64_t to, value_set *set,
                 bool *floats)
{
    uint64_t last = 0;
    for (int64_t k = from; k < to && (set->count <= DICT_MOST || *floats);
         k++) {
        const uint64_t bits = bits_of(val[k]);
        *floats = *floats && bits_of((double)(float)val[k]) == bits;
        if (k > from && bits == last) continue;
        last = bits;
        if (set->count <= DICT_MOST) add(set, bits);
    }
}

static void merge(value_set *into, const value_set *from)
{
    if (from->count > DICT_MOST) into->count = from->count;
    for (int i = 0; i < SLOTS && into->count <= DICT_MOST; i++)
        if (from->taken[i]) add(into, from->key[i]);
}

static int by_bits(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Number the values by their bits: 0 gets code 0 if it is there. */
static void number(const value_set *set, tct_values *out)
{
    uint64_t keys[DICT_MOST];
    int n = 0;
    for (int i = 0; i < SLOTS; i++) {
        out->code[i] = -1;
        if (set->taken[i]) keys[n++] = set->key[i];
    }
    qsort(keys, (size_t)n, sizeof *keys, by_bits);
    memcpy(out->dict, keys, (size_t)n * sizeof *keys);
    for (int c = 0; c < n; c++) {
        size_t at = tct_value_slot(keys[c]);
        while (out->code[at] >= 0) at = (at + 1) % SLOTS;
        out->key[at] = keys[c];
        out->code[at] = (int16_t)c;
    }
    out->kind = n <= 16 ? VALUE_DICT16 : n <= 32 ? VALUE_DICT32 : VALUE_DICT;
}

typedef struct {
    const double *val;
    int64_t nonzeros, shares;
    pthread_mutex_t lock; /* of what has been found: */
    value_set all;
    bool floats;
} survey;

static void look_at_share(void *work, int64_t share)
{
    survey *s = work;
    value_set mine = {.count = 0};
    bool floats = true;
    look(s->val, s->nonzeros / s->shares * share,
         share + 1 < s->shares ? s->nonzeros / s->shares * (share + 1)
                               : s->nonzeros,
         &mine, &floats);
    pthread_mutex_lock(&s->lock);
    merge(&s->all, &mine);
    s->floats = s->floats && floats;
    pthread_mutex_unlock(&s->lock);
}

void tct_values_look(const double *val, int64_t nonzeros, int b, tct_team *team,
                     tct_values *out)
{
    const int threads = tct_team_size(team);
    survey s = {.val = val,
                .nonzeros = nonzeros,
                .shares = nonzeros > SHARED_FROM ? threads : 1,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .all = {.count = 0},
                .floats = true};
    *out = (tct_values){.kind = VALUE_F64};
    if (b > 1) add(&s.all, bits_of(0.0));
    tct_team_run(team, threads, s.shares, NULL, look_at_share, &s);
    if (s.all.count <= DICT_MOST) number(&s.all, out);
    if (s.floats && (s.all.count > 32 || nonzeros == 0)) out->kind = VALUE_F32;
}

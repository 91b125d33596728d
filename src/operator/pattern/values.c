/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/values.c - sets of values: see values.h. */
#include "operator/pattern/values.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_FROM = 1 << 19 }; /* values: fewer are read by one thread */

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void tct_value_set_open(tct_value_set *set, int64_t most, bool range)
{
    *set = (tct_value_set){
        .most = most, .floats = true, .in_range = range, .bits = 10};
    set->key = set->few_keys;
    set->code = set->few_codes;
    _Static_assert(TCT_VALUE_SLOTS == 1 << 10, "bits");
}

void tct_value_set_close(tct_value_set *set)
{
    if (set->key != set->few_keys) tct_free(set->key);
    if (set->code != set->few_codes) tct_free(set->code);
    set->key = NULL;
    set->code = NULL;
}

/* The slot of `bits`, not 0, in a table of 2^size slots. */
static size_t slot_of(const uint64_t *key, int size, uint64_t bits)
{
    const size_t mask = ((size_t)1 << size) - 1;
    size_t at = tct_value_slot(bits, size);
    while (key[at] != 0 && key[at] != bits) at = (at + 1) & mask;
    return at;
}

/* Four times the slots; without memory there are "too many" values. */
static void grow(tct_value_set *set)
{
    const int bits = set->bits + 2;
    uint64_t *more = tct_calloc(sizeof *more << bits);
    if (!more) {
        set->count = set->most + 1;
        return;
    }
    for (size_t i = 0; i < (size_t)1 << set->bits; i++)
        if (set->key[i]) more[slot_of(more, bits, set->key[i])] = set->key[i];
    if (set->key != set->few_keys) tct_free(set->key);
    set->key = more;
    set->bits = bits;
}

static void add(tct_value_set *set, uint64_t bits)
{
    if (bits == 0) {
        tct_value_set_zero(set);
        return;
    }
    uint64_t *key = &set->key[slot_of(set->key, set->bits, bits)];
    if (*key == bits || ++set->count > set->most) return;
    *key = bits;
    if (2 * set->count > (int64_t)1 << set->bits) grow(set);
}

void tct_value_set_zero(tct_value_set *set)
{
    if (!set->zero && set->count <= set->most) set->count++;
    set->zero = true;
}

/* Checks the range before the cast, which is undefined out of range. */
static bool fits_float(double v)
{
    return !isfinite(v) || fabs(v) < 0x1.ffffffp127;
}

/* The first of `val` [k, n) that is not at the first slot for it, where nearly
 * all are if they are few; else n. */
static int64_t pass_known(const tct_value_set *set, const double *val,
                          int64_t k, int64_t n)
{
    const uint64_t *key = set->key;
    const int size = set->bits;
    const bool zero = set->zero;
    for (; k < n; k++) {
        const uint64_t bits = bits_of(val[k]);
        const bool equal = key[tct_value_slot(bits, size)] == bits;
        if (!(equal & (zero | (bits != 0)))) return k;
    }
    return n;
}

static bool asks(const tct_value_set *set)
{
    return set->count <= set->most || set->floats || set->in_range;
}

void tct_value_set_look(tct_value_set *set, const double *val, int64_t n)
{
    set->looked += n;
    for (int64_t k = 0; k < n && asks(set); k++) {
        if (set->count <= set->most) k = pass_known(set, val, k, n);
        if (k == n) return;
        const uint64_t bits = bits_of(val[k]);
        if (set->floats) set->floats = tct_value_is_float(bits);
        if (set->in_range) set->in_range = fits_float(val[k]);
        if (set->count <= set->most) add(set, bits);
    }
}

void tct_value_set_join(tct_value_set *into, const tct_value_set *from)
{
    into->looked += from->looked;
    into->floats = into->floats && from->floats;
    into->in_range = into->in_range && from->in_range;
    if (from->zero) tct_value_set_zero(into);
    if (from->count > from->most) into->count = into->most + 1;
    for (size_t i = 0; i < (size_t)1 << from->bits; i++)
        if (from->key[i] && into->count <= into->most) add(into, from->key[i]);
}

/* --- on several threads --------------------------------------------------- */

typedef struct {
    const double *val;
    int64_t count, shares;
    bool range;
    pthread_mutex_t lock; /* of */
    tct_value_set *all;
} survey;

static void look_at_share(void *work, int64_t share)
{
    survey *s = work;
    const int64_t each = s->count / s->shares, from = each * share;
    const int64_t to = share + 1 < s->shares ? from + each : s->count;
    tct_value_set mine;
    tct_value_set_open(&mine, s->all->most, s->range);
    tct_value_set_look(&mine, s->val + from, to - from);
    pthread_mutex_lock(&s->lock);
    tct_value_set_join(s->all, &mine);
    pthread_mutex_unlock(&s->lock);
    tct_value_set_close(&mine);
}

void tct_value_set_share(tct_value_set *set, const double *val, int64_t n,
                         tct_team *team)
{
    const int threads = tct_team_size(team);
    survey s = {.val = val,
                .count = n,
                .shares = n > SHARED_FROM ? threads : 1,
                .range = set->in_range,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .all = set};
    tct_team_run(team, threads, s.shares, NULL, look_at_share, &s);
}

/* --- numbers -------------------------------------------------------------- */

static int by_bits(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

tacit_status tct_value_set_number(tct_value_set *set, double *dict)
{
    int64_t n = 0;
    if (set->key != set->few_keys)
        TRY(TCT_ALLOC((int64_t)1 << set->bits, "a dictionary of values",
                      &set->code));
    if (set->zero) dict[n++] = 0.0;
    for (size_t i = 0; i < (size_t)1 << set->bits; i++)
        if (set->key[i]) memcpy(&dict[n++], &set->key[i], sizeof *dict);
    qsort(dict, (size_t)n, sizeof *dict, by_bits);
    for (int64_t c = set->zero; c < n; c++)
        set->code[slot_of(set->key, set->bits, bits_of(dict[c]))] = (uint16_t)c;
    return TACIT_OK;
}

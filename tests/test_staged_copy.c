/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_staged_copy.c - copies through a ring of pieces to a device whose
 * copies are late: each happens only when its piece is waited for. */
#include "device/staged_copy.h"
#include "gallery_check.h"

typedef struct {
    struct {
        void *to;
        const void *from;
        size_t bytes;
    } sent[TCT_STAGED_PIECES];
    int pinned, sends;
    int fail_at; /* the send that fails; 0: none */
} late;

static tacit_status pin(void *state, size_t bytes, void *out)
{
    late *d = state;
    char *p = malloc(bytes);
    assert_non_null(p);
    memset(p, 0x5a, bytes);
    memcpy(out, &p, sizeof p);
    d->pinned++;
    return TACIT_OK;
}

static void unpin(void *state, void *p)
{
    late *d = state;
    d->pinned--;
    free(p);
}

static tacit_status do_send(void *state, int piece, void *to, const void *from,
                            size_t bytes)
{
    late *d = state;
    if (++d->sends == d->fail_at)
        return tacit_error_set(TACIT_DEVICE, "no copy");
    assert_null(d->sent[piece].to); /* else it was filled too early */
    d->sent[piece].to = to;
    d->sent[piece].from = from;
    d->sent[piece].bytes = bytes;
    return TACIT_OK;
}

static tacit_status do_wait(void *state, int piece)
{
    late *d = state;
    if (d->sent[piece].to)
        memcpy(d->sent[piece].to, d->sent[piece].from, d->sent[piece].bytes);
    d->sent[piece].to = NULL;
    return TACIT_OK;
}

static tct_staged_device device_of(late *d)
{
    return (tct_staged_device){d, pin, unpin, do_send, do_wait};
}

/* Copy bytes and numbers of some length, in a ring for the longer. */
static void check(tct_team *team, size_t bytes, int64_t count, int64_t first)
{
    late d = {.pinned = 0};
    const tct_staged_device device = device_of(&d);
    const size_t narrow = (size_t)count * sizeof(int32_t);
    char *from = malloc(bytes + 1), *to = malloc(bytes + 1);
    int64_t *wide = malloc((size_t)count * sizeof *wide + 1);
    int32_t *number = malloc(narrow + 1);
    tct_staged s;
    assert_true(from && to && wide && number);
    for (size_t k = 0; k < bytes; k++) from[k] = (char)tct_mix(k);
    for (int64_t k = 0; k < count; k++) wide[k] = first + (7 * k) % 1000003;
    assert_int_equal(
        tct_staged_open(&device, team, bytes > narrow ? bytes : narrow, &s),
        TACIT_OK);
    assert_int_equal(tct_staged_copy(&s, to, from, bytes), TACIT_OK);
    assert_int_equal(tct_staged_narrow(&s, number, wide, count, first),
                     TACIT_OK);
    assert_int_equal(tct_staged_close(&s), TACIT_OK);
    assert_memory_equal(to, from, bytes);
    for (int64_t k = 0; k < count; k++)
        assert_int_equal(number[k], (7 * k) % 1000003);
    assert_int_equal(d.pinned, 0);
    free(from);
    free(to);
    free(wide);
    free(number);
}

static void everything_arrives(void **state)
{
    const size_t piece = TCT_STAGED_BYTES;
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        tct_team *team = NULL;
        assert_int_equal(tct_team_create(threads, &team), TACIT_OK);
        check(team, 0, 0, 0);
        check(team, 1, 3, INT64_C(1) << 40);
        check(team, 5 * piece + 17, (int64_t)piece / 4 * 5 + 3, 12345);
        check(team, 8 * piece, 1, -5);
        tct_team_destroy(&team);
    }
}

static void failures_end_the_copy(void **state)
{
    char *from = calloc(9, TCT_STAGED_BYTES), *to = calloc(9, TCT_STAGED_BYTES);
    (void)state;
    assert_true(from && to);
    for (int n = 1; n <= 9; n++) {
        late d = {.fail_at = n};
        const tct_staged_device device = device_of(&d);
        const size_t bytes = (size_t)9 * TCT_STAGED_BYTES;
        tct_staged s;
        assert_int_equal(tct_staged_open(&device, NULL, bytes, &s), TACIT_OK);
        assert_int_equal(tct_staged_copy(&s, to, from, bytes), TACIT_DEVICE);
        assert_int_equal(d.sends, n);
        assert_int_equal(tct_staged_close(&s), TACIT_OK);
        assert_int_equal(d.pinned, 0);
    }
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives),
        cmocka_unit_test(failures_end_the_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_channel.c - channels of bytes between GPUs: windows in memory
 * of the receiver's GPU, kernels that carry one message each.
 *
 * LABEL: gpu
 * RUN: np=2,3
 * PROCESSES: 2 */
#include "comm/channel/channel.h"
#include "comm/link/gpu/peer.h"
#include "gpu.h"

enum { STARTS = 10000, SEVEN = 7 };

static int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static int size_of(void)
{
    return tacit_world_size(test_world());
}

/* A queue with link peer; NULL: not here, as it has said. */
static tacit_queue *open_peers(void)
{
    tacit_queue *q = NULL;
    const tacit_status status =
        tacit_queue_create(test_world(), "cuda@peer", 1, &q);
    if (status == TACIT_OK) {
        assert_null(tct_peer_why_not(q));
        return q;
    }
    EXPECT(TACIT_UNSUPPORTED, status);
    print_message("%s\n", tacit_error_message());
    return NULL;
}

/* Words of which each byte tells message and place. */
static double *words_of(int64_t count, int seed)
{
    double *x = host_vector((size_t)count, 0.0);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = tct_mix((uint64_t)seed * 1000003 + (uint64_t)i);
        memcpy(&x[i], &bits, sizeof bits);
    }
    return x;
}

/* From rank 0 to the last one: message e is 7 of the bytes of word e. */
static void one_channel_is_started_alone(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    tct_channel c[] = {{.peer = last, .sends = true, .bytes = SEVEN},
                       {.peer = 0, .bytes = SEVEN}};
    tct_channels *set = NULL;
    tacit_queue *q = open_peers();
    if (!q) skip();
    double *want = words_of(STARTS, 1);
    double *from = device_vector(q, STARTS, want);
    double *to = poisoned_vector(q, STARTS), *before = host_copy(q, STARTS, to);
    OK(tct_channels_match(tct_peer_medium(q), TACIT_OK,
                          (rank_of() == 0) + (rank_of() == last),
                          rank_of() == 0 ? c : c + 1, &set));
    for (int e = 0; e < STARTS; e++) {
        if (rank_of() == 0) {
            OK(tct_channel_start(&c[0], from + e, SEVEN));
            OK(tct_channel_end(&c[0]));
        }
        if (rank_of() == last) {
            OK(tct_channel_start(&c[1], to + e, SEVEN));
            OK(tct_channel_end(&c[1]));
        }
    }
    double *got = host_copy(q, STARTS, to);
    for (int e = 0; e < STARTS && rank_of() == last; e++) {
        const char *a = (const char *)&got[e], *b = (const char *)&want[e];
        if (memcmp(a, b, SEVEN) != 0) fail_msg("message %d is wrong", e + 1);
        assert_int_equal(a[SEVEN], ((const char *)&before[e])[SEVEN]);
    }
    OK(tct_agree(test_world(), q_status(q)));
    tct_channels_free(&set);
    tacit_queue_free(q, &from);
    tacit_queue_free(q, &to);
    tacit_queue_destroy(&q);
    free(want);
    free(got);
    free(before);
}

/* --- many ----------------------------------------------------------------- */

enum { MANY = 9, ROUNDS = 40, LONGEST = 9000 };

/* Bytes of channel k; those of some are words. */
static int64_t bytes_of(int k)
{
    return (k % 3 == 0 ? 8 : 1) * (1 + k * k * 113 % 1000);
}

/* Each rank has channels to itself and to the next one. Data of channel k are
 * at byte k of a word, so that they are words only for k = 0 and 8. */
static void many_channels_are_kept_apart(void **state)
{
    (void)state;
    const int n = size_of(), rank = rank_of();
    const int next = (rank + 1) % n, before = (rank + n - 1) % n;
    const int64_t words = LONGEST / 8;
    tct_channel c[4 * MANY];
    tct_channels *set = NULL;
    tacit_queue *q = open_peers();
    if (!q) skip();
    for (int k = 0; k < MANY; k++)
        for (int self = 0; self < 2; self++) {
            tct_channel *at = &c[4 * k + 2 * self];
            at[0] = (tct_channel){.peer = self ? rank : next,
                                  .tag = self,
                                  .sends = true,
                                  .bytes = bytes_of(k)};
            at[1] = (tct_channel){.peer = self ? rank : before,
                                  .tag = self,
                                  .bytes = bytes_of(k)};
        }
    OK(tct_channels_match(tct_peer_medium(q), TACIT_OK, 4 * MANY, c, &set));
    for (int e = 0; e < ROUNDS; e++) {
        double *mine = words_of(words, 100 * e + rank);
        double *theirs = words_of(words, 100 * e + before);
        double *from = device_vector(q, (size_t)words, mine);
        double *to = poisoned_vector(q, (size_t)words);
        for (int i = 0; i < 2 * MANY; i++) {
            const int k = (i + e) % MANY, self = i / MANY;
            tct_channel *at = &c[4 * k + 2 * self];
            OK(tct_channel_start(&at[0], (char *)from + k, bytes_of(k)));
            OK(tct_channel_start(&at[1], (char *)to + k, bytes_of(k)));
            OK(tct_channel_end(&at[0]));
            OK(tct_channel_end(&at[1]));
            double *got = host_copy(q, (size_t)words, to);
            if (memcmp((char *)got + k, (char *)(self ? mine : theirs) + k,
                       (size_t)bytes_of(k)) != 0)
                fail_msg("round %d, channel %d: wrong bytes", e, k);
            free(got);
        }
        OK(q_status(q));
        tacit_queue_free(q, &from);
        tacit_queue_free(q, &to);
        free(mine);
        free(theirs);
    }
    OK(tct_agree(test_world(), q_status(q)));
    tct_channels_free(&set);
    tacit_queue_destroy(&q);
}

/* --- what is refused, and who is lost ------------------------------------- */

static void ends_that_differ_are_refused(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    tct_channel c[] = {{.peer = last, .sends = true, .bytes = SEVEN},
                       {.peer = 0, .bytes = 8}};
    tct_channels *set = NULL;
    char word[64];
    tacit_queue *q = open_peers();
    if (!q) skip();
    EXPECT(TACIT_INVALID,
           tct_channels_match(tct_peer_medium(q), TACIT_OK,
                              (rank_of() == 0) + (rank_of() == last),
                              rank_of() == 0 ? c : c + 1, &set));
    assert_null(set);
    snprintf(word, sizeof word, "rank %d, which receives 8 bytes", last);
    assert_non_null(strstr(tacit_error_message(), "rank 0 sends 7 bytes"));
    assert_non_null(strstr(tacit_error_message(), word));
    tacit_queue_destroy(&q);
}

/* Rank 0 sends nothing: the queue of the last rank fails, and names it. */
static void the_lost_rank_is_named(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    tct_channel c[] = {{.peer = last, .sends = true, .bytes = SEVEN},
                       {.peer = 0, .bytes = SEVEN}};
    tct_channels *set = NULL;
    tacit_queue *q = open_peers();
    if (!q) skip();
    double *to = poisoned_vector(q, 1);
    OK(tct_channels_match(tct_peer_medium(q), TACIT_OK,
                          (rank_of() == 0) + (rank_of() == last),
                          rank_of() == 0 ? c : c + 1, &set));
    q->peer_seconds = 0.3;
    const double start = tct_seconds();
    if (rank_of() == last) {
        OK(tct_channel_start(&c[1], to, SEVEN));
        OK(tct_channel_end(&c[1]));
        q->device->sync(q);
        EXPECT(TACIT_COMM, q_status(q));
        assert_non_null(
            strstr(tacit_error_message(), "rank 0 has not answered"));
        assert_true(tct_seconds() - start >= 0.3);
    }
    while (tct_seconds() - start < 1.0) usleep(10000);
    tct_channels_free(&set);
    tacit_queue_free(q, &to);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_channel_is_started_alone),
        cmocka_unit_test(many_channels_are_kept_apart),
        cmocka_unit_test(ends_that_differ_are_refused),
        cmocka_unit_test(the_lost_rank_is_named), /* the world ends with it */
    };
    TEST_GPU_MAIN(tests);
}

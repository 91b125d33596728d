/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_channel.c - channels of bytes between ranks that share memory:
 * each is matched once and started by its two ends alone. Ends that do not
 * match, and starts out of order, are refused with the words of both ends.
 *
 * RUN: np=1,2,3,4
 * THREADS: 1,2,3,4
 * PROCESSES: 2,3,4 */
#include "comm/channel/channel.h"
#include "mpi_main.h"
#include "said.h"
#include "silence.h"

enum { STARTS = 10000, SEVEN = 7 };

/* Memory that the ranks of a world share, for channels. */
typedef struct {
    tct_shared *memory;
    tct_waits waits;
    tct_medium medium;
} host;

static void open_host(host *h, tacit_world *w)
{
    OK(tct_shared_create(w, tct_waits_bytes(w->size), &h->memory));
    OK(tct_waits_open(w, h->memory, 0, &h->waits));
    h->waits.limit = 60.0;
    h->waits.checks = 100;
    h->medium = tct_medium_host(&h->waits);
}

static void close_host(host *h)
{
    tct_waits_close(&h->waits);
    tct_shared_destroy(&h->memory);
}

static int rank_of(void)
{
    return tacit_world_rank(test_world());
}
static int size_of(void)
{
    return tacit_world_size(test_world());
}

/* --- messages ------------------------------------------------------------- */

static unsigned char byte_of(int from, int channel, uint64_t number, int64_t i)
{
    const uint64_t all = (uint64_t)(from * 131 + channel) << 40 | number << 8;
    return (unsigned char)tct_mix(all | (uint64_t)i);
}

static void send(tct_channel *c, int channel, uint64_t number)
{
    unsigned char data[64];
    for (int64_t i = 0; i < c->bytes; i++)
        data[i] = byte_of(rank_of(), channel, number, i);
    OK(tct_channel_start(c, data, c->bytes));
    OK(tct_channel_end(c));
    memset(data, 0xff, sizeof data);
}

static void receive(tct_channel *c, int channel, uint64_t number)
{
    unsigned char data[64];
    memset(data, 0xee, sizeof data);
    OK(tct_channel_start(c, data, c->bytes));
    OK(tct_channel_end(c));
    for (int64_t i = 0; i < c->bytes; i++)
        if (data[i] != byte_of(c->peer, channel, number, i))
            fail_msg("message %d of channel %d from rank %d: byte %d is wrong",
                     (int)number, channel, c->peer, (int)i);
    for (size_t i = (size_t)c->bytes; i < sizeof data; i++)
        assert_int_equal(data[i], 0xee); /* nothing behind it */
}

/* From rank 0 to the last one; all others have no end. Matched again, the
 * channel begins anew. */
static void one_channel_is_started_alone(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    host h;
    open_host(&h, test_world());
    tct_channel c[2] = {{.peer = last, .sends = true, .bytes = SEVEN},
                        {.peer = 0, .bytes = SEVEN}};
    for (int again = 0; again < 2; again++) {
        tct_channels *set = NULL;
        tct_channel *mine = rank_of() == 0 ? c : c + 1;
        const int count = (rank_of() == 0) + (rank_of() == last);
        OK(tct_channels_match(&h.medium, TACIT_OK, count, mine, &set));
        for (uint64_t e = 1; e <= STARTS; e++) {
            if (rank_of() == 0) send(&c[0], 0, e);
            if (rank_of() == last) receive(&c[1], 0, e);
        }
        if (count > 0) assert_int_equal(mine->sequence, STARTS);
        tct_channels_free(&set);
        assert_null(set);
    }
    close_host(&h);
}

/* --- many ----------------------------------------------------------------- */

enum { TAGS = 3, OF_TAG = 4, MANY = TAGS * OF_TAG };

/* Bytes of channel k between two ranks. */
static int64_t bytes_of(int k)
{
    return k * 37 % 60;
}

/* Channels of several tags to each rank, itself included, and from each; a
 * receiver lists the tags in another order. */
static int list(tct_channel *c)
{
    int n = 0;
    for (int r = 0; r < size_of(); r++)
        for (int k = 0; k < MANY; k++) {
            const int other = (k / OF_TAG + 1) % TAGS * OF_TAG + k % OF_TAG;
            c[n++] = (tct_channel){.peer = r,
                                   .tag = k / OF_TAG,
                                   .sends = true,
                                   .bytes = bytes_of(k)};
            c[n++] = (tct_channel){
                .peer = r, .tag = other / OF_TAG, .bytes = bytes_of(other)};
        }
    return n;
}

static int number_of(const tct_channel *c)
{
    for (int k = 0; k < MANY; k++)
        if (c->tag == k / OF_TAG && c->bytes == bytes_of(k)) return k;
    return -1;
}

/* Each rank has an order of its own in each round. */
static void many_channels_are_kept_apart(void **state)
{
    (void)state;
    enum { ROUNDS = 300, RANKS = 4 };
    tct_channel c[2 * MANY * RANKS];
    tct_channels *set = NULL;
    host h;
    assert_in_range(size_of(), 1, RANKS);
    open_host(&h, test_world());
    const int n = list(c);
    OK(tct_channels_match(&h.medium, TACIT_OK, n, c, &set));
    for (uint64_t e = 1; e <= ROUNDS; e++)
        for (int sends = 1; sends >= 0; sends--) {
            const int first = (int)(tct_mix(e * 7 + (uint64_t)rank_of()) % 97);
            for (int i = 0; i < n; i++) {
                tct_channel *at = &c[(first + i) % n];
                if (at->sends != (sends == 1)) continue;
                if (sends) send(at, number_of(at), e);
                else receive(at, number_of(at), e);
            }
        }
    tct_channels_free(&set);
    close_host(&h);
}

/* A sender is two messages ahead, also of itself. */
static void a_sender_is_two_ahead(void **state)
{
    (void)state;
    tct_channel c[] = {{.peer = rank_of(), .sends = true, .bytes = SEVEN},
                       {.peer = rank_of(), .bytes = SEVEN}};
    tct_channels *set = NULL;
    host h;
    open_host(&h, test_world());
    OK(tct_channels_match(&h.medium, TACIT_OK, 2, c, &set));
    for (uint64_t e = 1; e <= 200; e += 2) {
        for (uint64_t k = 0; k < 2; k++) send(&c[0], 0, e + k);
        for (uint64_t k = 0; k < 2; k++) receive(&c[1], 0, e + k);
    }
    tct_channels_free(&set);
    close_host(&h);
}

/* Fewer bytes than were matched, another number in each message. */
static void a_message_may_be_shorter(void **state)
{
    (void)state;
    const int size = size_of(), next = (rank_of() + 1) % size;
    tct_channel c[] = {{.peer = next, .sends = true, .bytes = 64},
                       {.peer = (rank_of() + size - 1) % size, .bytes = 64}};
    tct_channels *set = NULL;
    host h;
    open_host(&h, test_world());
    OK(tct_channels_match(&h.medium, TACIT_OK, 2, c, &set));
    for (int64_t n = 0; n <= 64; n++) {
        char from[64], to[64] = "";
        memset(from, (int)(n + 1), sizeof from);
        OK(tct_channel_start(&c[0], from, n));
        OK(tct_channel_start(&c[1], to, n));
        OK(tct_channel_end(&c[1]));
        OK(tct_channel_end(&c[0]));
        for (int i = 0; i < 64; i++) assert_int_equal(to[i], i < n ? n + 1 : 0);
    }
    tct_channels_free(&set);
    close_host(&h);
}

/* --- what is refused ------------------------------------------------------ */

/* The error message has both texts, in which %d is the last rank. */
static void expect_words(const char *one, const char *other)
{
    const char *const texts[] = {one, other};
    for (int i = 0; i < 2; i++) {
        char text[64];
        snprintf(text, sizeof text, texts[i], size_of() - 1);
        if (!strstr(tacit_error_message(), text))
            fail_msg("'%s' does not say '%s'", tacit_error_message(), text);
    }
}

/* Rank 0 sends 7 bytes to the last one, which receives `count` messages. */
static void check_match(int64_t bytes, int count, int tag, const char *one,
                        const char *other)
{
    const int last = size_of() - 1;
    tct_channel c[4] = {{.peer = last, .sends = true, .bytes = SEVEN}};
    tct_channels *set = NULL;
    char data[8];
    host h;
    open_host(&h, test_world());
    int n = rank_of() == 0;
    for (int k = 0; k < count && rank_of() == last; k++)
        c[n++] = (tct_channel){.bytes = bytes, .tag = tag};
    assert_int_equal(tct_channels_match(&h.medium, TACIT_OK, n, c, &set),
                     TACIT_INVALID);
    assert_null(set);
    expect_words(one, other);
    assert_int_equal(tct_channel_start(&c[0], data, 1), TACIT_INVALID);
    close_host(&h);
}

static void ends_that_differ_are_refused(void **state)
{
    (void)state;
    const size_t blocks = tct_memory_blocks();
    check_match(8, 1, 0, "rank 0 sends 7 bytes",
                "rank %d, which receives 8 bytes");
    check_match(6, 1, 0, "rank 0 sends 7 bytes",
                "rank %d, which receives 6 bytes");
    if (!test_shares_allocations(__func__))
        assert_int_equal(tct_memory_blocks(), blocks);
}

static void an_end_without_another_is_refused(void **state)
{
    (void)state;
    check_match(7, 0, 0, "rank 0 sends through 1 channel",
                "rank %d, which receives through 0");
    check_match(7, 1, 2, "rank 0 sends through 1 channel",
                "rank %d, which receives through 0");
    check_match(7, 2, 0, "rank %d receives through 2 channel",
                "rank 0, which sends through 1");
}

static void what_is_no_end_is_refused(void **state)
{
    (void)state;
    const tct_channel bad[] = {{.peer = -1, .bytes = 1},
                               {.peer = size_of(), .bytes = 1},
                               {.bytes = -1},
                               {.bytes = 1, .signals = -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tct_channel c[] = {bad[i]};
        tct_channels *set = NULL;
        host h;
        open_host(&h, test_world());
        REFUSES(
            TACIT_INVALID, "expected 0 or more, and a rank from 0",
            tct_channels_match(&h.medium, TACIT_OK, rank_of() == 0, c, &set));
        assert_null(set);
        close_host(&h);
    }
}

/* A rank that has failed before fails all, with its message. */
static void a_failed_rank_fails_all(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    tct_channel c[] = {{.peer = last, .sends = true, .bytes = SEVEN}};
    tct_channels *set = NULL;
    host h;
    open_host(&h, test_world());
    const tacit_status mine =
        rank_of() == last ? tacit_error_set(TACIT_NO_MEMORY, "it was so before")
                          : TACIT_OK;
    REFUSES(TACIT_NO_MEMORY, "it was so before",
            tct_channels_match(&h.medium, mine, rank_of() == 0, c, &set));
    assert_null(set);
    close_host(&h);
}

static void starts_out_of_order_are_refused(void **state)
{
    (void)state;
    const int last = size_of() - 1;
    tct_channel c[] = {{.peer = last, .sends = true, .bytes = SEVEN},
                       {.peer = 0, .bytes = SEVEN}};
    tct_channels *set = NULL;
    char from[] = "7 bytes", to[SEVEN + 1] = "";
    host h;
    open_host(&h, test_world());
    for (int i = 0; i < 2; i++) { /* before the match */
        assert_int_equal(tct_channel_start(&c[i], from, 7), TACIT_INVALID);
        expect_words("7 bytes", i == 0 ? "rank %d's end is matched"
                                       : "rank 0's end is matched");
        assert_int_equal(tct_channel_end(&c[i]), TACIT_INVALID);
    }
    OK(tct_channels_match(&h.medium, TACIT_OK,
                          (rank_of() == 0) + (rank_of() == last),
                          rank_of() == 0 ? c : c + 1, &set));
    if (rank_of() == 0) {
        assert_int_equal(tct_channel_end(&c[0]), TACIT_INVALID);
        assert_int_equal(tct_channel_start(&c[0], from, 8), TACIT_INVALID);
        expect_words("8 bytes: rank 0 sends", "rank %d receives, 0 to 7");
        assert_int_equal(tct_channel_start(&c[0], from, -1), TACIT_INVALID);
        OK(tct_channel_start(&c[0], from, 7));
        assert_int_equal(tct_channel_start(&c[0], from, 7), TACIT_INVALID);
        expect_words("rank 0 sends 7 bytes to rank %d, which receives 7",
                     "message 2 before the end of message 1");
        OK(tct_channel_end(&c[0]));
    }
    if (rank_of() == last) {
        OK(tct_channel_start(&c[1], to, 7));
        assert_int_equal(tct_channel_start(&c[1], to, 7), TACIT_INVALID);
        expect_words("rank %d receives 7 bytes from rank 0, which sends 7",
                     "message 2 before the end of message 1");
        OK(tct_channel_end(&c[1]));
        assert_string_equal(to, from);
        assert_int_equal(tct_channel_end(&c[1]), TACIT_INVALID);
        expect_words("rank 0, which sends 7", "end before the start");
    }
    tct_channels_free(&set);
    assert_int_equal(tct_channel_start(&c[rank_of() == 0 ? 0 : 1], from, 7),
                     TACIT_INVALID);
    close_host(&h);
}

/* --- lost ranks ----------------------------------------------------------- */

/* Rank 0 is silent; each rank waits for the one before it, in vain. All name
 * rank 0, which the others learn by following the waits. */
static void the_lost_rank_is_named(void **state)
{
    (void)state;
    const double limit = 1.0; /* all begin to wait within it */
    const int rank = rank_of(), last = size_of() - 1;
    char data[SEVEN];
    tacit_world *w = NULL;
    tct_channels *set = NULL;
    host h;
    if (last == 0) skip();
    OK(tacit_world_split(test_world(), 0, &w));
    tct_channel c[] = {{.peer = rank - 1, .bytes = SEVEN},
                       {.peer = rank + 1, .sends = true, .bytes = SEVEN}};
    open_host(&h, w);
    h.waits.limit = limit;
    OK(tct_channels_match(&h.medium, TACIT_OK, (rank > 0) + (rank < last),
                          rank > 0 ? c : c + 1, &set));
    silence_begin();
    const double start = tct_seconds();
    if (rank > 0) {
        OK(tct_channel_start(&c[0], data, SEVEN));
        assert_int_equal(tct_channel_end(&c[0]), TACIT_COMM);
        expect_words("rank 0 has not answered", "1 s");
        assert_true(tct_seconds() - start >= limit);
        assert_int_equal(tct_channel_start(&c[0], data, SEVEN), TACIT_OK);
        assert_int_equal(tct_channel_end(&c[0]), TACIT_COMM);
        silence_mark();
    } else {
        silence_keep();
    }
    silence_end();
    tct_channels_free(&set);
    close_host(&h);
    tacit_world_destroy(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_channel_is_started_alone),
        cmocka_unit_test(many_channels_are_kept_apart),
        cmocka_unit_test(a_sender_is_two_ahead),
        cmocka_unit_test(a_message_may_be_shorter),
        cmocka_unit_test(ends_that_differ_are_refused),
        cmocka_unit_test(an_end_without_another_is_refused),
        cmocka_unit_test(what_is_no_end_is_refused),
        cmocka_unit_test(a_failed_rank_fails_all),
        cmocka_unit_test(starts_out_of_order_are_refused),
        cmocka_unit_test(the_lost_rank_is_named),
    };
    TEST_MPI_MAIN(tests);
}

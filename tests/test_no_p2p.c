/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_no_p2p.c - ranks that do not reach each other's memory, as the
 * kernels of link nvshmem may find (comm/link/gpu/peer.cuh): data for others
 * are stored locally and put by another thread. This thread of each rank puts
 * late and in any order, and reads the data when it does. If the ranks are
 * threads, too, ThreadSanitizer checks all of it.
 *
 * RUN: np=3
 * THREADS: 2,3 */
#define TEST_DEVICE "host"
#include "comm/world/shared.h"
#include "device/protocol.h"
#include "gpu.h"

enum {
    RANKS = 8, /* at most */
    MOST = 7,  /* elements of a channel */
    WIDTH = 5, /* values of a sum       */
    PUTS = 128 /* under way, at most    */
};
static const tct_limit PATIENCE = {UINT64_C(60000000000), NULL};

typedef struct {
    uint64_t arrived[2], taken[2]; /* of its receiver; of its sender */
    double half[2][MOST];          /* of its receiver                */
    double sent[2][MOST];          /* of its sender                  */
} channel_end;

typedef struct { /* memory of a rank: others' threads put into it */
    channel_end of[RANKS][RANKS]; /* from, to */
    struct tct_numbered slot[2 * RANKS * WIDTH];
    uint64_t put[2 * RANKS]; /* numbers of sums */
} window;

/* --- puts ----------------------------------------------------------------- */

typedef struct {
    const void *from;
    void *to;
    size_t bytes; /* 0: the signal alone */
    uint64_t *signal, number;
} parcel;

typedef struct {
    int rank, ranks;
    uint64_t dice;
    window *at[RANKS];
    struct tct_numbered *slot[RANKS]; /* this rank's own, for all */
    tct_shared *memory;
    pthread_t thread;
    pthread_mutex_t lock;
    parcel parcel[PUTS];
    int parcels;
    bool ends;
} sender;

static void send_parcel(sender *s, parcel p)
{
    pthread_mutex_lock(&s->lock);
    assert_true(s->parcels < PUTS);
    s->parcel[s->parcels++] = p;
    pthread_mutex_unlock(&s->lock);
}

/* One of those there are, or none now. */
static bool pick(sender *s, uint64_t dice, parcel *out, bool *ends)
{
    pthread_mutex_lock(&s->lock);
    const int n = s->parcels;
    *ends = n == 0 && s->ends;
    const bool found = n > 0 && (s->ends || dice / 97 % 3 != 0);
    if (found) {
        const int k = (int)(dice % (uint64_t)n);
        *out = s->parcel[k];
        s->parcel[k] = s->parcel[--s->parcels];
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static void *put_all(void *arg)
{
    sender *s = arg;
    uint64_t dice = s->dice;
    for (bool ends = false; !ends;) {
        parcel p;
        dice = tct_mix(dice);
        if (dice % 61 == 0) usleep((useconds_t)(dice >> 32) % 60);
        if (!pick(s, dice, &p, &ends)) {
            sched_yield();
            continue;
        }
        const size_t part = p.bytes / 16 * 8;
        if (p.bytes > 0) memcpy(p.to, p.from, part);
        if (dice % 3 == 0) sched_yield();
        if (p.bytes > 0)
            memcpy((char *)p.to + part, (const char *)p.from + part,
                   p.bytes - part);
        tct_signal_send(p.signal, p.number);
    }
    return NULL;
}

static void open_sender(sender *s, int seed)
{
    memset(s, 0, sizeof *s);
    s->rank = tacit_world_rank(test_world());
    s->ranks = tacit_world_size(test_world());
    s->dice = tct_mix((uint64_t)(seed * RANKS + s->rank));
    assert_true(s->ranks <= RANKS);
    OK(tct_shared_create(test_world(), sizeof(window), &s->memory));
    for (int r = 0; r < s->ranks; r++) {
        s->at[r] = tct_shared_of(s->memory, r);
        s->slot[r] = ((window *)tct_shared_of(s->memory, s->rank))->slot;
    }
    pthread_mutex_init(&s->lock, NULL);
    if (pthread_create(&s->thread, NULL, put_all, s)) abort();
}

static void close_sender(sender *s)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    OK(tct_agree(test_world(), TACIT_OK));
    pthread_mutex_destroy(&s->lock);
    tct_shared_destroy(&s->memory);
}

/* --- exchanges ------------------------------------------------------------ */

/* From some ranks to some: whoever gets nothing runs ahead as far as it may. */
static bool speaks(int seed, int from, int to)
{
    return from != to &&
           tct_mix((uint64_t)(seed * 4409 + from * 131 + to)) % 3 != 0;
}
static double value_at(uint64_t number, int from, int to, int i)
{
    return 1e4 * (double)number + 1e3 * from + 100.0 * to + i;
}

static void put(sender *s, int seed, uint64_t number)
{
    const int h = tct_buffer_of(number);
    for (int to = 0; to < s->ranks; to++) {
        if (!speaks(seed, s->rank, to)) continue;
        channel_end *own = &s->at[s->rank]->of[s->rank][to];
        channel_end *other = &s->at[to]->of[s->rank][to];
        assert_int_equal(tct_await_room(&own->taken[h], number, PATIENCE),
                         TCT_CAME);
        for (int i = 0; i < MOST; i++)
            own->sent[h][i] = value_at(number, s->rank, to, i);
        send_parcel(s, (parcel){own->sent[h], other->half[h],
                                sizeof other->half[h], &other->arrived[h],
                                number});
    }
}

static void take(sender *s, int seed, uint64_t number)
{
    const int h = tct_buffer_of(number);
    for (int from = 0; from < s->ranks; from++) {
        if (!speaks(seed, from, s->rank)) continue;
        channel_end *own = &s->at[s->rank]->of[from][s->rank];
        channel_end *other = &s->at[from]->of[from][s->rank];
        assert_int_equal(tct_await_message(&own->arrived[h], number, PATIENCE),
                         TCT_CAME);
        for (int i = 0; i < MOST; i++)
            assert_true(own->half[h][i] == value_at(number, from, s->rank, i));
        send_parcel(s, (parcel){.signal = &other->taken[h], .number = number});
    }
}

/* --- sums ----------------------------------------------------------------- */

static double term(uint64_t number, int rank, int i)
{
    return tct_uniform(number, (uint64_t)(rank * 100 + i)) - 0.5;
}

static uint64_t *put_of(const sender *s, int at, int from, uint64_t number)
{
    return &s->at[at]->put[tct_slot_at(2, s->ranks, 1, from, number)];
}

/* Also into the own slot, which the end reads. */
static void begin_sum(sender *s, uint64_t number)
{
    const tct_slots S = {s->rank, s->ranks, 2, WIDTH, s->slot};
    const size_t at = tct_slot_at(2, s->ranks, WIDTH, s->rank, number);
    for (int i = 0; i < WIDTH; i++)
        tct_slot_send(S, i, number, term(number, s->rank, i), s->ranks);
    for (int r = 0; r < s->ranks; r++)
        if (r != s->rank)
            send_parcel(s, (parcel){s->slot[r] + at, s->at[r]->slot + at,
                                    WIDTH * sizeof *s->slot[r],
                                    put_of(s, r, s->rank, number), number});
}

static void end_sum(sender *s, uint64_t number)
{
    const tct_slots S = {s->rank, s->ranks, 2, WIDTH, s->slot};
    const size_t at = tct_slot_at(2, s->ranks, WIDTH, s->rank, number);
    for (int r = 0; r < s->ranks; r++)
        if (r != s->rank)
            assert_int_equal(tct_await_counter(put_of(s, s->rank, r, number),
                                               number, PATIENCE),
                             TCT_CAME);
    for (int i = 0; i < WIDTH; i++) {
        const double mine = tct_numbered_value(s->slot[s->rank] + at + i).value;
        double total, want = 0.0;
        int missing = -1;
        assert_int_equal(
            tct_total(S, i, number, &mine, PATIENCE, &total, &missing),
            TCT_CAME);
        for (int r = 0; r < s->ranks; r++)
            want = r == 0 ? term(number, r, i) : want + term(number, r, i);
        assert_true(total == want);
    }
}

static void sum(sender *s, uint64_t number)
{
    begin_sum(s, number);
    end_sum(s, number);
}

/* --- tests ---------------------------------------------------------------- */

static void puts_may_overtake_each_other(void **state)
{
    enum { ROUNDS = 2000 };
    (void)state;
    for (int seed = 1; seed <= 6; seed++) {
        sender s;
        uint64_t sums = 0;
        open_sender(&s, seed);
        for (uint64_t number = 1; number <= ROUNDS; number++) {
            const bool adds = seed > 2 && number % (uint64_t)seed == 0;
            const bool hides = adds && number % 2 == 0;
            if (hides) begin_sum(&s, sums + 1);
            put(&s, seed, number);
            if (adds && !hides) sum(&s, ++sums);
            take(&s, seed, number);
            if (hides) end_sum(&s, ++sums);
        }
        close_sender(&s);
    }
}

/* Often to the last one, which no other follows. */
static void sums_follow_sums(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 200; seed++) {
        sender s;
        open_sender(&s, seed);
        for (uint64_t number = 1; number <= 20; number++) sum(&s, number);
        close_sender(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_may_overtake_each_other),
        cmocka_unit_test(sums_follow_sums),
    };
    TEST_MPI_MAIN(tests);
}

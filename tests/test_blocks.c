/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_blocks.c - a link by kernels with threads as blocks: on each rank
 * a persistent grid of threads runs the source that the kernels of link peer
 * and of resident loops run (device/protocol.h), on windows of shared memory.
 * If the ranks are threads, too, ThreadSanitizer checks all of it.
 *
 * RUN: np=1,3
 * THREADS: 3 */
#define TEST_DEVICE "host"
#include "comm/world/shared.h"
#include "device/protocol.h"
#include "gpu.h"

enum {
    BLOCKS = 3,
    RANKS = 8, /* at most */
    CHANNELS = 2,
    MOST = 7, /* elements of a channel */
    WIDTH = 5 /* values of a sum       */
};
static const uint64_t TIMEOUT_NS = UINT64_C(60000000000);

/* --- windows -------------------------------------------------------------- */

typedef struct {
    _Alignas(64) uint64_t arrived, taken; /* of its receiver; of its sender */
    double half[2][MOST];                 /* of its receiver                */
} channel_end;

typedef struct { /* memory of a rank that all reach */
    channel_end of[RANKS][RANKS][CHANNELS]; /* from, to */
    struct tct_numbered sum[2 * RANKS * WIDTH];
    struct tct_numbered meeting[4 * RANKS * WIDTH];
    double ghost[2][RANKS][BLOCKS];
} window;

/* What the blocks of a rank have in common. */
typedef struct {
    int rank, ranks, seed, rounds;
    window *at[RANKS];
    struct tct_numbered *sum[RANKS], *meeting[RANKS];
    tct_limit limit;
    uint64_t exchanges, sums; /* numbers of the last ones */
    unsigned ticket, sent[RANKS][CHANNELS], read[RANKS][CHANNELS];
    uint64_t counter, gone;
    struct tct_numbered part[BLOCKS];
    pthread_barrier_t launch;
    tct_shared *memory;
    pthread_mutex_t lock;
    char wrong[200]; /* "": nothing is */
} grid;

typedef struct {
    grid *g;
    int block;
    uint64_t calls; /* of wander */
    void (*work)(grid *g, int block, uint64_t *calls);
    pthread_t thread;
} block;

static void blame(grid *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&g->lock);
    if (!g->wrong[0]) vsnprintf(g->wrong, sizeof g->wrong, format, args);
    pthread_mutex_unlock(&g->lock);
    va_end(args);
}

/* What did not come will not: nobody waits any more, and all runs dry. */
static void give_up(grid *g, const char *what, uint64_t number, int rank)
{
    __atomic_store_n(&g->gone, 1, __ATOMIC_RELAXED);
    blame(g, "%s %d: waited for rank %d in vain", what, (int)number, rank);
}

static void open_persistent(grid *g, int seed, int rounds)
{
    memset(g, 0, sizeof *g);
    g->rank = tacit_world_rank(test_world());
    g->ranks = tacit_world_size(test_world());
    assert_true(g->ranks <= RANKS);
    g->seed = seed;
    g->rounds = rounds;
    g->limit = (tct_limit){TIMEOUT_NS, &g->gone};
    OK(tct_shared_create(test_world(), sizeof(window), &g->memory));
    for (int r = 0; r < g->ranks; r++) {
        g->at[r] = tct_shared_of(g->memory, r);
        g->sum[r] = g->at[r]->sum;
        g->meeting[r] = g->at[r]->meeting;
    }
    pthread_barrier_init(&g->launch, NULL, BLOCKS);
    pthread_mutex_init(&g->lock, NULL);
}

static void close_persistent(grid *g)
{
    OK(tct_agree(test_world(), TACIT_OK));
    pthread_barrier_destroy(&g->launch);
    pthread_mutex_destroy(&g->lock);
    tct_shared_destroy(&g->memory);
}

static void *be_block(void *arg)
{
    block *b = arg;
    b->work(b->g, b->block, &b->calls);
    return NULL;
}

static void run_blocks(grid *g, void (*work)(grid *, int, uint64_t *))
{
    block b[BLOCKS];
    for (int k = 0; k < BLOCKS; k++) {
        b[k] = (block){.g = g, .block = k, .work = work};
        if (pthread_create(&b[k].thread, NULL, be_block, &b[k])) abort();
    }
    for (int k = 0; k < BLOCKS; k++) pthread_join(b[k].thread, NULL);
    if (g->wrong[0]) fail_msg("rank %d: %s", g->rank, g->wrong);
}

/* Be late now and then. */
static void wander(const grid *g, int b, uint64_t *calls)
{
    const uint64_t who = (uint64_t)(g->seed * 1000 + g->rank * BLOCKS + b);
    const uint64_t dice = tct_mix(who * 1000003u + ++*calls);
    if (dice % 61 == 0) usleep((useconds_t)(dice >> 32) % 60);
    else if (dice % 5 == 0) sched_yield();
}

/* A kernel begins when all blocks of the one before have ended. */
static void next_kernel(grid *g)
{
    pthread_barrier_wait(&g->launch);
}

/* --- exchanges ------------------------------------------------------------ */

/* Channels from rank r to s: not as many as from s to r. */
static int channels(int seed, int r, int s)
{
    const int dice =
        (int)(tct_mix((uint64_t)(seed * 4409 + r * 131 + s * 7)) % 5);
    return dice > CHANNELS ? dice - CHANNELS - 1 : dice;
}
static int elements(int seed, int r, int s, int k)
{
    const int what = seed * 777 + r * 137 + s * 19 + k;
    return (int)(tct_mix((uint64_t)what) % MOST) + 1;
}
static double value_at(uint64_t number, int r, int s, int k, int i)
{
    return 1e5 * (double)number + 1e4 * r + 1e3 * s + 100.0 * k + i;
}

#define FOR_CHANNELS(g, from, to, peer, k)        \
    for (int peer = 0; peer < (g)->ranks; peer++) \
        for (int k = 0; k < channels((g)->seed, from, to); k++)

static void put(grid *g, int b, uint64_t *calls)
{
    const int me = g->rank;
    const uint64_t number = g->exchanges + 1;
    FOR_CHANNELS(g, me, to, to, k)
    {
        channel_end *own = &g->at[me]->of[me][to][k];
        channel_end *other = &g->at[to]->of[me][to][k];
        if (tct_await_room(&own->taken, number, g->limit) != TCT_CAME)
            give_up(g, "room for message", number, to);
        wander(g, b, calls);
        double *half = other->half[tct_buffer_of(number)];
        for (int i = b; i < elements(g->seed, me, to, k); i += BLOCKS)
            half[i] = value_at(number, me, to, k, i);
        tct_part_done(&g->sent[to][k], BLOCKS, &other->arrived, number);
    }
    tct_fence_all();
    if (!tct_is_last(&g->ticket, BLOCKS)) return;
    tct_fence_all();
    g->exchanges = number;
}

static void take(grid *g, int b, uint64_t *calls)
{
    const int me = g->rank;
    const uint64_t number = g->exchanges;
    FOR_CHANNELS(g, from, me, from, k)
    {
        channel_end *own = &g->at[me]->of[from][me][k];
        channel_end *other = &g->at[from]->of[from][me][k];
        if (tct_await_message(&own->arrived, number, g->limit) != TCT_CAME)
            give_up(g, "message", number, from);
        wander(g, b, calls);
        const double *half = own->half[tct_buffer_of(number)];
        for (int i = b; i < elements(g->seed, from, me, k); i += BLOCKS)
            if (half[i] != value_at(number, from, me, k, i))
                blame(g, "element %d of message %d from rank %d is %.17g", i,
                      (int)number, from, half[i]);
        tct_part_done(&g->read[from][k], BLOCKS, &other->taken, number);
    }
}

/* --- sums ----------------------------------------------------------------- */

/* Of values that are no whole numbers: the order of ranks shows. */
static double term(uint64_t number, int rank, int i)
{
    return tct_uniform(number, (uint64_t)(rank * 100 + i)) - 0.5;
}
static double sum_of_terms(const grid *g, uint64_t number, int i)
{
    double total = 0.0;
    for (int r = 0; r < g->ranks; r++)
        total = r == 0 ? term(number, r, i) : total + term(number, r, i);
    return total;
}

static void expect_total(grid *g, tct_wait_status status, double got,
                         uint64_t number, int i, int missing)
{
    if (status != TCT_CAME) give_up(g, "sum", number, missing);
    else if (got != sum_of_terms(g, number, i))
        blame(g, "value %d of sum %d is %.17g, not %.17g", i, (int)number, got,
              sum_of_terms(g, number, i));
}

/* The threads of one block, as this kernel has but one. */
static void sum(grid *g, int b, uint64_t *calls)
{
    const tct_slots S = {g->rank, g->ranks, 2, WIDTH, g->sum};
    const uint64_t number = g->sums + 1;
    for (int i = b; i < WIDTH; i += BLOCKS) {
        const double mine = term(number, g->rank, i);
        double total;
        int missing = -1;
        wander(g, b, calls);
        tct_slot_send(S, i, number, mine, g->ranks - 1);
        const tct_wait_status status =
            tct_total(S, i, number, &mine, g->limit, &total, &missing);
        expect_total(g, status, total, number, i, missing);
    }
    tct_fence_all();
    if (!tct_is_last(&g->ticket, BLOCKS)) return;
    tct_fence_all();
    g->sums = number;
}

/* --- kernels one after the other ------------------------------------------ */

/* As a solver does it, with a sum between in every `sums`-th round; 0: never. A
 * rank that only sends is as far ahead then as windows let it be. */
static void iterate(grid *g, int b, uint64_t *calls, int sums)
{
    for (int round = 1; round <= g->rounds; round++) {
        next_kernel(g);
        put(g, b, calls);
        next_kernel(g);
        if (sums > 0 && round % sums == 0) sum(g, b, calls);
        next_kernel(g);
        take(g, b, calls);
    }
}
static void exchanges_alone(grid *g, int b, uint64_t *calls)
{
    iterate(g, b, calls, 0);
}
static void exchanges_and_sums(grid *g, int b, uint64_t *calls)
{
    iterate(g, b, calls, g->seed % 3 + 1);
}
static void sums_alone(grid *g, int b, uint64_t *calls)
{
    for (int round = 1; round <= g->rounds; round++) {
        next_kernel(g);
        sum(g, b, calls);
    }
}

static void messages_arrive_whole(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 8; seed++) {
        grid g;
        open_persistent(&g, seed, 300);
        run_blocks(&g, seed % 2 ? exchanges_alone : exchanges_and_sums);
        assert_int_equal(g.exchanges, g.rounds);
        close_persistent(&g);
    }
}

static void sums_are_in_rank_order(void **state)
{
    (void)state;
    grid g;
    open_persistent(&g, 3, 2000);
    run_blocks(&g, sums_alone);
    assert_int_equal(g.sums, g.rounds);
    close_persistent(&g);
}

/* --- a kernel that stays -------------------------------------------------- */

/* What block b stores at all ranks before meeting `epoch`, and what all blocks
 * must see after it. */
static void send_ghosts(grid *g, int b, uint32_t epoch)
{
    for (int r = 0; r < g->ranks; r++)
        g->at[r]->ghost[epoch & 1][g->rank][b] =
            value_at(epoch, g->rank, r, b, 0);
}
static void expect_ghosts(grid *g, uint32_t epoch)
{
    for (int r = 0; r < g->ranks; r++)
        for (int b = 0; b < BLOCKS; b++)
            if (g->at[g->rank]->ghost[epoch & 1][r][b] !=
                value_at(epoch, r, g->rank, b, 0))
                blame(g,
                      "what block %d of rank %d sent before meeting %d is "
                      "not there",
                      b, r, (int)epoch);
}

/* What block b, as each in turn, brings of its rank's term. */
static void leave(grid *g, int b, uint32_t epoch)
{
    const bool mine = epoch % BLOCKS == (uint32_t)b;
    tct_fence_all(); /* what this block has stored before */
    tct_numbered_send(&g->part[b], mine ? term(epoch, g->rank, 0) : 0.0, epoch);
}

/* A block of each rank adds up what all its blocks left, and says it. */
static void collect(grid *g, tct_slots S, uint32_t epoch)
{
    double mine = 0.0;
    for (int b = 0; b < BLOCKS; b++) {
        struct tct_numbered got;
        tct_wait w = {0, 0};
        do {
            got = tct_numbered_value(&g->part[b]);
        } while (got.number != epoch && tct_poll(&w, g->limit) == TCT_NOT_YET);
        if (got.number != epoch) return; /* all miss what is not said */
        mine += got.value;
    }
    tct_fence_all();
    tct_slot_send(S, 0, epoch, mine, g->ranks);
}

/* All persistent grids: as tct_grid_sum of persistent_grid.cuh, but for the
 * fences: here plain values go to peers, there numbered ones alone. */
static tct_barrier_status sum_up(grid *g, int b, uint32_t epoch)
{
    const tct_slots S = {g->rank, g->ranks, 4, WIDTH, g->meeting};
    double total;
    int missing = -1;
    leave(g, b, epoch);
    if (b == (int)(epoch / 2 % BLOCKS)) collect(g, S, epoch);
    const tct_wait_status status =
        tct_total(S, 0, epoch, NULL, g->limit, &total, &missing);
    expect_total(g, status, total, epoch, 0, missing);
    return status == TCT_CAME ? TCT_GO : TCT_LATE;
}

/* Meetings of all persistent grids, with sums, and of each alone, by its
 * counter, take turns. Block 0 wishes the end at one of the latter. */
static void stay(grid *g, int b, uint64_t *calls)
{
    const uint32_t last = (uint32_t)g->rounds;
    for (uint32_t epoch = 1; epoch <= last; epoch++) {
        const bool alone = epoch % 2 == 0;
        const bool end = alone && epoch >= last - 20;
        tct_barrier_status met;
        if (!alone) send_ghosts(g, b, epoch / 2);
        wander(g, b, calls);
        met = alone ? tct_await_blocks(
                          &g->counter,
                          tct_barrier_arrive_at(&g->counter, epoch / 2,
                                                b == 0 && epoch == last - 20),
                          BLOCKS, epoch / 2, TIMEOUT_NS)
                    : sum_up(g, b, epoch);
        if (met == TCT_LATE) return;
        if (met != (end ? TCT_END : TCT_GO))
            blame(g, "block %d: meeting %d ended with %d", b, (int)epoch, met);
        if (!alone) expect_ghosts(g, epoch / 2);
    }
}

static void grids_meet(void **state)
{
    (void)state;
    grid g;
    open_persistent(&g, 5, 4000);
    run_blocks(&g, stay);
    close_persistent(&g);
}

/* Block 0 wishes the end, and may be at that meeting while others still look at
 * the counter for the one before. */
static void wish_the_end(grid *g, int b, uint64_t *calls)
{
    enum { MEETINGS = 6 };
    (void)calls;
    for (uint32_t epoch = 1; epoch <= MEETINGS; epoch++) {
        const bool wish = b == 0 && epoch == MEETINGS / 2;
        const tct_barrier_status met = tct_await_blocks(
            &g->counter, tct_barrier_arrive_at(&g->counter, epoch, wish),
            BLOCKS, epoch, TIMEOUT_NS);
        if (met != (epoch < MEETINGS / 2 ? TCT_GO : TCT_END))
            blame(g, "block %d: meeting %d ended with %d", b, (int)epoch, met);
    }
}

static void all_end_at_the_same_meeting(void **state)
{
    (void)state;
    grid g;
    open_persistent(&g, 7, 0);
    for (int again = 0; again < 1000; again++) {
        g.counter = 0;
        run_blocks(&g, wish_the_end);
    }
    close_persistent(&g);
}

/* --- who does not come ---------------------------------------------------- */

static void lost_ranks_are_named(void **state)
{
    (void)state;
    grid g;
    double total, mine = 1.0;
    int missing = -1;
    open_persistent(&g, 1, 0);
    const int lost = g.ranks - 1;
    const tct_slots S = {g.rank, g.ranks, 2, WIDTH, g.sum};
    const tct_limit soon = {20000000, &g.gone};
    window *w = g.at[g.rank];
    if (g.rank != lost) tct_slot_send(S, 0, 1, mine, g.ranks - 1);
    OK(tacit_world_agree(test_world(), TACIT_OK));
    if (g.rank != lost) {
        assert_int_equal(tct_total(S, 0, 1, &mine, soon, &total, &missing),
                         TCT_MISSED);
        assert_int_equal(missing, lost);
    }
    assert_int_equal(tct_await_room(&w->of[0][0][0].taken, 2, soon), TCT_CAME);
    assert_int_equal(tct_await_room(&w->of[0][0][0].taken, 3, soon),
                     TCT_MISSED);
    assert_int_equal(tct_await_message(&w->of[0][0][0].arrived, 1, soon),
                     TCT_MISSED);
    assert_int_equal(
        tct_await_blocks(&g.counter,
                         tct_barrier_arrive_at(&g.counter, 1, false), 2, 1,
                         soon.ns),
        TCT_LATE);
    g.gone = 1; /* and from now on nobody is waited for */
    assert_int_equal(
        tct_await_message(&w->of[0][0][0].arrived, 1, (tct_limit){0, &g.gone}),
        TCT_GONE);
    close_persistent(&g);
}

/* Who knows of a failure waits for nobody: that is seen, not waited for. */
static void who_goes_on_alone_is_seen(void **state)
{
    (void)state;
    grid g;
    double out;
    open_persistent(&g, 1, 0);
    const int ahead = g.ranks - 1;
    const tct_slots S = {g.rank, g.ranks, 2, WIDTH, g.sum};
    const tct_limit soon = {20000000, &g.gone};
    for (uint64_t e = 1; g.rank == ahead && e <= 4; e++)
        tct_slot_send(S, 0, e, (double)e, g.ranks - 1);
    OK(tacit_world_agree(test_world(), TACIT_OK));
    if (g.rank != ahead) {
        for (uint64_t e = 1; e <= 2; e++)
            assert_int_equal(tct_slot_receive(S, ahead, 0, e, soon, &out),
                             TCT_AHEAD);
        assert_int_equal(tct_slot_receive(S, ahead, 0, 3, soon, &out),
                         TCT_CAME);
        assert_true(out == 3.0);
    }
    close_persistent(&g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_whole),
        cmocka_unit_test(sums_are_in_rank_order),
        cmocka_unit_test(grids_meet),
        cmocka_unit_test(all_end_at_the_same_meeting),
        cmocka_unit_test(who_goes_on_alone_is_seen),
        cmocka_unit_test(lost_ranks_are_named),
    };
    TEST_MPI_MAIN(tests);
}

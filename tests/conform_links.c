/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_links.c - every link of the world: sums of all widths with the
 * same bits on all ranks, exchanges between random ranks, failures and requests
 * that are reduced with them, and a close without a lost rank.
 *
 * RUN: np=1,2,4
 * THREADS: 3
 * PROCESSES: 3
 * DEVICE: each */
#include "comm/world/world.h"
#include "dealt.h"
#include "silence.h"
#include <float.h>
#include <tacit/exchange.h>

/* --- every link ----------------------------------------------------------- */

typedef void (*check_fn)(tacit_queue *q);

/* Hand a queue with each link, and late messages or not, to `check`. */
static void every_link(check_fn check)
{
    static const char *const before[] = {
        "", "chaos(11):", "count:", "late:", "late(2):chaos(5):"};
    const bool lates =
        strcmp(TEST_DEVICE, "host") == 0 &&
        (test_threads_ > 0 || (!test_launched_ && test_processes_ == 0));
    int checked = 0;
    for (int l = 0; tacit_link_at(l); l++)
        for (int i = 0; i < (lates ? 5 : 3); i++) {
            const char *name = tacit_link_at(l)->name;
            char spec[64];
            tacit_queue *q = NULL;
            snprintf(spec, sizeof spec, "%s" TEST_DEVICE "@%s", before[i],
                     name);
            const tacit_status status =
                tacit_queue_create(test_world(), spec, 1, &q);
            if (status == TACIT_UNSUPPORTED) {
                assert_non_null(strstr(tacit_error_message(), name));
                assert_null(q);
                continue;
            }
            OK(status);
            assert_null(tacit_link_at(l)->reason);
            assert_string_equal(tacit_queue_link(q), name);
            check(q);
            checked++;
            tacit_queue_destroy(&q);
        }
    assert_true(checked >= 3);
}

/* The bits of `x` are those of every rank. */
static void expect_everybodys(const double *x, int count)
{
    for (int k = 0; k < count; k++) {
        int64_t bits[2];
        memcpy(bits, &x[k], sizeof *bits);
        bits[1] = ~bits[0];
        OK(tct_reduce_i64(test_world(), TCT_MAX, 2, bits));
        if (bits[0] != ~bits[1]) fail_msg("scalar %d of %d", k, count);
    }
}

/* --- sums ----------------------------------------------------------------- */

/* Of all magnitudes; with `odd` some are not finite. */
static double term(int rank, int k, bool odd)
{
    const double x = number(k + 5, rank, 17);
    if (odd && k % 4 == rank % 4) return k % 3 ? INFINITY : NAN;
    return ldexp(x, (int)(tct_mix((uint64_t)(rank * 77 + k)) % 60));
}

static void check_sum(tacit_queue *q, double *c, int count, bool odd)
{
    const int rank = tacit_world_rank(test_world());
    double *mine = host_vector((size_t)count, 0.0);
    for (int k = 0; k < count; k++) mine[k] = term(rank, k, odd);
    double *first = NULL;
    for (int again = 0; again < 2; again++) {
        q_put(q, (size_t)count, mine, c);
        if (again) {
            q_sum(q, count, c);
        } else { /* with other work in between */
            q_sum_begin(q, count, c);
            q_fill(q, 1, 7.0, c + count);
            q_sum_end(q, count, c);
        }
        double *got = host_copy(q, (size_t)count, c);
        expect_everybodys(got, count < 40 ? count : 40);
        for (int k = 0; k < count; k++) {
            long double want = 0.0L, size = 0.0L;
            for (int r = 0; r < tacit_world_size(test_world()); r++) {
                want += term(r, k, odd);
                size += fabsl((long double)term(r, k, odd));
            }
            if (!isfinite((double)want)
                    ? isfinite(got[k])
                    : !(fabsl(want - (long double)got[k]) <=
                        8.0L * (long double)DBL_EPSILON * size))
                fail_msg("sum %d of %d is %g, not %Lg", k, count, got[k], want);
        }
        if (first) assert_true(odd || same_bits(first, got, (size_t)count));
        free(first);
        first = got;
    }
    free(first);
    free(mine);
}

static void check_sums(tacit_queue *q)
{
    static const int counts[] = {1, 2, 3, 4, 5, 8, 31, 33, 256, TCT_SUM_MOST};
    double *c = poisoned_vector(q, TCT_SUM_MOST + 1);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        check_sum(q, c, counts[k], false);
        check_sum(q, c, counts[k], true);
    }
    OK(q_status(q));
    tacit_queue_free(q, &c);
}

static void sums_are_everybodys(void **state)
{
    (void)state;
    every_link(check_sums);
}

/* --- exchanges ------------------------------------------------------------ */

enum { N = 23, LEAD = N + 2, COLUMNS = 5, CHANNELS = 3, MOST = 6 };

/* Channels from rank r to s, elements of each, and which they are. */
static int channels(int seed, int r, int s)
{
    return (int)(tct_mix((uint64_t)(seed * 10000 + r * 100 + s)) %
                 (CHANNELS + 1));
}
static int elements(int seed, int r, int s, int k)
{
    return (int)(tct_mix((uint64_t)(seed * 777 + r * 131 + s * 17 + k)) % MOST);
}
static int element(int seed, int r, int s, int k, int i)
{
    const int what = seed * 7 + r * 1009 + s * 131 + k * 31 + i;
    return (int)(tct_mix((uint64_t)what) % N);
}

static double value_at(int rank, int column, int i, int round)
{
    return 1e6 * round + 1e4 * rank + 100.0 * column + i;
}

typedef struct {
    int seed, sends, receives;
    tacit_channel send[64], receive[64];
    int32_t index[64 * MOST];
    int number[64]; /* which of its rank's channels receive[k] is */
    tacit_exchange *e;
} random_plan;

/* Channels stand in any order, but those of two ranks in their own. */
static void make_lists(random_plan *p, int seed)
{
    const int size = tacit_world_size(test_world());
    const int me = tacit_world_rank(test_world());
    int at = 0;
    *p = (random_plan){.seed = seed};
    for (int k = 0; k < CHANNELS; k++)
        for (int step = 0; step < size; step++) {
            const int to = (me + step + seed) % size;
            const int from = size - 1 - (step + seed) % size;
            if (k < channels(seed, me, to)) {
                const int count = elements(seed, me, to, k);
                p->send[p->sends++] = (tacit_channel){to, count};
                for (int i = 0; i < count; i++)
                    p->index[at++] = element(seed, me, to, k, i);
            }
            if (k < channels(seed, from, me)) {
                p->number[p->receives] = k;
                p->receive[p->receives++] =
                    (tacit_channel){from, elements(seed, from, me, k)};
            }
        }
}

static void open_plan(random_plan *p, tacit_queue *q, int seed)
{
    make_lists(p, seed);
    OK(tacit_exchange_create(q, p->sends, p->send, p->index, p->receives,
                             p->receive, COLUMNS, &p->e));
}

static tacit_status open_plan_in(random_plan *p, tacit_queue *q,
                                 tacit_element element, int seed)
{
    make_lists(p, seed);
    return tacit_exchange_create_in(q, element, p->sends, p->send, p->index,
                                    p->receives, p->receive, COLUMNS, &p->e);
}

static size_t ghosts_of(const random_plan *p)
{
    size_t count = 0;
    for (int k = 0; k < p->receives; k++) count += (size_t)p->receive[k].count;
    return count;
}

static void expect_ghosts(const random_plan *p, tacit_queue *q,
                          const double *ghosts, int columns, int round)
{
    const int me = tacit_world_rank(test_world());
    const size_t all = ghosts_of(p) * (size_t)columns;
    double *got = host_copy(q, all, ghosts), *at = got;
    for (int j = 0; j < columns; j++)
        for (int k = 0; k < p->receives; k++)
            for (int i = 0; i < p->receive[k].count; i++, at++) {
                const int from = p->receive[k].rank;
                const int which = element(p->seed, from, me, p->number[k], i);
                if (*at != value_at(from, j, which, round))
                    fail_msg("seed %d: column %d of %d, element %d from rank "
                             "%d: %g",
                             p->seed, j, columns, i, from, *at);
            }
    free(got);
}

/* Columns side by side, apart, and the last one first. */
static void exchange_rounds(random_plan *p, tacit_queue *q)
{
    static const ptrdiff_t strides[] = {N, LEAD, -LEAD};
    double *x = host_vector(COLUMNS * LEAD, NAN);
    double *v = poisoned_vector(q, COLUMNS * LEAD);
    for (int round = 0; round < 6; round++)
        for (int columns = 1; columns <= COLUMNS; columns++) {
            const ptrdiff_t stride = strides[round % 3];
            const ptrdiff_t first = stride < 0 ? (COLUMNS - 1) * LEAD : 0;
            for (int j = 0; j < columns; j++)
                for (int i = 0; i < N; i++)
                    x[first + j * stride + i] =
                        value_at(tacit_world_rank(test_world()), j, i, round);
            OK(tacit_queue_put(q, COLUMNS * LEAD, x, v));
            tacit_exchange_begin(p->e, v + first, stride, columns);
            const double *ghosts = tacit_exchange_end(p->e);
            expect_ghosts(p, q, ghosts, columns, round);
        }
    OK(q_status(q));
    free(x);
    tacit_queue_free(q, &v);
}

static void check_exchanges(tacit_queue *q)
{
    for (int seed = 1; seed <= 6; seed++) {
        random_plan p;
        open_plan(&p, q, seed);
        exchange_rounds(&p, q);
        tacit_exchange_destroy(&p.e);
        assert_null(p.e);
        tacit_exchange_destroy(&p.e);
    }
}

static void values_arrive_where_they_belong(void **state)
{
    (void)state;
    every_link(check_exchanges);
}

/* Several under way at once, with a sum among them, ended in another order. */
static void check_together(tacit_queue *q)
{
    enum { PLANS = 3 };
    random_plan p[PLANS];
    const int rank = tacit_world_rank(test_world());
    double *v = poisoned_vector(q, N), *c = poisoned_vector(q, 1);
    double *x = host_vector(N, 0.0);
    for (int i = 0; i < N; i++) x[i] = value_at(rank, 0, i, 9);
    OK(tacit_queue_put(q, N, x, v));
    OK(tacit_queue_fill(q, 1, 1.0, c));
    for (int k = 0; k < PLANS; k++) open_plan(&p[k], q, 20 + k);
    for (int round = 0; round < 5; round++) {
        for (int k = 0; k < PLANS; k++) tacit_exchange_begin(p[k].e, v, N, 1);
        q_sum(q, 1, c);
        for (int k = PLANS - 1; k >= 0; k--)
            expect_ghosts(&p[k], q, tacit_exchange_end(p[k].e), 1, 9);
    }
    double *sum = host_copy(q, 1, c);
    assert_true(sum[0] == pow(tacit_world_size(test_world()), 5));
    free(sum);
    for (int k = 0; k < PLANS; k++) tacit_exchange_destroy(&p[k].e);
    tacit_queue_free(q, &v);
    tacit_queue_free(q, &c);
    free(x);
}

static void exchanges_keep_apart(void **state)
{
    (void)state;
    every_link(check_together);
}

/* A channel that is a plan of its own is started by its two ends alone, when
 * they come to it: a number goes from rank to rank, which each adds to. The
 * first is ahead of the others by as many as its half of a window lets it. */
static void check_single_channels(tacit_queue *q)
{
    enum { ROUNDS = 60 };
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    const int32_t index[] = {0};
    tacit_exchange *e[16] = {NULL};
    double *x = poisoned_vector(q, 1);
    assert_true(size <= 16);
    for (int k = 0; k + 1 < size; k++) {
        const tacit_channel to = {k + 1, 1}, from = {k, 1};
        OK(tacit_exchange_create(q, rank == k, &to, index, rank == k + 1, &from,
                                 1, &e[k]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        double number = round;
        if (rank > 0) {
            tacit_exchange_begin(e[rank - 1], NULL, 0, 1);
            const double *ghost = tacit_exchange_end(e[rank - 1]);
            OK(tacit_queue_get(q, 1, ghost, &number));
            assert_true(number == round + 100.0 * rank);
        }
        number += 100.0;
        if (rank == size - 1) continue;
        OK(tacit_queue_put(q, 1, &number, x));
        tacit_exchange_begin(e[rank], x, 0, 1);
        tacit_exchange_end(e[rank]);
    }
    OK(tct_agree(test_world(), q_status(q)));
    for (int k = 0; k + 1 < size; k++) tacit_exchange_destroy(&e[k]);
    tacit_queue_free(q, &x);
}

static void channels_are_started_singly(void **state)
{
    (void)state;
    every_link(check_single_channels);
}

/* One rank's list does not fit: all are told, and nothing stays behind. */
static void check_bad_lists(tacit_queue *q)
{
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    const int32_t index[] = {0, 1, 2, 3};
    const tacit_channel next = {(rank + 1) % size, 2};
    const tacit_channel last = {(rank + size - 1) % size, 2};
    const tacit_channel longer = {last.rank, 3}, nobody = {size, 2};
    const tacit_channel less = {next.rank, -1}, below = {-1, 2};
    const struct {
        const tacit_channel *send, *receive;
        int columns;
    } bad[] = {{&next, &longer, 1}, {&next, NULL, 1},   {NULL, &last, 1},
               {&nobody, &last, 1}, {&below, &last, 1}, {&less, &last, 1},
               {&next, &nobody, 1}, {&next, &last, 0},  {&next, &last, -3}};
    const size_t blocks = tct_memory_blocks();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        for (int who = 0; who < size; who++) {
            const bool me = rank == who;
            const tacit_channel *send = me ? bad[k].send : &next;
            const tacit_channel *receive = me ? bad[k].receive : &last;
            tacit_exchange *e = NULL;
            EXPECT(TACIT_INVALID,
                   tacit_exchange_create(q, send != NULL, send, index,
                                         receive != NULL, receive,
                                         me ? bad[k].columns : 1, &e));
            assert_null(e);
            assert_true(strlen(tacit_error_message()) > 20);
            if (test_threads_ == 0) /* which allocate at the same time */
                assert_int_equal(tct_memory_blocks(), blocks);
        }
    tacit_exchange *e = NULL; /* and without that it works */
    OK(tacit_exchange_create(q, 1, &next, index, 1, &last, 1, &e));
    tacit_exchange_destroy(&e);
}

/* --- floats --------------------------------------------------------------- */

static void expect_floats(const random_plan *p, tacit_queue *q,
                          const void *ghosts, int columns, int round)
{
    const int me = tacit_world_rank(test_world());
    const size_t all = ghosts_of(p) * (size_t)columns;
    float *got = calloc(all + 1, sizeof *got), *at = got;
    q_get_in(q, TACIT_F32, all, ghosts, got);
    for (int j = 0; j < columns; j++)
        for (int k = 0; k < p->receives; k++)
            for (int i = 0; i < p->receive[k].count; i++, at++) {
                const int from = p->receive[k].rank;
                const int which = element(p->seed, from, me, p->number[k], i);
                if (*at != (float)value_at(from, j, which, round))
                    fail_msg("seed %d: column %d of %d, element %d from rank "
                             "%d: %g",
                             p->seed, j, columns, i, from, *at);
            }
    free(got);
}

/* The counter has the bytes of floats. */
static void expect_bytes(const random_plan *p, const tacit_queue *q,
                         double before, int columns)
{
    double values = 0.0;
    for (int k = 0; k < p->sends; k++) values += (double)p->send[k].count;
    if (tacit_queue_tally(q))
        assert_true(tacit_queue_tally(q)->exchange.bytes - before ==
                    4.0 * columns * values);
}

static void float_rounds(const random_plan *p, tacit_queue *q)
{
    static const ptrdiff_t strides[] = {N, LEAD, -LEAD};
    float x[COLUMNS * LEAD] = {0};
    double *v = poisoned_vector(q, COLUMNS * LEAD); /* twice the room */
    for (int round = 0; round < 3; round++)
        for (int columns = 1; columns <= COLUMNS; columns++) {
            const ptrdiff_t stride = strides[round];
            const ptrdiff_t first = stride < 0 ? (COLUMNS - 1) * LEAD : 0;
            const double before = tacit_queue_tally(q)
                                      ? tacit_queue_tally(q)->exchange.bytes
                                      : 0.0;
            for (int j = 0; j < columns; j++)
                for (int i = 0; i < N; i++)
                    x[first + j * stride + i] = (float)value_at(
                        tacit_world_rank(test_world()), j, i, round);
            q_put_in(q, TACIT_F32, COLUMNS * LEAD, x, v);
            tacit_exchange_begin_in(p->e, TACIT_F32, (float *)(void *)v + first,
                                    stride, columns);
            const void *ghosts = tacit_exchange_end_in(p->e);
            expect_floats(p, q, ghosts, columns, round);
            expect_bytes(p, q, before, columns);
        }
    OK(q_status(q));
    tacit_queue_free(q, &v);
}

/* A link that carries no floats says what it carries and what was asked. */
static void expect_refusal(const tacit_queue *q, tacit_status status)
{
    char words[96];
    snprintf(words, sizeof words,
             "link %s carries f64 only; this exchange is f32",
             tacit_queue_link(q));
    assert_int_equal(status, TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), words));
}

static void check_floats(tacit_queue *q)
{
    random_plan p;
    const bool carried = q->link->elements >> TACIT_F32 & 1;
    for (int seed = 1; seed <= 3; seed++) {
        const tacit_status status = open_plan_in(&p, q, TACIT_F32, seed);
        if (!carried) {
            expect_refusal(q, status);
            assert_null(p.e);
            continue;
        }
        OK(status);
        float_rounds(&p, q);
        tacit_exchange_destroy(&p.e);
    }
}

static void floats_arrive_where_they_belong(void **state)
{
    (void)state;
    every_link(check_floats);
}

/* A link as it is, but that it carries doubles only. */
static void check_doubles_only(tacit_queue *q)
{
    random_plan p;
    const tct_link *link = q->link;
    tct_link less = *link;
    less.elements = 1 << TACIT_F64;
    q->link = q->links[q->via].link = &less;
    expect_refusal(q, open_plan_in(&p, q, TACIT_F32, 1));
    open_plan(&p, q, 1);
    tacit_exchange_destroy(&p.e);
    q->link = q->links[q->via].link = link;
}

static void a_link_without_floats_says_so(void **state)
{
    (void)state;
    every_link(check_doubles_only);
}

/* Types that differ: between ranks, and between an exchange and its vectors. */
static void check_types(tacit_queue *q)
{
    random_plan p;
    const int rank = tacit_world_rank(test_world());
    const bool several = tacit_world_size(test_world()) > 1;
    double *v = poisoned_vector(q, N);
    if (several && q->link->elements >> TACIT_F32 & 1) {
        const tacit_status status =
            open_plan_in(&p, q, rank == 0 ? TACIT_F32 : TACIT_F64, 2);
        assert_int_equal(status, TACIT_INVALID);
        assert_non_null(strstr(tacit_error_message(), "'f32' on rank 0"));
        assert_non_null(strstr(tacit_error_message(), "'f64' on rank"));
    }
    open_plan(&p, q, 2);
    tacit_exchange_begin_in(p.e, TACIT_F32, v, N, 1);
    tacit_exchange_end(p.e);
    assert_int_equal(q_status(q), TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "vectors of f32"));
    assert_non_null(strstr(tacit_error_message(), "the exchange is f64"));
    tacit_exchange_destroy(&p.e);
    tacit_queue_free(q, &v);
}

static void types_that_differ_are_refused(void **state)
{
    (void)state;
    every_link(check_types);
}

static void lists_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    every_link(check_bad_lists);
}

/* --- flags ---------------------------------------------------------------- */

/* One rank fails, before or between: messages still go out, and with the next
 * sum all know why. */
static void check_failures(tacit_queue *q)
{
    const int size = tacit_world_size(test_world());
    char spec[64];
    snprintf(spec, sizeof spec, TEST_DEVICE "@%s", tacit_queue_link(q));
    for (int who = 0; who < size; who++)
        for (int when = 0; when < 3; when++) {
            tacit_queue *own = open_queue(spec);
            random_plan p;
            open_plan(&p, own, 3);
            double *v = poisoned_vector(own, N), *c = poisoned_vector(own, 1);
            const bool me = tacit_world_rank(test_world()) == who;
#define FAIL_WHEN(k) \
    if (me && when == (k)) q_fail(own, TACIT_DEVICE, "rank %d, %d", who, when)
            FAIL_WHEN(0);
            tacit_exchange_begin(p.e, v, N, 1);
            FAIL_WHEN(1);
            tacit_exchange_end(p.e);
            FAIL_WHEN(2);
#undef FAIL_WHEN
            assert_int_equal(q_own_status(own) < 0, me);
            q_sum(own, 1, c);
            EXPECT(TACIT_DEVICE, tct_agree(test_world(), q_own_status(own)));
            char said[32];
            snprintf(said, sizeof said, "rank %d, %d", who, when);
            assert_non_null(strstr(tacit_error_message(), said));
            assert_true(own->peers_know);
            tacit_queue_free(own, &v);
            tacit_queue_free(own, &c);
            tacit_exchange_destroy(&p.e);
            tacit_queue_destroy(&own);
        }
}

static void failures_are_everybodys(void **state)
{
    (void)state;
    every_link(check_failures);
}

static void check_wishes(tacit_queue *q)
{
    const int size = tacit_world_size(test_world());
    double *c = poisoned_vector(q, 1);
    for (int who = -1; who < size; who++) {
        q->stop_agreed = false;
        q->stop_wanted = tacit_world_rank(test_world()) == who;
        q_sum(q, 1, c);
        OK(q_status(q));
        assert_int_equal(q->stop_agreed, who >= 0);
    }
    q->stop_wanted = q->stop_agreed = false;
    tacit_queue_free(q, &c);
}

static void wishes_are_everybodys(void **state)
{
    (void)state;
    every_link(check_wishes);
}

/* All but one know of the last rank that it will not come, and close what they
 * have before it goes on. A world of their own, which is of no use any more. */
static void close_without_the_last(tacit_world *w, const char *link)
{
    const int last = tacit_world_size(w) - 1;
    tacit_queue *q = NULL;
    char spec[64];
    snprintf(spec, sizeof spec, TEST_DEVICE "@%s", link);
    const tacit_status status = tacit_queue_create(w, spec, 1, &q);
    if (status == TACIT_UNSUPPORTED) return;
    OK(status);
    double *c = poisoned_vector(q, 1);
    q_sum(q, 1, c);
    OK(tct_agree(w, q_status(q)));
    silence_begin();
    if (tacit_world_rank(w) == last) silence_keep();
    tct_note_lost_rank(&w->lost_rank, last, 2.0);
    tacit_queue_free(q, &c);
    tacit_queue_destroy(&q);
    silence_mark();
    silence_end();
}

static void nobody_waits_for_the_lost(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) == 1) return;
    for (int l = 0; tacit_link_at(l); l++) {
        tacit_world *w = NULL;
        OK(tacit_world_split(test_world(), 0, &w));
        close_without_the_last(w, tacit_link_at(l)->name);
        tacit_world_destroy(&w);
        OK(tct_agree(test_world(), TACIT_OK));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_everybodys),
        cmocka_unit_test(values_arrive_where_they_belong),
        cmocka_unit_test(floats_arrive_where_they_belong),
        cmocka_unit_test(a_link_without_floats_says_so),
        cmocka_unit_test(types_that_differ_are_refused),
        cmocka_unit_test(exchanges_keep_apart),
        cmocka_unit_test(channels_are_started_singly),
        cmocka_unit_test(lists_that_do_not_fit_are_refused),
        cmocka_unit_test(failures_are_everybodys),
        cmocka_unit_test(wishes_are_everybodys),
        cmocka_unit_test(nobody_waits_for_the_lost),
    };
    TEST_GPU_MAIN(tests);
}

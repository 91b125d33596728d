/* SPDX-License-Identifier: BSD-3-Clause
 * tests/jacobi.h - Jacobi's iteration on a grid: a point becomes the mean of
 * its neighbours and of b. It is enqueued, or done by a kernel that stays: on
 * the twin of a GPU (twin.h) threads are its blocks. */
#ifndef TESTS_JACOBI_H
#define TESTS_JACOBI_H
#include "comm/world/shared.h"
#include "device/protocol.h"
#include "gpu.h"
#include "jacobi_kernel.h"
#include "loop/loop.h"
#include "twin.h"

enum {
    WIDTH = JACOBI_WIDTH,
    LINES = 15,
    POINTS = WIDTH * LINES,
    BLOCKS = 3, /* threads of a kernel of the twin */
    RANKS = 8,  /* at most */
    SUMS = 2,   /* of a kernel: (r, r), and the flags */
    PHASES = 4
};
static const double DIAGONAL = JACOBI_DIAGONAL, TARGET2 = 1e-20;

/* --- the iteration -------------------------------------------------------- */

typedef struct kernel kernel;

typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    tct_loop loop;
    int64_t first; /* point of this rank */
    size_t n;
    double *x[2], *b, *d, *t, *c; /* on the device */
    int64_t stop_at, fail_at;     /* iterations of checks; 0: none */
    int64_t break_at; /* iteration that fails while it is enqueued; 0: none */
    int64_t checks, decided; /* checks so far; the one that ended the loop */
    double rr;
    bool absent; /* a block of the kernel does not come */
    kernel *kernel;
} jacobi;

/* y = beta x + d (b - A x), beta = 1, x and y changing places; (r, r) with r =
 * b - A x. */
static inline void enqueue(void *of, int64_t k)
{
    const jacobi *J = of;
    tacit_queue *q = J->q;
    const double *x = J->x[k % 2], *y = J->x[(k + 1) % 2];
    if (k == J->break_at && k > 0 && q->rank == q->ranks - 1)
        q_fail(q, TACIT_INPUT, "iteration %d was made to fail", (int)k);
    apply(J->A, q, x, J->t);
    q_pass(q, relax, J->n, (NULL, &J->c[C_BETA]), (J->d, J->t, J->b, x, y),
           &J->c[C_RHO]);
    q_aypx(q, J->n, -1.0, NULL, J->b, J->t);
    q_norm(q, J->n, J->t, &J->c[C_RR]);
    q_sum(q, 1, &J->c[C_RR]);
}

static inline tct_verdict check(void *of, int64_t k, const tct_sample *c)
{
    jacobi *J = of;
    if (k != ++J->checks && J->q->failed == TACIT_OK)
        q_fail(J->q, TACIT_INVALID, "check %d is of iteration %d",
               (int)J->checks, (int)k);
    if (k == J->fail_at && J->q->rank == J->q->ranks - 1)
        q_fail(J->q, TACIT_INPUT, "check %d was made to fail", (int)k);
    J->rr = c->rr;
    if (J->decided == 0 && (c->rr <= TARGET2 || k == J->stop_at))
        J->decided = k;
    return k == J->decided ? TCT_ENDS : TCT_GO_ON;
}

/* --- its kernel, of threads ----------------------------------------------- */

/* Memory of a rank that all reach: points of the grid, and slots of sums. */
typedef struct {
    double x[2][POINTS];
    struct tct_numbered slot[PHASES * RANKS * SUMS];
} window;

struct kernel {
    jacobi *J;
    twin *twin;
    tct_shared *memory;
    window *at[RANKS];
    struct tct_numbered *slots[RANKS];
    int64_t first, checks;  /* iteration and checks of this launch */
    uint64_t counter, sums; /* sums of earlier launches */
    double part[2][BLOCKS];
    pthread_t thread[BLOCKS];
    bool asked; /* its blocks to end */
};

typedef struct {
    kernel *K;
    int block;
} block;
static const uint64_t TIMEOUT_NS = UINT64_C(60000000000),
                      SOON_NS = UINT64_C(500000000);

/* Point i of iteration k, which another rank may have. */
static inline double point(const kernel *K, int64_t k, int64_t i)
{
    int r = 0;
    if (i < 0 || i >= POINTS) return 0.0;
    while (i / WIDTH >= LINES * (r + 1) / K->J->q->ranks) r++;
    return K->at[r]->x[k % 2][i];
}

/* The points of a block; returns its part of (r, r). */
static inline double sweep(const kernel *K, int b, int64_t k)
{
    const jacobi *J = K->J;
    double *y = K->at[J->q->rank]->x[(k + 1) % 2], rr = 0.0;
    for (int64_t l = b; l < (int64_t)J->n; l += BLOCKS) {
        const int64_t i = J->first + l;
        double sum = J->b[l] + point(K, k, i - WIDTH) + point(K, k, i + WIDTH);
        if (i % WIDTH > 0) sum += point(K, k, i - 1);
        if (i % WIDTH < WIDTH - 1) sum += point(K, k, i + 1);
        const double r = sum - DIAGONAL * point(K, k, i);
        y[i] = sum / DIAGONAL;
        rr += r * r;
    }
    return rr;
}

/* Sum over all blocks of all ranks: (r, r), and the ranks' flags. */
static inline tct_barrier_status sum_up(kernel *K, int b, int64_t i,
                                        double part, double total[SUMS])
{
    const tacit_queue *q = K->J->q;
    const uint64_t limit = K->J->absent ? SOON_NS : TIMEOUT_NS;
    const tct_slots S = {q->rank, q->ranks, PHASES, SUMS, K->slots};
    K->part[i & 1][b] = part;
    pthread_mutex_lock(&K->twin->lock);
    const bool end = b == 0 && K->twin->end && q->ranks == 1 && !K->asked;
    if (end) K->asked = true;
    const double mine[SUMS] = {0.0, K->twin->flags};
    pthread_mutex_unlock(&K->twin->lock);
    const uint64_t seen = tct_barrier_arrive_at(&K->counter, (uint32_t)i, end);
    const tct_barrier_status status =
        tct_await_blocks(&K->counter, seen, BLOCKS, (uint32_t)i, limit);
    if (status == TCT_LATE) return TCT_LATE;
    for (int s = 0; s < SUMS && b == 0; s++) {
        tct_fence_all(); /* points that other ranks read after this sum */
        double sum = mine[s];
        for (int k = 0; k < BLOCKS && s == 0; k++) sum += K->part[i & 1][k];
        tct_slot_send(S, s, K->sums + (uint64_t)i, sum, q->ranks);
    }
    for (int s = 0; s < SUMS; s++) {
        int missing;
        if (tct_total(S, s, K->sums + (uint64_t)i, NULL,
                      (tct_limit){limit, NULL}, &total[s],
                      &missing) != TCT_CAME)
            return TCT_LATE;
    }
    return status;
}

static inline void iterate(kernel *K, int b)
{
    for (int64_t i = 1; i <= K->checks; i++) {
        double total[SUMS] = {0.0};
        const double part = sweep(K, b, K->first + i - 1);
        if (K->J->absent && b == 1 && i == 5) return;
        const tct_barrier_status status = sum_up(K, b, i, part, total);
        const bool late = status == TCT_LATE;
        if (b == 0) twin_wait_for_cpu(K->twin);
        if (b == 0)
            twin_post(K->twin, (tct_sample){.rr = total[0],
                                            .bad = late ? BAD_TIME : BAD_NONE,
                                            .flags = total[1]});
        if (status != TCT_GO || total[0] <= TARGET2 || total[1] != 0.0) return;
    }
}

static inline void *be_block(void *arg)
{
    const block *own = arg;
    iterate(own->K, own->block);
    twin_leave(own->K->twin);
    return NULL;
}

static inline bool launch_threads(kernel *K, int64_t checks)
{
    static _Thread_local block blocks[BLOCKS];
    jacobi *J = K->J;
    double *own = K->at[J->q->rank]->x[J->loop.k % 2] + J->first;
    K->first = J->loop.k;
    K->checks = checks;
    K->counter = 0;
    K->asked = K->twin->end = false;
    q_get(J->q, J->n, J->x[K->first % 2], own);
    if (!tct_loop_is_well(J->q)) return false;
    K->twin->running = BLOCKS;
    for (int b = 0; b < BLOCKS; b++) {
        blocks[b] = (block){K, b};
        if (pthread_create(&K->thread[b], NULL, be_block, &blocks[b])) abort();
    }
    return true;
}

static inline void land_threads(kernel *K)
{
    const jacobi *J = K->J;
    for (int b = 0; b < BLOCKS; b++) pthread_join(K->thread[b], NULL);
    K->sums += (uint64_t)K->checks;
    for (int i = 0; i < 2; i++)
        q_put(J->q, J->n, K->at[J->q->rank]->x[i] + J->first, J->x[i]);
}

static inline void open_threads(jacobi *J)
{
    kernel *K = calloc(1, sizeof *K);
    assert_non_null(K);
    assert_true(J->q->ranks <= RANKS);
    K->J = J;
    K->twin = &twin_here;
    OK(tct_shared_create(test_world(), sizeof(window), &K->memory));
    for (int r = 0; r < J->q->ranks; r++) {
        K->at[r] = tct_shared_of(K->memory, r);
        K->slots[r] = K->at[r]->slot;
    }
    J->kernel = K;
}

static inline void close_threads(jacobi *J)
{
    if (!J->kernel) return;
    OK(tct_agree(test_world(), TACIT_OK)); /* others may read it */
    tct_shared_destroy(&J->kernel->memory);
    free(J->kernel);
}

/* --- the loops ------------------------------------------------------------ */

static inline bool on_gpu(void)
{
    return strcmp(TEST_DEVICE, "cuda") == 0;
}

static inline bool launch(void *of, int64_t checks)
{
    jacobi *J = of;
    if (!on_gpu()) return launch_threads(J->kernel, checks);
    return tct_loop_is_well(J->q) &&
           jacobi_launch(J->q, LINES, J->loop.k, checks, J->b, J->x, J->c);
}

static inline void landed(void *of)
{
    if (!on_gpu()) land_threads(((jacobi *)of)->kernel);
}

static const tct_loop_kernel stays = {launch, landed};

static const tct_loop_kind *const kinds[] = {&tct_loop_host, &tct_loop_graph,
                                             &tct_loop_persistent};
enum { KINDS = 3 };

/* The host as it is has loop host alone. */
typedef enum { AT_ONCE, HOST, GRAPH, PERSISTENT, FORMS } form;

static inline tct_iteration iteration_of(int period)
{
    return (tct_iteration){
        .enqueue = enqueue, .check = check, .period = period, .kernel = &stays};
}

/* The five-point matrix, each rank with some lines of the grid. */
static inline void open_matrix(jacobi *J)
{
    const int rank = tacit_world_rank(test_world());
    const int ranks = tacit_world_size(test_world());
    static const int to[] = {-WIDTH, -1, 0, 1, WIDTH};
    int64_t ptr[POINTS + 1] = {0}, col[5 * POINTS], count = 0;
    double val[5 * POINTS];
    J->first = (int64_t)(LINES * rank / ranks) * WIDTH;
    J->n = (size_t)((LINES * (rank + 1) / ranks) * WIDTH - J->first);
    for (size_t l = 0; l < J->n; l++) {
        const int64_t i = J->first + (int64_t)l;
        for (int s = 0; s < 5; s++) {
            const int64_t j = i + to[s];
            const bool line = to[s] * to[s] != 1 || j / WIDTH == i / WIDTH;
            if (j < 0 || j >= POINTS || !line) continue;
            val[count] = s == 2 ? DIAGONAL : -1.0;
            col[count++] = j;
        }
        ptr[l + 1] = count;
    }
    OK(tacit_matrix_from_rows(test_world(), POINTS, J->first, (int64_t)J->n,
                              ptr, col, val, &J->m));
}

static inline double b_of(int64_t i)
{
    return tct_uniform(7, (uint64_t)i) - 0.5;
}

static inline double *vector(tacit_queue *q, size_t n, double value)
{
    double *x = host_vector(n, value), *v = device_vector(q, n, x);
    free(x);
    return v;
}

static inline void open_jacobi(jacobi *J, form f, const char *decorator)
{
    char spec[64];
    memset(J, 0, sizeof *J);
    snprintf(spec, sizeof spec, "%s" TEST_DEVICE, decorator);
    J->q = open_queue(spec);
    open_matrix(J);
    OK(tacit_operator_create(J->q, J->m, on_gpu() ? NULL : "csr", &J->A));
    if (f > AT_ONCE && !on_gpu()) open_twin(J->q);
    for (int i = 0; i < 2; i++) J->x[i] = vector(J->q, J->n, 0.0);
    J->t = vector(J->q, J->n, 0.0);
    J->d = vector(J->q, J->n, 1.0 / DIAGONAL);
    J->c = vector(J->q, TCT_SCALARS, 0.0);
    double b[POINTS];
    for (size_t l = 0; l < J->n; l++) b[l] = b_of(J->first + (int64_t)l);
    J->b = device_vector(J->q, J->n, b);
    q_put(J->q, 1, &(double){1.0}, &J->c[C_BETA]);
    q_put(J->q, 1, &(double){TARGET2}, &J->c[C_TARGET2]);
    if (f == PERSISTENT && !on_gpu()) open_threads(J);
}

static inline void open_loop(jacobi *J, form f, const tct_iteration *I)
{
    const int kind = f == AT_ONCE ? 0 : (int)f - 1;
    OK(tct_loop_open(&J->loop, kinds[kind], I, J->q, J, J->c));
}

static inline void close_jacobi(jacobi *J)
{
    tct_loop_close(&J->loop);
    close_threads(J);
    for (int i = 0; i < 2; i++) tacit_queue_free(J->q, &J->x[i]);
    tacit_queue_free(J->q, &J->b);
    tacit_queue_free(J->q, &J->d);
    tacit_queue_free(J->q, &J->t);
    tacit_queue_free(J->q, &J->c);
    tacit_operator_destroy(&J->A);
    tacit_matrix_destroy(&J->m);
    tacit_queue_destroy(&J->q);
}

/* Has the device this form? A kernel of the GPU has no peers. */
static inline bool has_form(form f)
{
    if (!on_gpu()) return true;
    if (f == PERSISTENT) return tacit_world_size(test_world()) == 1;
    return f > AT_ONCE;
}

#endif

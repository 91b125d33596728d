/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_memory.c - memory of the cuda device: no leaks over many uses,
 * no dependence on earlier contents, memory of the queue's GPU whichever one
 * the thread used last, and refusal of what does not fit before anything
 * starts.
 *
 * LABEL: gpu */
#include "gpu_rig.h"
#if TCT_HAVE_CUDA
#include "device/gpu/gpu.h"
#endif

/* Bytes of GPU memory that are free, 0 where that is not to be known. */
static size_t free_bytes(void)
{
    size_t unused = 0;
#if TCT_HAVE_CUDA
    size_t all = 0;
    assert_int_equal(gpu_memory_info(&unused, &all), GPU_OK);
#endif
    return unused;
}

/* --- nothing is lost ------------------------------------------------------ */

/* The driver takes memory in pieces, and some for itself now and then. */
enum { DRIFT_MOST = 4 << 20 };

typedef struct {
    size_t gpu, used, blocks;
} account;

static account open_account(void)
{
    return (account){free_bytes(), tct_memory_used(), tct_memory_blocks()};
}

static void close_account(const account *before, const char *what)
{
    const account after = open_account();
    if (after.used != before->used || after.blocks != before->blocks)
        fail_msg("%s: %zu bytes of host memory in %zu blocks, %zu in %zu "
                 "before",
                 what, after.used, after.blocks, before->used, before->blocks);
    if (after.gpu + DRIFT_MOST < before->gpu)
        fail_msg("%s: %zu bytes of GPU memory are gone", what,
                 before->gpu - after.gpu);
}

static void a_thousand_solves_lose_nothing(void **state)
{
    (void)state;
    enum { WARM = 20, RUNS = 1000 };
    reference ref;
    open_reference(&ref, "poisson3d:10", gallery_matrix("poisson3d:10"), 5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        account before = {0};
        double *first = NULL;
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        for (int i = 0; i < WARM + RUNS; i++) {
            if (i == WARM) before = open_account();
            OK(solve(&r, 1e-8, 0));
        }
        close_account(&before, r.what);
        first = host_copy(r.q, r.n, r.x);
        assert_true(true_residual(&ref, ref.b, first) <= 1.001e-8);
        free(first);
        close_rig(&r);
    }
    close_reference(&ref);
}

/* Vectors that come and go, and recordings that are made anew. */
static void new_vectors_lose_nothing(void **state)
{
    (void)state;
    enum { WARM = 10, RUNS = 100 };
    reference ref;
    open_reference(&ref, "poisson3d:24", gallery_matrix("poisson3d:24"), 5);
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r;
        account before = {0};
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-4};
        if (!open_rig(&r, &ref, TEST_DEVICE, PLAIN, method_of(m), loop_of(l)))
            continue;
        for (int i = 0; i < WARM + RUNS; i++) {
            if (i == WARM) before = open_account();
            double *x = poisoned_vector(r.q, r.n);
            double *other = poisoned_vector(r.q, r.n); /* x moves about */
            double **to = i % 3 ? &x : &other;
            q_fill(r.q, r.n, 0.0, *to);
            OK(tacit_solver_run(r.s, r.b, *to, &stop, &r.result));
            tacit_queue_free(r.q, &x);
            tacit_queue_free(r.q, &other);
        }
        close_account(&before, r.what);
        close_rig(&r);
    }
    close_reference(&ref);
}

/* Queue, operator, solver, all of it again and again. */
static void everything_made_anew_loses_nothing(void **state)
{
    (void)state;
    enum { LOOPS = 3, METHODS_HERE = 4, ROUNDS = 3 };
    static const char *const cuda[] = {"csr",      "sell32",          "sell",
                                       "sell/f64", "bsell/f64+low32", "auto"};
    static const char *const host[] = {"csr", "sell", "bsell", "auto"};
    const bool stores = strcmp(TEST_DEVICE, "cuda") == 0;
    const int formats = stores ? 6 : 4, all = formats * METHODS_HERE * LOOPS;
    reference ref;
    account before = {0};
    open_reference(&ref, "elasticity3d:10", gallery_matrix("elasticity3d:10"),
                   5);
    for (int i = 0; i < ROUNDS * all; i++) { /* the first round warms up */
        if (i == all) before = open_account();
        const int format = i % formats, pair = i / formats;
        rig r;
        if (!open_rig(&r, &ref, TEST_DEVICE, (stores ? cuda : host)[format],
                      method_of(pair % METHODS_HERE),
                      loop_of(pair / METHODS_HERE % LOOPS)))
            continue;
        OK(solve(&r, 1e-4, 0));
        close_rig(&r);
    }
    close_account(&before, "everything made anew");
    close_reference(&ref);
}

/* What set-up of multigrid has in between is free again when it is over: it is
 * some times what stays, which is all free once that is destroyed. */
static void set_up_keeps_no_scratch(void **state)
{
    (void)state;
    enum { WARM = 1, RUNS = 2, PIECES = 64 << 20 };
    tacit_matrix *m = gallery_matrix("poisson3d:100");
    tacit_queue *q = NULL;
    tacit_operator *A = NULL, *M = NULL;
    account before = {0};
    OK(tacit_queue_create(test_world(), TEST_DEVICE, 0, &q));
    OK(tacit_operator_create(q, m, "sell", &A));
    for (int i = 0; i < WARM + RUNS; i++) {
        tacit_precond_info info = {.size = sizeof info};
        if (i == WARM) before = open_account();
        const size_t unused = free_bytes();
        OK(tacit_precond_create_of(A, m, "amg", NULL, &M));
        OK(tacit_precond_describe(M, &info));
        const double taken = (double)unused - (double)free_bytes();
        if (taken > 2.0 * info.bytes + PIECES)
            fail_msg("%.0f bytes are taken for %.0f", taken, info.bytes);
        tacit_operator_destroy(&M);
    }
    close_account(&before, "set-up of multigrid");
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

/* Solvers that cannot be had leave nothing behind either. */
static void what_is_refused_leaves_nothing(void **state)
{
    (void)state;
    enum { WARM = 3, RUNS = 50 };
    tacit_matrix *m = gallery_matrix("poisson3d:24");
    tacit_queue *q = open_queue(TEST_DEVICE);
    account before = {0};
    for (int i = 0; i < WARM + RUNS; i++) {
        if (i == WARM) before = open_account();
        tacit_operator *A = NULL;
        tacit_solver *s = NULL;
        EXPECT(TACIT_INVALID, tacit_operator_create(q, m, "sall", &A));
        EXPECT(TACIT_UNSUPPORTED, tacit_operator_create(q, m, "bsell", &A));
        assert_null(A);
        OK(tacit_operator_create(q, m, "csr", &A));
        EXPECT(TACIT_INVALID, tacit_solver_create(q, A, "cgg", &s));
        assert_null(s);
        tacit_operator_destroy(&A);
    }
    close_account(&before, "refusals");
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

/* As far as the k-th allocation of host memory, which fails; 0: none does. True
 * if everything was there. */
static bool make_all(const tacit_matrix *m, const char *format,
                     const char *loop, long k)
{
    tacit_queue *q = NULL;
    tacit_operator *A = NULL;
    tacit_solver *s = NULL;
    tct_memory_fail_at(k);
    tacit_status status = tacit_queue_create(test_world(), TEST_DEVICE, 1, &q);
    if (status == TACIT_OK) status = tacit_operator_create(q, m, format, &A);
    if (status == TACIT_OK) status = tacit_solver_create(q, A, "cg", &s);
    const bool loop_is_next = status == TACIT_OK;
    if (loop_is_next) status = tacit_solver_set_loop(s, loop);
    tct_memory_fail_at(0);
    /* a loop that has no memory is one that cannot be had, and so are blocks
     * that cannot be looked for */
    const bool refused = status == TACIT_UNSUPPORTED;
    if (status != TACIT_OK && !refused) EXPECT(TACIT_NO_MEMORY, status);
    const bool starved =
        !loop_is_next || strstr(tacit_error_message(), "memory") != NULL;
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    return status == TACIT_OK || (refused && !starved);
}

/* Each allocation of host memory fails once; nothing is lost. */
static void no_host_memory_is_survived(void **state)
{
    (void)state;
    static const char *const names[] = {"csr", "sell", "bsell"};
    tacit_matrix *m = gallery_matrix("elasticity3d:3");
    for (int f = 0; f < 3; f++) FOR_LOOPS(l)
        {
            assert_true(make_all(m, names[f], loop_of(l), 0));
            const account before = open_account();
            long k = 1;
            while (!make_all(m, names[f], loop_of(l), k)) {
                close_account(&before, names[f]);
                assert_true(++k < 400);
            }
            close_account(&before, names[f]);
            assert_true(k > 5);
        }
    tacit_matrix_destroy(&m);
}

/* --- nothing rests on what was there before ------------------------------- */

enum { SOLVES_MOST = 400 };
typedef struct {
    double *x;
    size_t n;
} solution;

static void add_solution(const rig *r, solution *all, int *count)
{
    assert_true(*count < SOLVES_MOST);
    solution *s = &all[(*count)++];
    *s = (solution){host_copy(r->q, r->n, r->x), r->n};
    if (!(true_residual(r->ref, r->ref->b, s->x) <= 1.001e-8))
        fail_msg("%s: residual %g", r->what,
                 true_residual(r->ref, r->ref->b, s->x));
}

/* The solutions of some problems; how many there are. */
static int solve_some(solution *all)
{
    static const char *const names[] = {"poisson2d:31x17", "elasticity3d:5",
                                        "tet3d:8,1", "random:500,6,3"};
    static const char *const cuda[] = {"csr",  "sell32",    "sell/f64",
                                       "sell", "bsell/f64", "sell/f64+low32"};
    static const char *const host[] = {"csr", "sell", "bsell"};
    const bool stores = strcmp(TEST_DEVICE, "cuda") == 0;
    int count = 0;
    for (int i = 0; i < 4 * (stores ? 6 : 3); i++) {
        const char *format = (stores ? cuda : host)[i / 4];
        reference ref;
        open_reference(&ref, names[i % 4], gallery_matrix(names[i % 4]), 5);
        FOR_METHODS(m)
        FOR_LOOPS(l)
        {
            rig r;
            if (!open_rig(&r, &ref, TEST_DEVICE, format, method_of(m),
                          loop_of(l)))
                continue;
            OK(solve(&r, 1e-8, 0));
            add_solution(&r, all, &count);
            close_rig(&r);
        }
        close_reference(&ref);
    }
    return count;
}

static void new_memory_is_poisoned(void)
{
    double *fresh = NULL, got = 0.0;
    tacit_queue *q = open_queue(TEST_DEVICE);
    OK(tacit_queue_alloc(q, 1000, &fresh));
    OK(tacit_queue_get(q, 1, fresh + 999, &got));
    if (strcmp(TEST_DEVICE, "cuda") == 0) assert_true(isnan(got));
    tacit_queue_free(q, &fresh);
    tacit_queue_destroy(&q);
}

static void poisoned_memory_changes_no_bit(void **state)
{
    (void)state;
    static solution clean[SOLVES_MOST], poisoned[SOLVES_MOST];
    unsetenv("TACIT_POISON");
    const int count = solve_some(clean);
    setenv("TACIT_POISON", "1", 1);
    new_memory_is_poisoned();
    assert_int_equal(solve_some(poisoned), count);
    unsetenv("TACIT_POISON");
    for (int i = 0; i < count; i++) {
        assert_int_equal(clean[i].n, poisoned[i].n);
        if (!same_bits(clean[i].x, poisoned[i].x, clean[i].n))
            fail_msg("solve %d of %d: poison shows", i, count);
        free(clean[i].x);
        free(poisoned[i].x);
    }
}

/* --- two GPUs ------------------------------------------------------------- */

/* A problem on a GPU, in a world of its own; what it solves is `ref`'s. */
typedef struct {
    const reference *ref;
    tacit_world *w;
    tacit_matrix *m;
    tacit_queue *q;
    tacit_operator *A;
    double *spare; /* [1] */
} side;

static void open_side(side *s, const reference *ref, const char *spec)
{
    *s = (side){.ref = ref};
    OK(tacit_world_self(&s->w));
    OK(tacit_matrix_open(s->w, ref->name, NULL, &s->m));
    OK(tacit_queue_create(s->w, spec, 1, &s->q));
    OK(tacit_operator_create(s->q, s->m, PLAIN, &s->A));
    OK(tacit_queue_alloc(s->q, 1, &s->spare));
}

static void close_side(side *s)
{
    tacit_queue_free(s->q, &s->spare);
    tacit_operator_destroy(&s->A);
    tacit_queue_destroy(&s->q);
    tacit_matrix_destroy(&s->m);
    tacit_world_destroy(&s->w);
}

/* The host has no other loop than its own. */
static bool has_loop(const char *loop)
{
    return strcmp(TEST_DEVICE, "cuda") == 0 || strcmp(loop, "host") == 0;
}

static tacit_solver *solver_on(const side *s, const char *loop)
{
    tacit_solver *solver = NULL;
    OK(tacit_solver_create(s->q, s->A, "cg", &solver));
    OK(tacit_solver_set_loop(solver, loop));
    return solver;
}

/* A monitor that has work on another GPU. */
static int use_spare(void *ctx, int64_t iteration, double residual)
{
    const side *s = ctx;
    (void)iteration;
    OK(tacit_queue_fill(s->q, 1, residual, s->spare));
    return 0;
}

/* With vectors made now; `other`, NULL for none, is used in the course of
 * it. */
static void solve_on(const side *s, tacit_solver *solver, side *other,
                     const char *what)
{
    const reference *ref = s->ref;
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-8,
                             .monitor = other ? use_spare : NULL,
                             .monitor_ctx = other};
    tacit_result result = {.size = sizeof result};
    double *b = device_vector(s->q, ref->n, ref->b);
    double *x = poisoned_vector(s->q, ref->n);
    OK(tacit_queue_fill(s->q, ref->n, 0.0, x));
    OK(tacit_solver_run(solver, b, x, &stop, &result));
    double *got = host_copy(s->q, ref->n, x);
    const double residual = true_residual(ref, ref->b, got);
    if (!(residual <= 1.001e-8)) fail_msg("%s: residual %.3e", what, residual);
    tacit_queue_free(s->q, &b);
    tacit_queue_free(s->q, &x);
    free(got);
}

/* What was made before the other queue was, and what is made after it. */
static void take_turns(side *first, const char *spec)
{
    tacit_solver *old[8] = {NULL};
    side second;
    FOR_LOOPS(l)
    {
        assert_true(l < 8);
        if (has_loop(loop_of(l))) old[l] = solver_on(first, loop_of(l));
    }
    open_side(&second, first->ref, spec);
    FOR_LOOPS(l)
    {
        if (!old[l]) continue;
        tacit_solver *other = solver_on(&second, loop_of(l));
        solve_on(&second, other, NULL, spec);
        solve_on(first, old[l], NULL, loop_of(l));
        solve_on(&second, other, first, spec);
        tacit_solver *fresh = solver_on(first, loop_of(l));
        solve_on(&second, other, NULL, spec);
        solve_on(first, fresh, &second, loop_of(l));
        tacit_solver_destroy(&other);
        tacit_solver_destroy(&old[l]);
        tacit_solver_destroy(&fresh);
    }
    OK(tacit_queue_fill(second.q, 1, 0.0, second.spare));
    close_side(first);
    OK(tacit_queue_fill(second.q, 1, 0.0, second.spare));
    close_side(&second);
}

/* One thread, two queues: calls with one leave the other's device current. */
static void two_gpus_of_a_thread_are_not_mixed_up(void **state)
{
    (void)state;
    static const char *const decorators[] = {"", "count:", "trace:"};
    const bool cuda = strcmp(TEST_DEVICE, "cuda") == 0;
    tct_hardware unused;
    reference ref;
    if (cuda && tct_device_identify("cuda(1)", 0, &unused) < 0) {
        print_message("skipped: two GPUs of a thread: there is one GPU\n");
        skip();
    }
    open_reference(&ref, "poisson2d:30", gallery_matrix("poisson2d:30"), 5);
    for (int d = 0; d < 3; d++) {
        char spec[32];
        side first;
        snprintf(spec, sizeof spec, "%s%s", decorators[d],
                 cuda ? "cuda(0)" : TEST_DEVICE);
        open_side(&first, &ref, spec);
        take_turns(&first, cuda ? "cuda(1)" : TEST_DEVICE);
    }
    close_reference(&ref);
}

/* --- what does not fit ---------------------------------------------------- */

static void vectors_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    reference ref;
    rig r;
    double *huge = NULL;
    open_reference(&ref, "poisson2d:31", gallery_matrix("poisson2d:31"), 5);
    assert_true(open_rig(&r, &ref, TEST_DEVICE, PLAIN, "cg", "host"));
    if (strcmp(TEST_DEVICE, "cuda") == 0) {
        EXPECT(TACIT_NO_MEMORY,
               tacit_queue_alloc(r.q, (size_t)1000000000000, &huge));
        assert_null(huge);
    }
    OK(q_status(r.q)); /* it is not the queue that failed */
    OK(solve(&r, 1e-8, 0));
    close_rig(&r);
#if TCT_HAVE_CUDA
    EXPECT(TACIT_NO_MEMORY, tct_gpu_require(1e18, "the matrix"));
    assert_non_null(strstr(tacit_error_message(), "the matrix"));
    assert_non_null(strstr(tacit_error_message(), "GiB"));
    OK(tct_gpu_require(1e6, "the matrix"));
#endif
    close_reference(&ref);
}

#if TCT_HAVE_CUDA
/* Fill the GPU up to less than `leave` bytes; the pieces, to be given back. */
enum { PIECES = 64 };
static void fill_gpu(size_t leave, void *piece[PIECES])
{
    for (int i = 0; i < PIECES; i++) piece[i] = NULL;
    for (int i = 0; i < PIECES; i++) {
        size_t bytes = free_bytes();
        while (bytes > leave / 2 && !piece[i]) {
            if (gpu_malloc(&piece[i], bytes - leave / 2) == GPU_OK) break;
            (void)gpu_last_error();
            piece[i] = NULL;
            bytes -= bytes / 16;
        }
        if (free_bytes() < leave) return;
    }
}
#endif

/* With the GPU nearly full a matrix is refused, and all is well again when
 * there is room. */
static void matrices_that_do_not_fit_are_refused(void **state)
{
    (void)state;
#if TCT_HAVE_CUDA
    static const char *const formats[] = {"csr", "sell32", "sell/f64"};
    tacit_matrix *m =
        gallery_matrix("poisson3d27:60"); /* 5.6 million entries */
    tacit_queue *q = open_queue("cuda");
    tacit_operator *A = NULL;
    void *piece[PIECES];
    const size_t leave = (size_t)24 << 20, before = free_bytes();
    fill_gpu(leave, piece);
    const size_t full = free_bytes();
    const bool is_full = full < leave;
    tacit_status status[3];
    char why[3][256];
    for (int f = 0; f < 3; f++) {
        status[f] = tacit_operator_create(q, m, formats[f], &A);
        snprintf(why[f], sizeof why[f], "%s", tacit_error_message());
        tacit_operator_destroy(&A);
    }
    const size_t after = free_bytes();
    for (int i = 0; i < PIECES; i++)
        if (piece[i]) (void)gpu_free(piece[i]);
    assert_true(is_full);
    for (int f = 0; f < 3; f++) {
        assert_int_equal(status[f], TACIT_NO_MEMORY);
        if (!strstr(why[f], "GiB")) fail_msg("%s: %s", formats[f], why[f]);
    }
    assert_true(after + DRIFT_MOST >= full);
    assert_true(free_bytes() + DRIFT_MOST >= before);
    OK(q_status(q));
    for (int f = 0; f < 3; f++) {
        OK(tacit_operator_create(q, m, formats[f], &A));
        tacit_operator_destroy(&A);
    }
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
#else
    skip();
#endif
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_solves_lose_nothing),
        cmocka_unit_test(new_vectors_lose_nothing),
        cmocka_unit_test(everything_made_anew_loses_nothing),
        cmocka_unit_test(set_up_keeps_no_scratch),
        cmocka_unit_test(what_is_refused_leaves_nothing),
        cmocka_unit_test(no_host_memory_is_survived),
        cmocka_unit_test(poisoned_memory_changes_no_bit),
        cmocka_unit_test(two_gpus_of_a_thread_are_not_mixed_up),
        cmocka_unit_test(vectors_that_do_not_fit_are_refused),
        cmocka_unit_test(matrices_that_do_not_fit_are_refused),
    };
    TEST_GPU_MAIN(tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_aware_mpi.c - link mpi with device memory outside the host's,
 * without a GPU: a host device with two kinds of memory that runs
 * asynchronously, and an MPI library that reports what the test sets.
 *
 * RUN: np=2,3 */
#define TEST_DEVICE "host"
#include "comm/exchange/plan.h"
#include "comm/link/link.h"
#include "gpu.h"
#if TCT_HAVE_MPI
#include "comm/world/mpi.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <sys/mman.h>

static const char WISH[] = "TACIT_GPU_AWARE_MPI";

/* --- the device ----------------------------------------------------------- */

enum { REGIONS = 4096 };
typedef struct {
    char *at; /* NULL: free */
    size_t bytes;
    bool shared; /* with the CPU */
} region;

static region regions[REGIONS];
static tct_device_ops apart; /* the host's, but for this */
static tct_op held;          /* launched when the next one comes */
static bool holding;
static bool reaches; /* MPI reaches its memory, which is closed to others */

static void *map(size_t bytes, bool shared)
{
    region *r = regions;
    while (r < regions + REGIONS && r->at) r++;
    if (r == regions + REGIONS) return NULL;
    bytes = (bytes / 4096 + 1) * 4096;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    for (size_t i = 0; i < bytes / sizeof(double); i++) ((double *)p)[i] = NAN;
    if (!shared && !reaches) mprotect(p, bytes, PROT_NONE);
    *r = (region){p, bytes, shared};
    return p;
}

static region *region_of(const void *p)
{
    for (region *r = regions; r < regions + REGIONS; r++)
        if (r->at && (const char *)p >= r->at &&
            (const char *)p < r->at + r->bytes)
            return r;
    return NULL;
}

static int regions_in_use(void)
{
    int n = 0;
    for (int i = 0; i < REGIONS; i++) n += regions[i].at != NULL;
    return n;
}

static void close_memory(bool close)
{
    for (region *r = regions; r < regions + REGIONS && !reaches; r++)
        if (r->at && !r->shared)
            mprotect(r->at, r->bytes,
                     close ? PROT_NONE : PROT_READ | PROT_WRITE);
}

static int launched; /* since the last mark */

static void run_here(tacit_queue *q, const tct_op *op)
{
    launched++;
    close_memory(false);
    tct_device_host.run(q, op);
    close_memory(true);
}

static void side_flush(tacit_queue *q)
{
    if (!holding) return;
    holding = false;
    run_here(q, &held);
}

static void side_mark(tacit_queue *q)
{
    side_flush(q);
    launched = 0;
}

static void side_run(tacit_queue *q, const tct_op *op)
{
    side_flush(q);
    if (op->code == TCT_GET || op->code == TCT_PUT) {
        run_here(q, op);
        return;
    }
    held = *op;
    holding = true;
}

static void *side_alloc(tacit_queue *q, size_t bytes)
{
    side_flush(q);
    return map(bytes, false);
}

static void *side_alloc_shared(tacit_queue *q, size_t bytes)
{
    side_flush(q);
    return map(bytes, true);
}

static void side_free(tacit_queue *q, void *p)
{
    region *r = region_of(p);
    side_flush(q);
    assert_non_null(r);
    munmap(r->at, r->bytes);
    r->at = NULL;
}

/* --- the library ---------------------------------------------------------- */

static int says; /* is it GPU-aware? */
static int asked;
static int in_shared, on_device; /* ends of messages so far */
static int idle;                 /* waits with something not launched */
static int meanwhile;            /* launched before messages started  */

#if defined(MPIX_CUDA_AWARE_SUPPORT)
int MPIX_Query_cuda_support(void)
{
    asked++;
    return says;
}
#elif defined(MPIX_GPU_SUPPORT_CUDA)
int MPIX_GPU_query_support(int type, int *out)
{
    asked += type == MPIX_GPU_SUPPORT_CUDA;
    *out = says;
    return MPI_SUCCESS;
}
#endif

static void note_end(const void *at, int count)
{
    const region *r = region_of(at);
    if (!r || count == 0) return;
    *(r->shared ? &in_shared : &on_device) += 1;
}

int MPI_Recv_init(void *at, int count, MPI_Datatype type, int peer, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    note_end(at, count);
    return PMPI_Recv_init(at, count, type, peer, tag, comm, request);
}

int MPI_Send_init(const void *at, int count, MPI_Datatype type, int peer,
                  int tag, MPI_Comm comm, MPI_Request *request)
{
    note_end(at, count);
    return PMPI_Send_init(at, count, type, peer, tag, comm, request);
}

int MPI_Startall(int n, MPI_Request *request)
{
    meanwhile = launched;
    return PMPI_Startall(n, request);
}

int MPI_Testall(int n, MPI_Request *request, int *there, MPI_Status *statuses)
{
    idle += holding;
    return PMPI_Testall(n, request, there, statuses);
}

/* --- queues --------------------------------------------------------------- */

/* A queue whose device is apart, with link mpi, opened for it. */
static tacit_status open_side_stream(tacit_world *w, tacit_queue **out)
{
    apart = tct_device_host;
    apart.alloc = side_alloc;
    apart.free = side_free;
    apart.alloc_shared = side_alloc_shared;
    apart.free_shared = side_free;
    apart.run = side_run;
    apart.flush = apart.sync = apart.reach = side_flush;
    apart.mark = side_mark;
    in_shared = on_device = idle = asked = 0;
    tacit_queue *q = NULL;
    OK(tacit_queue_create(w, "host@mpi", 1, &q));
    tct_link_mpi.close(q);
    tct_free_shared(q, q->sum);
    q->device = &apart;
    q->sum = tct_alloc_shared(q, TCT_SUM_MOST * sizeof *q->sum);
    assert_non_null(q->sum);
    q->links[q->via] = (tct_open_link){.link = &tct_link_mpi};
    const tacit_status status = tct_link_mpi.open(q);
    if (status < 0) tacit_queue_destroy(&q);
    *out = q;
    return status;
}

static int test_rank(void)
{
    return tacit_world_rank(test_world());
}

/* Every rank has what is for its number, NULL: unset. */
static void wish(const char *rank0, const char *others)
{
    const char *mine = test_rank() == 0 ? rank0 : others;
    if (mine) setenv(WISH, mine, 1);
    else unsetenv(WISH);
}

static bool is_asked_for(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT) || defined(MPIX_GPU_SUPPORT_CUDA)
    return true;
#else
    return false;
#endif
}

/* --- what is chosen ------------------------------------------------------- */

static void expect_choice(bool wanted)
{
    tacit_queue *q = NULL;
    OK(open_side_stream(test_world(), &q));
    assert_int_equal(q->links[q->via].on_device, wanted);
    assert_string_equal(tacit_queue_link_detail(q),
                        wanted ? "GPU-aware" : "through memory of the host");
    tacit_queue_destroy(&q);
}

static void expect_refusal(const char *word)
{
    tacit_queue *q = NULL;
    EXPECT(TACIT_INVALID, open_side_stream(test_world(), &q));
    assert_null(q);
    assert_non_null(strstr(tacit_error_message(), WISH));
    assert_non_null(strstr(tacit_error_message(), word));
}

static void the_library_says_or_the_user(void **state)
{
    (void)state;
    if (!test_launched_) skip();
    for (says = 0; says < 2; says++) {
        wish(NULL, NULL);
        expect_choice(says && is_asked_for());
        assert_int_equal(asked > 0, is_asked_for());
        wish("auto", "auto");
        expect_choice(says && is_asked_for());
        wish("yes", "yes");
        expect_choice(true);
        wish("no", "no");
        expect_choice(false);
    }
    static const char *const bad[] = {"", "Yes", "1", "maybe", "auto "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wish(bad[i], bad[i]);
        expect_refusal("expected auto, yes or no");
    }
    wish(NULL, NULL);
}

static void ranks_agree(void **state)
{
    (void)state;
    if (!test_launched_ || tacit_world_size(test_world()) == 1) skip();
    says = test_rank() == 0;
    expect_choice(false);
    says = 1;
    wish("no", NULL);
    expect_choice(false);
    wish("yes", NULL);
    if (is_asked_for()) expect_choice(true);
    says = 0;
    expect_refusal("set it for all");
    wish(NULL, "yes");
    expect_refusal("set it for all");
    wish("yes", "no");
    expect_refusal("set it for all");
    wish(NULL, "maybe"); /* rank 0 has its sentence, too */
    expect_refusal("expected auto, yes or no");
    wish(NULL, NULL);
}

static void the_text_says_which(void **state)
{
    (void)state;
    if (!test_launched_) skip();
    static const struct {
        const char *wish;
        int says;
        const char *text;
    } cases[] = {{NULL, 0, "not GPU-aware"},
                 {NULL, 1, "GPU-aware"},
                 {"no", 1, "not used as GPU-aware, as "},
                 {"yes", 0, "used as GPU-aware, as "},
                 {"maybe", 0, "TACIT_GPU_AWARE_MPI is 'maybe': expected"}};
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].says && !is_asked_for()) continue;
        wish(cases[i].wish, cases[i].wish);
        says = cases[i].says;
        OK(tacit_link_probe("mpi", text, sizeof text));
        assert_ptr_equal(strstr(text, cases[i].text), text);
    }
    wish(NULL, NULL);
}

/* Whatever the variable is. */
static void the_host_does_not_ask(void **state)
{
    (void)state;
    if (!test_launched_) skip();
    asked = 0;
    wish("maybe", "maybe");
    tacit_queue *q = open_queue("host@mpi");
    assert_false(q->links[q->via].on_device);
    assert_string_equal(tacit_queue_link_detail(q), "");
    assert_int_equal(asked, 0);
    tacit_queue_destroy(&q);
    wish(NULL, NULL);
}

/* --- messages ------------------------------------------------------------- */

/* A ring in which each rank sends elements 2 and 0 to the next, of any number
 * of columns. */
enum { N = 3, SENT = 2, COLUMNS = 4 };
static tct_plan *ring(tacit_queue *q)
{
    static const int32_t index[SENT] = {2, 0};
    const int next = (q->rank + 1) % q->ranks;
    const tct_plan_part send = {.peer = next, .count = SENT};
    const tct_plan_part recv = {.peer = (q->rank + q->ranks - 1) % q->ranks,
                                .count = SENT};
    tct_plan *plan = NULL;
    OK(tct_plan_from_lists(q, 1, &send, index, 1, &recv, COLUMNS, &plan));
    return plan;
}

static double value_at(int rank, int column, int i)
{
    return 100.0 * rank + 10.0 * column + i;
}

static void check_ring(tacit_queue *q)
{
    const int from = (q->rank + q->ranks - 1) % q->ranks;
    tct_plan *plan = ring(q);
    const tct_exchange *e = &plan->base;
    double host[COLUMNS * N], ghost[COLUMNS * SENT];
    assert_true((tct_landing(q, e, 1) == e->ghost) == reaches);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < N; i++) host[j * N + i] = value_at(q->rank, j, i);
    double *x = device_vector(q, COLUMNS * N, host);
    for (int columns = 1; columns <= COLUMNS; columns++) {
        q_exchange_begin(q, &plan->base, tct_panel_of(x, N, columns));
        q_fill(q, N, 0.0, x + (COLUMNS - 1) * N); /* the local product */
        q_exchange_end(q, &plan->base, columns);
        assert_int_equal(meanwhile, 1);
        q_put(q, COLUMNS * N, host, x);
        q_get(q, (size_t)(columns * SENT), plan->base.ghost, ghost);
        for (int j = 0; j < columns; j++) {
            assert_true(ghost[j * SENT] == value_at(from, j, 2));
            assert_true(ghost[j * SENT + 1] == value_at(from, j, 0));
        }
    }
    OK(q_status(q));
    tacit_queue_free(q, &x);
    tct_plan_destroy(&plan);
}

/* Two at once, which not all ranks end in one order, nor before the same
 * sum. */
static void check_ends(tacit_queue *q)
{
    const bool odd = q->rank % 2 == 1;
    tct_plan *plan[] = {ring(q), ring(q)};
    double host[N] = {q->rank, 0.0, -q->rank}, ghost[SENT], sum = 0.0;
    const double from = (q->rank + q->ranks - 1) % q->ranks;
    double *x = device_vector(q, N, host), *c = device_vector(q, 1, &sum);
    for (int k = 0; k < 2; k++)
        q_exchange_begin(q, &plan[k]->base, tct_single(x));
    if (odd) q_sum(q, 1, c);
    q_exchange_end(q, &plan[odd]->base, 1);
    q_exchange_end(q, &plan[!odd]->base, 1);
    if (!odd) q_sum(q, 1, c);
    for (int k = 0; k < 2; k++) {
        q_get(q, SENT, plan[k]->base.ghost, ghost);
        assert_true(ghost[0] == -from && ghost[1] == from);
        tct_plan_destroy(&plan[k]);
    }
    OK(q_status(q));
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &c);
}

/* A sum over the ranks of what is on the device. */
static void check_sum(tacit_queue *q)
{
    const double mine[2] = {1.0, q->rank};
    double all[2], *c = device_vector(q, 2, mine);
    q_sum(q, 2, c);
    q_get(q, 2, c, all);
    assert_true(all[0] == q->ranks);
    assert_true(all[1] == q->ranks * (q->ranks - 1) / 2);
    tacit_queue_free(q, &c);
}

static void check_messages(tacit_world *w)
{
    for (int aware = 0; aware < 2; aware++) {
        tacit_queue *q = NULL;
        wish(aware ? "yes" : "no", aware ? "yes" : "no");
        reaches = aware;
        OK(open_side_stream(w, &q));
        check_ring(q);
        check_sum(q);
        assert_int_equal(on_device, aware ? 2 * COLUMNS : 0);
        assert_int_equal(in_shared, aware ? 0 : 2 * COLUMNS);
        assert_int_equal(idle, 0);
        check_ends(q);
        tacit_queue_destroy(&q);
        assert_int_equal(regions_in_use(), 0);
    }
    wish(NULL, NULL);
}

static void messages_lie_where_they_should(void **state)
{
    (void)state;
    if (!test_launched_) skip();
    check_messages(test_world());
}

/* It may have messages to itself. */
static void so_do_those_of_a_rank_alone(void **state)
{
    (void)state;
    if (!test_launched_) skip();
    tacit_world *alone = NULL;
    OK(tacit_world_split(test_world(), test_rank(), &alone));
    check_messages(alone);
    tacit_world_destroy(&alone);
}

/* --- solves --------------------------------------------------------------- */

/* The solution, as `q` finds it; its number of rows. */
static size_t solve(tacit_queue *q, double **out)
{
    tacit_matrix *m = NULL;
    tacit_operator *A = NULL;
    tacit_solver *s = NULL;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-10};
    tacit_result result = {.size = sizeof result};
    OK(tacit_matrix_open(test_world(), "poisson2d:30", NULL, &m));
    OK(tacit_operator_create(q, m, "csr", &A));
    OK(tacit_solver_create(q, A, "cg", &s));
    const size_t n = (size_t)tacit_operator_local_rows(A);
    double *one = host_vector(n, 1.0), *zero = host_vector(n, 0.0);
    double *b = device_vector(q, n, one), *x = device_vector(q, n, zero);
    OK(tacit_solver_run(s, b, x, &stop, &result));
    *out = host_copy(q, n, x);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    free(one);
    free(zero);
    return n;
}

static void solves_have_the_same_bits(void **state)
{
    (void)state;
    if (!test_launched_) skip();
    double *plain = NULL;
    tacit_queue *q = open_queue("host@mpi");
    const size_t n = solve(q, &plain);
    tacit_queue_destroy(&q);
    for (int aware = 0; aware < 2; aware++) {
        double *x = NULL;
        wish(aware ? "yes" : "no", aware ? "yes" : "no");
        reaches = aware;
        OK(open_side_stream(test_world(), &q));
        solve(q, &x);
        assert_true(same_bits(x, plain, n));
        assert_int_equal(idle, 0);
        tacit_queue_destroy(&q);
        assert_int_equal(regions_in_use(), 0);
        free(x);
    }
    wish(NULL, NULL);
    free(plain);
}

/* --- a rank that does not come -------------------------------------------- */

static void what_may_still_come_has_its_memory(void **state)
{
    (void)state;
    if (!test_launched_ || tacit_world_size(test_world()) == 1) skip();
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    OK(tacit_world_split(test_world(), 0, &w));
    wish("yes", "yes");
    reaches = true;
    OK(open_side_stream(w, &q));
    q->peer_seconds = 0.3;
    tct_plan *plan = ring(q);
    double *x = poisoned_vector(q, COLUMNS * N);
    const double *ghost = plan->base.ghost;
    /* rank 0 waits for the last, which sends nothing */
    if (q->rank < q->ranks - 1) {
        q_exchange_begin(q, &plan->base, tct_single(x));
        q_exchange_end(q, &plan->base, 1);
        if (q->rank == 0) EXPECT(TACIT_COMM, q_status(q));
    }
    tct_plan_destroy(&plan);
    if (q->rank == 0) assert_non_null(region_of(ghost));
    tacit_queue_free(q, &x);
    tacit_queue_destroy(&q);
    wish(NULL, NULL);
    OK(tct_agree(test_world(), TACIT_OK));
    w->lost_rank.noted = true; /* rank 0 does not free what they share */
    tacit_world_destroy(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_says_or_the_user),
        cmocka_unit_test(ranks_agree),
        cmocka_unit_test(the_text_says_which),
        cmocka_unit_test(the_host_does_not_ask),
        cmocka_unit_test(messages_lie_where_they_should),
        cmocka_unit_test(so_do_those_of_a_rank_alone),
        cmocka_unit_test(solves_have_the_same_bits),
        cmocka_unit_test(what_may_still_come_has_its_memory),
    };
    TEST_MPI_MAIN(tests);
}
#else
int main(void)
{
    return SKIPPED;
}
#endif

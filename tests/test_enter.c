/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_enter.c - each public call with a queue, or with an object on it,
 * makes the queue's device current in the thread before using it, and leaves it
 * current. Needs no GPU: the host pretends to be such a device. */
#include "device/queue.h"
#include "mpi_main.h"
#include "said.h"
#include <stdlib.h>
#include <string.h>
#include <tacit/exchange.h>
#include <tacit/tacit.h>

/* --- a device that threads enter ------------------------------------------ */

static const tacit_queue *current; /* whose device it is; NULL: another one's */
static int uses, astray; /* of the device, and where it was not current */

static void use(const tacit_queue *q)
{
    uses++;
    if (current != q) astray++;
}

static void entered_enter(tacit_queue *q)
{
    current = q;
}

static void *entered_alloc(tacit_queue *q, size_t bytes)
{
    use(q);
    return tct_device_host.alloc(q, bytes);
}

static void entered_free(tacit_queue *q, void *p)
{
    use(q);
    tct_device_host.free(q, p);
}

static void entered_run(tacit_queue *q, const tct_op *op)
{
    use(q);
    tct_device_host.run(q, op);
}

static void entered_sync(tacit_queue *q)
{
    use(q);
    tct_device_host.sync(q);
}

static void entered_close(tacit_queue *q)
{
    use(q);
    tct_device_host.close(q);
}

static tct_device_ops entered;

static tacit_queue *open_queue(tacit_world *w, const char *spec)
{
    tacit_queue *q = NULL;
    OK(tacit_queue_create(w, spec, 1, &q));
    entered = tct_device_host;
    entered.enter = entered_enter;
    entered.alloc = entered_alloc;
    entered.free = entered_free;
    entered.run = entered_run;
    entered.sync = entered_sync;
    entered.close = entered_close;
    q->device = &entered;
    return q;
}

static void check_entered(const tacit_queue *q, const char *call)
{
    if (astray > 0)
        fail_msg("%s: %d of %d uses of a device that is not the current one",
                 call, astray, uses);
    if (current != q) fail_msg("%s: its device is not the current one", call);
    uses = astray = 0;
}

/* A call, where another device is the current one. */
#define COMES(q, call)           \
    do {                         \
        current = NULL;          \
        call;                    \
        check_entered(q, #call); \
    } while (0)

/* --- what is called ------------------------------------------------------- */

typedef struct {
    tacit_world *w;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *M;
    tacit_solver *s;
    size_t n;
    double *b, *x, *spare;
} things;

static int another_device(void *ctx, int64_t iteration, double residual)
{
    (void)ctx;
    (void)iteration;
    (void)residual;
    current = NULL;
    return 0;
}

static tacit_status twice(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const size_t *n = ctx;
    (void)q;
    for (size_t i = 0; i < *n; i++) y[i] = 2.0 * x[i];
    current = NULL;
    return TACIT_OK;
}

static tacit_status two(void *ctx, tacit_queue *q, double *d)
{
    const size_t *n = ctx;
    (void)q;
    for (size_t i = 0; i < *n; i++) d[i] = 2.0;
    current = NULL;
    return TACIT_OK;
}

static void queue_calls(things *t)
{
    double host = 1.0, got = 0.0;
    COMES(t->q, OK(tacit_queue_alloc(t->q, t->n, &t->b)));
    COMES(t->q, OK(tacit_queue_alloc(t->q, t->n, &t->x)));
    COMES(t->q, OK(tacit_queue_alloc(t->q, t->n, &t->spare)));
    COMES(t->q, OK(tacit_queue_fill(t->q, t->n, 0.0, t->x)));
    COMES(t->q, OK(tacit_queue_put(t->q, 1, &host, t->spare)));
    COMES(t->q, OK(tacit_queue_get(t->q, 1, t->spare, &got)));
    COMES(t->q, OK(tacit_queue_distance(t->q, t->n, t->x, NULL, &got)));
    COMES(t->q, OK(tacit_queue_measure_copy(t->q, 4096, &got)));
    COMES(t->q, OK(tacit_queue_measure_sum(t->q, 1, 1, &got)));
}

static void exchange_calls(things *t)
{
    tacit_exchange *e = NULL;
    COMES(t->q, OK(tacit_exchange_create(t->q, 0, NULL, NULL, 0, NULL, 1, &e)));
    COMES(t->q, tacit_exchange_begin(e, t->x, 0, 1));
    COMES(t->q, (void)tacit_exchange_end(e));
    COMES(t->q, tacit_exchange_destroy(&e));
}

static void operator_calls(things *t)
{
    double seconds = 0.0;
    tacit_matrix *taken = NULL;
    tacit_operator *B = NULL;
    COMES(t->q, OK(tacit_operator_create(t->q, t->m, "csr", &t->A)));
    COMES(t->q, OK(tacit_operator_manufacture(t->A, t->m, 1, t->x, t->b)));
    COMES(t->q, OK(tacit_operator_apply(t->A, t->x, t->spare)));
    COMES(t->q, OK(tacit_operator_measure_product(t->A, 1, t->x, t->spare,
                                                  &seconds)));
    COMES(t->q, OK(tacit_operator_update(t->A, t->m)));
    OK(tacit_matrix_open(t->w, "poisson2d:12", NULL, &taken));
    COMES(t->q, OK(tacit_operator_take(t->q, taken, "csr", &B)));
    COMES(t->q, tacit_operator_destroy(&B));
    tacit_matrix_destroy(&taken);
}

static void function_calls(things *t)
{
    tacit_operator_function f = {
        .size = sizeof f, .apply = twice, .diagonal = two, .ctx = &t->n};
    tacit_operator *F = NULL, *D = NULL;
    tacit_solver *s = NULL;
    tacit_result result = {.size = sizeof result};
    COMES(t->q, OK(tacit_operator_from_function(t->q, (int64_t)t->n, &f, &F)));
    COMES(t->q, OK(tacit_operator_apply(F, t->b, t->spare)));
    COMES(t->q, OK(tacit_precond_create(F, "jacobi", &D)));
    COMES(t->q, OK(tacit_solver_create(t->q, F, "cg", &s)));
    COMES(t->q, OK(tacit_solver_run(s, t->b, t->x, NULL, &result)));
    COMES(t->q, tacit_solver_destroy(&s));
    COMES(t->q, tacit_operator_destroy(&D));
    COMES(t->q, tacit_operator_destroy(&F));
}

static void precond_calls(things *t)
{
    double factor = 0.0;
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-6, .monitor = another_device};
    tacit_result result = {.size = sizeof result};
    COMES(t->q, OK(tacit_precond_create_of(t->A, t->m, "direct", NULL, &t->M)));
    COMES(t->q, OK(tacit_precond_measure(t->A, t->M, &factor)));
    COMES(t->q, OK(tacit_precond_solve(t->A, t->M, 1, t->b, t->n, t->x, t->n,
                                       &stop, &result)));
    COMES(t->q, tacit_operator_destroy(&t->M));
    COMES(t->q, OK(tacit_precond_create_of(t->A, t->m, "amg", NULL, &t->M)));
    COMES(t->q, OK(tacit_precond_update(t->M, t->m)));
}

static void solver_calls(things *t)
{
    enum { COLUMNS = 2 };
    tacit_result result[COLUMNS] = {{.size = sizeof *result},
                                    {.size = sizeof *result}};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-6, .monitor = another_device};
    const size_t all = COLUMNS * t->n;
    double *B = NULL, *X = NULL;
    COMES(t->q, OK(tacit_queue_alloc(t->q, all, &B)));
    COMES(t->q, OK(tacit_queue_alloc(t->q, all, &X)));
    COMES(t->q, OK(tacit_queue_fill(t->q, all, 1.0, B)));
    COMES(t->q, OK(tacit_queue_fill(t->q, all, 0.0, X)));
    COMES(t->q, OK(tacit_solver_create(t->q, t->A, "cg", &t->s)));
    COMES(t->q, OK(tacit_solver_set(t->s, "loop", "host")));
    COMES(t->q, OK(tacit_solver_run(t->s, t->b, t->x, &stop, result)));
    COMES(t->q, OK(tacit_solver_set_precond(t->s, t->M)));
    COMES(t->q, OK(tacit_solver_run(t->s, t->b, t->x, &stop, result)));
    COMES(t->q, OK(tacit_solver_run_block(t->s, COLUMNS, B, t->n, X, t->n,
                                          &stop, result)));
    COMES(t->q, OK(tacit_queue_fill(t->q, t->n, 0.0, t->x)));
    COMES(t->q, OK(tacit_solver_race(
                    t->s,
                    &(tacit_precond_race){.size = sizeof(tacit_precond_race),
                                          .matrix = t->m},
                    t->b, t->x, &stop, result)));
    COMES(t->q, OK(tacit_solver_run(t->s, t->b, t->x, &stop, result)));
    COMES(t->q, tacit_queue_free(t->q, &B));
    COMES(t->q, tacit_queue_free(t->q, &X));
}

static void calls_enter(const char *spec)
{
    things t = {.w = NULL};
    OK(tacit_world_self(&t.w));
    OK(tacit_matrix_open(t.w, "poisson2d:12", NULL, &t.m));
    t.n = (size_t)tacit_matrix_local_rows(t.m);
    t.q = open_queue(t.w, spec);
    queue_calls(&t);
    exchange_calls(&t);
    operator_calls(&t);
    function_calls(&t);
    precond_calls(&t);
    solver_calls(&t);
    COMES(t.q, tacit_solver_destroy(&t.s));
    COMES(t.q, tacit_operator_destroy(&t.M));
    COMES(t.q, tacit_operator_destroy(&t.A));
    COMES(t.q, tacit_queue_free(t.q, &t.b));
    COMES(t.q, tacit_queue_free(t.q, &t.x));
    COMES(t.q, tacit_queue_free(t.q, &t.spare));
    const tacit_queue *const gone = t.q;
    COMES(gone, tacit_queue_destroy(&t.q));
    tacit_matrix_destroy(&t.m);
    tacit_world_destroy(&t.w);
}

static void calls_make_their_device_the_current_one(void **state)
{
    (void)state;
    calls_enter("host");
}

static void so_they_do_below_decorators(void **state)
{
    (void)state;
    calls_enter("trace:count:host");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_make_their_device_the_current_one),
        cmocka_unit_test(so_they_do_below_decorators),
    };
    TEST_MPI_MAIN(tests);
}

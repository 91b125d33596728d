/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_precond.c - preconditioners on the cuda device: every method,
 * in loops host and graph, against the host.
 *
 * LABEL: gpu */
#include "gpu_rig.h"

/* Iterations of a solve; -1: there is no such loop, and it is said why. */
static int64_t iterations_of(const char *spec, const char *matrix,
                             const char *method, const char *loop)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-9, .max_iterations = 20000};
    tacit_result result = {.size = sizeof result};
    tacit_queue *q = open_queue(spec);
    tacit_matrix *m = gallery_matrix(matrix);
    tacit_operator *A = NULL;
    tacit_solver *s = NULL;
    OK(tacit_operator_create(q, m, NULL, &A));
    OK(tacit_solver_create(q, A, method, &s));
    OK(tacit_solver_set(s, "precond", "jacobi"));
    const tacit_status status = tacit_solver_set_loop(s, loop);
    if (status == TACIT_UNSUPPORTED) {
        assert_non_null(strstr(tacit_error_message(), "precond"));
    } else {
        OK(status);
        const size_t n = (size_t)tacit_operator_local_rows(A);
        double *x = NULL, *b = NULL;
        OK(tacit_queue_alloc(q, n, &x));
        OK(tacit_queue_alloc(q, n, &b));
        for (int i = 0; i < 2; i++) { /* a recording, and again */
            OK(tacit_operator_manufacture(A, m, 5 + i, x, b));
            OK(tacit_queue_fill(q, n, 0.0, x));
            OK(tacit_solver_run(s, b, x, &stop, &result));
            assert_true(result.true_relative_residual <= 1e-9);
        }
        tacit_queue_free(q, &x);
        tacit_queue_free(q, &b);
    }
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
    return status == TACIT_OK ? result.iterations : -1;
}

static void jacobi_counts_are_those_of_the_host(void **state)
{
    (void)state;
    static const char *const matrices[] = {"jump3d:14,1e4,1", "tet3d:9,3",
                                           "elasticity3d:6"};
    for (int i = 0; i < 3; i++)
        for (int j = 0; tacit_method_at(j); j++) {
            const char *method = tacit_method_at(j)->name;
            const int64_t host =
                iterations_of("host", matrices[i], method, "host");
            for (int l = 0; tacit_loop_at(l); l++) {
                const char *loop = tacit_loop_at(l)->name;
                const int64_t k =
                    iterations_of(TEST_DEVICE, matrices[i], method, loop);
                if (strcmp(loop, "resident") == 0) continue;
                assert_true(llabs(k - host) <= 2 + host / 50);
            }
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobi_counts_are_those_of_the_host)};
    TEST_GPU_MAIN(tests);
}

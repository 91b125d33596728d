/* SPDX-License-Identifier: BSD-3-Clause
 * tests/amg_levels.h - levels of multigrid made by the host and by the tasks of
 * a device are compared. */
#ifndef TESTS_AMG_LEVELS_H
#define TESTS_AMG_LEVELS_H
#include "amg_twin.h"
#include "matrix/matrix.h"

typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
} levels_problem;

static inline void open_levels(levels_problem *p, tacit_matrix *m)
{
    p->m = m;
    p->q = open_queue("host");
    OK(tacit_operator_create(p->q, p->m, "sell@none", &p->A));
}

static inline void close_levels(levels_problem *p)
{
    tacit_operator_destroy(&p->A);
    tacit_matrix_destroy(&p->m);
    tacit_queue_destroy(&p->q);
}

/* Levels told of as made elsewhere, and as left to the host. */
static int told_there, told_left;

static inline void listen(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    told_there += strstr(text, "on the device") != NULL;
    told_left += strstr(text, "the host makes") != NULL;
}

/* With doubles, unless something else is asked for. */
static inline tacit_operator *make_levels(const levels_problem *p,
                                          const tct_amg_kernels *kernels,
                                          const tacit_precond_options *wishes)
{
    tacit_precond_options o = {.size = sizeof o};
    tacit_operator *M = NULL;
    if (wishes) o = *wishes;
    if (!o.precision) o.precision = "double";
    told_there = told_left = 0;
    tct_amg_kernels_instead = kernels;
    OK(tacit_precond_create_of(p->A, p->m, "amg", &o, &M));
    tct_amg_kernels_instead = NULL;
    return M;
}

static inline void expect_same_levels(const tacit_operator *here,
                                      const tacit_operator *there,
                                      const char *what)
{
    tacit_precond_info a = {.size = sizeof a}, b = {.size = sizeof b};
    OK(tacit_precond_describe(here, &a));
    OK(tacit_precond_describe(there, &b));
    assert_int_equal(a.levels, b.levels);
    assert_string_equal(a.end, b.end);
    assert_true(a.bytes == b.bytes);
    for (int i = 0; i < a.levels; i++) {
        const tacit_precond_level *h = tacit_precond_level_at(here, i);
        const tacit_precond_level *t = tacit_precond_level_at(there, i);
        if (h->rows != t->rows || h->nonzeros != t->nonzeros ||
            h->largest != t->largest || strcmp(h->format, t->format) != 0)
            fail_msg("%s, level %d: %d rows, %d entries, %.17g; %d, %d, %.17g "
                     "there",
                     what, i, (int)h->rows, (int)h->nonzeros, h->largest,
                     (int)t->rows, (int)t->nonzeros, t->largest);
    }
}

/* To that tolerance; 0: to the same bits. */
static inline void expect_same_cycle(const levels_problem *p,
                                     const tacit_operator *here,
                                     const tacit_operator *there,
                                     const char *what, double tolerance)
{
    const size_t n = (size_t)tacit_operator_local_rows(p->A);
    double *x = random_vector(n, 7);
    double *y = image_of(here, p->q, n, x), *z = image_of(there, p->q, n, x);
    const double away = distance_of(n, y, z) / norm_of(n, y);
    if (!(tolerance > 0.0 ? away <= tolerance : same_bits(y, z, n)))
        fail_msg("%s: %g away", what, away);
    free(x);
    free(y);
    free(z);
}

/* `least` levels at least are made there. */
static inline void expect_same(tacit_matrix *m, const char *what,
                               const tacit_precond_options *o, int least)
{
    levels_problem p;
    open_levels(&p, m);
    tacit_operator *here = make_levels(&p, NULL, o);
    assert_int_equal(told_there, 0);
    tacit_operator *there = make_levels(&p, &twin_kernels, o);
    if (told_there < least)
        fail_msg("%s: only %d levels there", what, told_there);
    expect_same_levels(here, there, what);
    expect_same_cycle(&p, here, there, what, 0.0);
    tacit_operator_destroy(&here);
    tacit_operator_destroy(&there);
    close_levels(&p);
}

#endif

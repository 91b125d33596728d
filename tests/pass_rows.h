/* SPDX-License-Identifier: BSD-3-Clause
 * tests/pass_rows.h - the passes as a list, and the effect of a body, found by
 * running it. */
#ifndef TESTS_PASS_ROWS_H
#define TESTS_PASS_ROWS_H
#include "device/queue.h"
#include <math.h>
#include <string.h>

typedef struct {
    const char *name;
    tct_pass pass;
    int vectors, sums;
    unsigned reads, writes;
    bool held;
    int dot, nrm2, axpy;
    void (*body)(double *v, double a, double b, double *s);
} pass_row;

static const pass_row pass_rows[TCT_PASS_COUNT] = {
#define X(name, text, vectors, reads, writes, sums, held, dot, nrm2, axpy) \
    {#name, PASS_##name, vectors, sums, reads,      writes,                \
     held,  dot,         nrm2,    axpy, pass_##name},
    TCT_PASSES(X)
#undef X
};

/* More of each than any pass may have. */
enum { MARKED = 16 };

static inline void run_marked(const pass_row *p, int poisoned, double *v,
                              double *s)
{
    for (int k = 0; k < MARKED; k++) {
        v[k] = k == poisoned ? (double)NAN : 2.0 + 0.37 * k;
        s[k] = 1.0 + 0.21 * k;
    }
    p->body(v, 0.75, -1.25, s);
}

/* What a body does: `writes` is what it leaves otherwise than it was; `reads`
 * is what makes something that it leaves NaN by being NaN; and how many sums
 * it adds to, MARKED where these are not the first ones. */
typedef struct {
    unsigned reads, writes;
    int sums;
} pass_marks;

static inline pass_marks marks_of(const pass_row *p)
{
    pass_marks m = {0, 0, 0};
    double v[MARKED], s[MARKED];
    run_marked(p, -1, v, s);
    for (int k = 0; k < MARKED; k++) {
        if (v[k] != 2.0 + 0.37 * k) m.writes |= 1u << k;
        if (s[k] != 1.0 + 0.21 * k) m.sums = m.sums == k ? k + 1 : MARKED;
    }
    for (int from = 0; from < MARKED; from++) {
        run_marked(p, from, v, s);
        for (int k = 0; k < MARKED; k++)
            if (isnan(s[k]) || (isnan(v[k]) && m.writes >> k & 1))
                m.reads |= 1u << from;
    }
    return m;
}

/* Enqueue row `p` with all of its vectors, `apart` elements behind v. */
static inline void enqueue_pass(tacit_queue *q, const pass_row *p, size_t n,
                                double sign, const double *alpha,
                                const double *beta, double *const *v,
                                size_t apart, double *out)
{
    const double *on[TCT_OP_VECTORS];
    for (int k = 0; k < p->vectors; k++) on[k] = v[k] + apart;
    q_run_pass(q, p->pass, n, sign, alpha, beta, on, out);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * device/passes.h - the passes: sweeps over vectors, each declared once.
 *
 * A row has the vectors that a pass reads and writes, its sums and its counts;
 * a body has the arithmetic for one element of each vector. Host loops, GPU
 * kernels, persistent kernels, byte counts and tests are generated from these
 * two, so a new pass is a row and a body. */
#ifndef TCT_DEVICE_PASSES_H
#define TCT_DEVICE_PASSES_H
#include "device/steps.h"

/* X(name, text, vectors, reads, writes, sums, held, dot, nrm2, axpy): `vectors`
 * is their number, in the order given at the body; `reads` and `writes` have
 * bit k for vector k; `held`: the pass changes nothing if C_HELD is set, alpha
 * being C_ALPHA; the last three are its counts in the aCG paper's section
 * 4.1.4. Vectors that a persistent kernel may keep on the chip precede the
 * others. */
#define TCT_PASSES(X)                                                          \
    X(fill, "fill", 1, 0x0, 0x1, 0, 0, 0, 0, 0)                                \
    X(copy, "copy", 2, 0x1, 0x2, 0, 0, 0, 0, 0)                                \
    X(copies, "two copies", 3, 0x1, 0x6, 0, 0, 0, 0, 0)                        \
    X(swap, "swap", 2, 0x3, 0x3, 0, 0, 0, 0, 0)                                \
    X(scale, "scale", 1, 0x1, 0x1, 0, 0, 0, 0, 0)                              \
    X(axpy, "axpy", 2, 0x3, 0x2, 0, 0, 0, 0, 1)                                \
    X(aypx, "aypx", 2, 0x3, 0x2, 0, 0, 0, 0, 1)                                \
    X(axpby, "axpby", 3, 0x3, 0x4, 0, 0, 0, 0, 2)                              \
    X(dot, "dot", 2, 0x3, 0x0, 1, 0, 1, 0, 0)                                  \
    X(norm, "norm", 1, 0x1, 0x0, 1, 0, 0, 1, 0)                                \
    X(dots, "two dots", 2, 0x3, 0x0, 2, 0, 1, 1, 0)                            \
    X(axpy_norm, "axpy+norm", 2, 0x3, 0x2, 1, 0, 0, 1, 1)                      \
    X(times, "elementwise product", 3, 0x3, 0x4, 1, 0, 1, 0, 0)                \
    X(relax, "relaxation", 5, 0xf, 0x10, 1, 0, 1, 0, 2)                        \
    X(smooth, "smoothing step", 5, 0x1f, 0x10, 1, 0, 1, 0, 3)                  \
    X(chebyshev, "Chebyshev term", 4, 0x7, 0x8, 0, 0, 0, 0, 3)                 \
    X(flexible_update, "flexible update", 6, 0x3f, 0x3c, 1, 1, 0, 1, 4)        \
    X(single_m_update, "single update with M", 6, 0x3f, 0x39, 2, 1, 1, 1, 4)   \
    X(pipelined_m_update, "pipelined update with M", 10, 0x3ff, 0x3f6, 3, 1,   \
      2, 1, 8)                                                                 \
    X(pipe_pr_m_update, "pipe-pr update with M", 10, 0x3ff, 0x3f0, 5, 1, 4, 1, \
      8)                                                                       \
    X(cg_update, "cg update", 3, 0x7, 0x6, 0, 1, 0, 0, 2)                      \
    X(single_update, "single update", 4, 0xf, 0xd, 1, 1, 0, 1, 3)              \
    X(pipelined_update, "pipelined update", 7, 0x7f, 0x7e, 2, 1, 1, 1, 6)      \
    X(pipe_pr_update, "pipe-pr update", 6, 0x3f, 0x36, 4, 1, 3, 1, 5)          \
    X(minres_lanczos, "minres Lanczos vector", 3, 0x7, 0x6, 1, 0, 0, 1, 2)     \
    X(minres_direction, "minres direction", 3, 0x7, 0x6, 0, 0, 0, 0, 2)        \
    X(minres_update, "minres update", 4, 0xf, 0xc, 1, 1, 0, 1, 2)

typedef enum tct_pass {
#define X(name, ...) PASS_##name,
    TCT_PASSES(X)
#undef X
        TCT_PASS_COUNT
} tct_pass;

/* Rows that vectors of floats take, too: they are loaded and stored as floats,
 * the arithmetic and the sums are in doubles. */
#define TCT_FLOAT_PASSES(X) X(copy) X(scale) X(axpy) X(norm)

/* The number of vectors of each pass, and the maximum; its columns. */
enum {
#define X(name, text, vectors, reads, writes, sums, ...)          \
    PASS_VECTORS_##name = (vectors), PASS_READS_##name = (reads), \
    PASS_WRITES_##name = (writes), PASS_SUMS_##name = (sums),
    TCT_PASSES(X)
#undef X
};
union tct_pass_widths {
#define X(name, text, vectors, ...) char name[vectors];
    TCT_PASSES(X)
#undef X
};
enum { TCT_PASS_VECTORS = sizeof(union tct_pass_widths) };

/* a b + c, rounded once on a GPU, and on the host where the compiler has the
 * instruction. */
TCT_BOTH double muladd(double a, double b, double c)
{
#if TCT_ON_GPU
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* `v` has the elements, `s` the sums so far; `a` is alpha with its sign, or the
 * given number; `b` is beta. */
#define TCT_BODY(name)                                                     \
    TCT_BOTH void pass_##name(double *v, __attribute__((unused)) double a, \
                              __attribute__((unused)) double b,            \
                              __attribute__((unused)) double *s)

TCT_BODY(fill) /* y */
{
    v[0] = a;
}
TCT_BODY(copy) /* x y */
{
    v[1] = v[0];
}
TCT_BODY(copies) /* x y z */
{
    v[1] = v[2] = v[0];
}
TCT_BODY(swap) /* x y */
{
    const double x = v[0];
    v[0] = v[1];
    v[1] = x;
}
TCT_BODY(scale) /* y */
{
    v[0] = v[0] * a;
}
TCT_BODY(axpy) /* x y */
{
    v[1] = muladd(a, v[0], v[1]);
}
TCT_BODY(aypx) /* x y */
{
    v[1] = muladd(a, v[1], v[0]);
}
TCT_BODY(axpby) /* x y z */
{
    v[2] = muladd(a, v[0], b * v[1]);
}
TCT_BODY(dot) /* x y */
{
    s[0] = muladd(v[0], v[1], s[0]);
}
TCT_BODY(norm) /* x */
{
    s[0] = muladd(v[0], v[0], s[0]);
}
TCT_BODY(dots) /* x y */
{
    s[0] = muladd(v[0], v[1], s[0]);
    s[1] = muladd(v[1], v[1], s[1]);
}
TCT_BODY(axpy_norm) /* x y */
{
    v[1] = muladd(a, v[0], v[1]);
    s[0] = muladd(v[1], v[1], s[0]);
}

TCT_BODY(times) /* d x y */
{
    v[2] = v[0] * v[1];              /* y = d x, each element */
    s[0] = muladd(v[1], v[2], s[0]); /* (x, y)                */
}

TCT_BODY(relax) /* d t b x y */
{
    v[4] = muladd(a * v[0], v[2] - v[1], b * v[3]); /* y = beta x
                                                       + alpha d (b - t) */
    s[0] = muladd(v[2], v[4], s[0]);                /* (b, y)            */
}
TCT_BODY(smooth) /* d t b x y */
{
    v[4] = muladd(a * v[0], v[2] - v[1],         /* y = x + beta (x - y) */
                  muladd(b, v[3] - v[4], v[3])); /* + alpha d (b - t) */
    s[0] = muladd(v[2], v[4], s[0]);             /* (b, y)               */
}
TCT_BODY(chebyshev) /* t y old new */
{
    v[3] = muladd(a, v[0], -2.0 * v[1] - v[2]); /* new = a t - 2 y - old */
}

TCT_BODY(flexible_update) /* z w r x p s */
{
    v[4] = muladd(b, v[4], v[0]);    /* p = z + beta p  */
    v[5] = muladd(b, v[5], v[1]);    /* s = w + beta s  */
    v[3] = muladd(a, v[4], v[3]);    /* x = x + alpha p */
    v[2] = muladd(-a, v[5], v[2]);   /* r = r - alpha s */
    s[0] = muladd(v[2], v[2], s[0]); /* (r, r)          */
}

TCT_BODY(single_m_update) /* z st s r x p */
{
    v[4] = muladd(a, v[5], v[4]);    /* x = x + alpha p   */
    v[3] = muladd(-a, v[2], v[3]);   /* r = r - alpha s   */
    v[0] = muladd(-a, v[1], v[0]);   /* z = z - alpha st  */
    v[5] = muladd(b, v[5], v[0]);    /* p = z + beta p    */
    s[0] = muladd(v[3], v[3], s[0]); /* (r, r)            */
    s[1] = muladd(v[0], v[3], s[1]); /* (r, z)            */
}

TCT_BODY(pipelined_m_update) /* n z q m s w u p r x */
{
    const double q = muladd(b, v[2], v[3]);
    v[1] = muladd(b, v[1], v[0]);    /* z = n + beta z  */
    v[2] = q;                        /* q = m + beta q  */
    v[4] = muladd(b, v[4], v[5]);    /* s = w + beta s  */
    v[7] = muladd(b, v[7], v[6]);    /* p = u + beta p  */
    v[9] = muladd(a, v[7], v[9]);    /* x = x + alpha p */
    v[8] = muladd(-a, v[4], v[8]);   /* r = r - alpha s */
    v[6] = muladd(-a, v[2], v[6]);   /* u = u - alpha q */
    v[5] = muladd(-a, v[1], v[5]);   /* w = w - alpha z */
    s[0] = muladd(v[8], v[8], s[0]); /* (r, r)          */
    s[1] = muladd(v[6], v[8], s[1]); /* (r, u)          */
    s[2] = muladd(v[5], v[6], s[2]); /* (w, u)          */
}

TCT_BODY(pipe_pr_m_update) /* w u wt ut p x r s z st */
{
    const double w = muladd(-a, v[1], v[0]);
    const double wt = muladd(-a, v[3], v[2]);
    v[5] = muladd(a, v[4], v[5]);    /* x = x + alpha p            */
    v[6] = muladd(-a, v[7], v[6]);   /* r = r - alpha s            */
    v[8] = muladd(-a, v[9], v[8]);   /* z = z - alpha st           */
    v[4] = muladd(b, v[4], v[8]);    /* p = z + beta p             */
    v[7] = muladd(b, v[7], w);       /* s = w - alpha u + beta s   */
    v[9] = muladd(b, v[9], wt);      /* st = wt - alpha ut + beta st */
    s[0] = muladd(v[6], v[6], s[0]); /* (r, r)                     */
    s[1] = muladd(v[8], v[6], s[1]); /* (r, z)                     */
    s[2] = muladd(v[4], v[7], s[2]); /* (p, s)                     */
    s[3] = muladd(v[8], v[7], s[3]); /* (z, s)                     */
    s[4] = muladd(v[9], v[7], s[4]); /* (st, s)                    */
}

TCT_BODY(cg_update) /* r x p */
{
    v[1] = muladd(a, v[2], v[1]); /* x = x + alpha p */
    v[2] = muladd(b, v[2], v[0]); /* p = r + beta p  */
}

TCT_BODY(single_update) /* r s x p */
{
    v[2] = muladd(a, v[3], v[2]);    /* x = x + alpha p */
    v[0] = muladd(-a, v[1], v[0]);   /* r = r - alpha s */
    v[3] = muladd(b, v[3], v[0]);    /* p = r + beta p  */
    s[0] = muladd(v[0], v[0], s[0]); /* (r, r)          */
}

TCT_BODY(pipelined_update) /* n z s w p r x */
{
    v[1] = muladd(b, v[1], v[0]);    /* z = n + beta z  */
    v[2] = muladd(b, v[2], v[3]);    /* s = w + beta s  */
    v[4] = muladd(b, v[4], v[5]);    /* p = r + beta p  */
    v[6] = muladd(a, v[4], v[6]);    /* x = x + alpha p */
    v[5] = muladd(-a, v[2], v[5]);   /* r = r - alpha s */
    v[3] = muladd(-a, v[1], v[3]);   /* w = w - alpha z */
    s[0] = muladd(v[5], v[5], s[0]); /* (r, r)          */
    s[1] = muladd(v[3], v[5], s[1]); /* (w, r)          */
}

TCT_BODY(pipe_pr_update) /* w p x u r s */
{
    const double w = muladd(-a, v[3], v[0]);
    v[2] = muladd(a, v[1], v[2]);    /* x = x + alpha p          */
    v[4] = muladd(-a, v[5], v[4]);   /* r = r - alpha s          */
    v[1] = muladd(b, v[1], v[4]);    /* p = r + beta p           */
    v[5] = muladd(b, v[5], w);       /* s = w - alpha u + beta s */
    s[0] = muladd(v[4], v[4], s[0]); /* (r, r)                   */
    s[1] = muladd(v[1], v[5], s[1]); /* (p, s)                   */
    s[2] = muladd(v[4], v[5], s[2]); /* (r, s)                   */
    s[3] = muladd(v[5], v[5], s[3]); /* (s, s)                   */
}

TCT_BODY(minres_lanczos) /* t u v */
{
    const double unit = 1.0 / b, w = muladd(-a, v[1], v[0]);
    const double u = muladd(-b, v[2], unit * w);
    v[2] = unit * v[1];        /* v = u / b                        */
    v[1] = u;                  /* u = (t - a u) / b - b v          */
    s[0] = muladd(u, u, s[0]); /* (u, u)                           */
}

TCT_BODY(minres_direction) /* z p s */
{
    const double p = muladd(-b, v[2], muladd(-a, v[1], v[0]));
    v[2] = v[1]; /* s = p                */
    v[1] = p;    /* p = z - a p - b s    */
}

TCT_BODY(minres_update) /* u p x r */
{
    v[2] = muladd(a, v[1], v[2]);      /* x = x + alpha p      */
    v[3] = muladd(-a, v[0], b * v[3]); /* r = beta r - alpha u */
    s[0] = muladd(v[3], v[3], s[0]);   /* (r, r)               */
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/cell.h - the arithmetic of a cell, one text for each type
 * and device. A file that includes it defines TCT_REAL, the type, TCT_CELL, how
 * a function is declared, and TCT_ADD, TCT_MUL, TCT_FMA, operations of TCT_REAL
 * that no compiler fuses with others. The order of additions is that of
 * tacit/stencil.h. */
#ifndef TCT_OPERATOR_STENCIL_CELL_H
#define TCT_OPERATOR_STENCIL_CELL_H
#ifdef TCT_REAL

/* Of a row: p leaves the cell x itself out, q has it. */
TCT_CELL TCT_REAL row_p(const TCT_REAL *c, int64_t x)
{
    return TCT_ADD(c[x - 1], c[x + 1]);
}

TCT_CELL TCT_REAL row_q(const TCT_REAL *c, int64_t x)
{
    return TCT_ADD(row_p(c, x), c[x]);
}

TCT_CELL TCT_REAL sum_star2(const TCT_REAL *n, const TCT_REAL *c,
                            const TCT_REAL *s, int64_t x)
{
    return TCT_ADD(TCT_ADD(n[x], s[x]), row_p(c, x));
}

TCT_CELL TCT_REAL sum_box2(const TCT_REAL *n, const TCT_REAL *c,
                           const TCT_REAL *s, int64_t x)
{
    return TCT_ADD(TCT_ADD(row_q(n, x), row_q(s, x)), row_p(c, x));
}

TCT_CELL TCT_REAL sum_star3(const TCT_REAL *d, const TCT_REAL *n,
                            const TCT_REAL *c, const TCT_REAL *s,
                            const TCT_REAL *u, int64_t x)
{
    return TCT_ADD(TCT_ADD(d[x], u[x]),
                   TCT_ADD(TCT_ADD(n[x], s[x]), row_p(c, x)));
}

/* P of a plane, all nine cells. */
TCT_CELL TCT_REAL plane_p(const TCT_REAL *n, const TCT_REAL *c,
                          const TCT_REAL *s, int64_t x)
{
    return TCT_ADD(TCT_ADD(row_q(n, x), row_q(s, x)), row_q(c, x));
}

/* fma(C, c, N S), or N S. */
TCT_CELL TCT_REAL weighted(bool has_centre, TCT_REAL centre, TCT_REAL cell,
                           TCT_REAL neighbours, TCT_REAL sum)
{
    const TCT_REAL product = TCT_MUL(neighbours, sum);
    return has_centre ? TCT_FMA(centre, cell, product) : product;
}

#endif
#endif

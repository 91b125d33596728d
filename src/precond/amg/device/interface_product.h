/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_product.h - Q'A Q of interface rows, where Q
 * maps each row and each ghost to one aggregate. Rows of one aggregate are
 * added up in their order, whatever the number of threads. */
#ifndef TCT_PRECOND_AMG_DEVICE_INTERFACE_PRODUCT_H
#define TCT_PRECOND_AMG_DEVICE_INTERFACE_PRODUCT_H
#include "device/parallel.h"
#include "precond/amg/galerkin/row_accumulation.h"

typedef struct tct_interface_product {
    const tct_csr *A;    /* columns are ghosts */
    const int32_t *of;   /* [A->rows] row of the product, -1: none */
    const int32_t *at;   /* [ghosts] column of the product, -1: none */
    int64_t rows, cols;  /* of the product */
    tct_members members; /* rows of A of each row of the product */
    tct_csr B;           /* pattern of the product, columns ascending */
    int parts;           /* of its rows, for threads */
    int32_t *place;      /* [parts][cols] work space */
} tct_interface_product;

/* Find the pattern of a product whose first five members are set; clear it also
 * after an error.
 * Memory      4 bytes a column and thread, and an entry of A.
 * Errors      NO_MEMORY. */
tacit_status tct_interface_product_open(tct_interface_product *p);
void tct_interface_product_clear(tct_interface_product *p);

/* Compute B.val. `weight` [A->rows] and `ghost_weight` [ghosts] are the entries
 * of Q, NULL: ones; with `squared` entries of A are squared. */
void tct_interface_product_add_up(const tct_interface_product *p,
                                  const double *weight,
                                  const double *ghost_weight, bool squared);

/* The first row of `part`. */
static inline int64_t
tct_interface_product_first(const tct_interface_product *p, int part)
{
    return tct_part_first(p->rows, part, p->parts);
}

/* For columns of row `n` of the product, in `part`: their entries, counted from
 * the first of the row. */
static inline const int32_t *
tct_interface_product_places(const tct_interface_product *p, int part,
                             int64_t n)
{
    int32_t *const place = p->place + part * p->cols;
    const int64_t from = p->B.ptr[n], to = p->B.ptr[n + 1];
    for (int64_t e = from; e < to; e++)
        place[tct_csr_col(&p->B, e)] = (int32_t)(e - from);
    return place;
}

#endif

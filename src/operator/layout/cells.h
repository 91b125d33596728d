/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/cells.h - the contents of a slice's cell (layout.h): for code
 * that reads a matrix back, on the host or on a GPU. Products use faster ways.
 * Of GPU_GRID, which stores nothing, cell k is point k of the stencil. */
#ifndef TCT_OPERATOR_LAYOUT_CELLS_H
#define TCT_OPERATOR_LAYOUT_CELLS_H
#include "device/steps.h"
#include "operator/layout/layout.h"

/* Point `k` of a grid's stencil, of the 27 around a cell. */
TCT_BOTH int tct_cell_point(const tct_gpu_arrays *a, int k)
{
    return a->grid.box ? k : tct_star_point(k);
}

/* The row's neighbour at point `k`; -1 if it has none. */
TCT_BOTH int32_t tct_cell_neighbour(const tct_gpu_arrays *a, int64_t row, int k)
{
    if (row >= a->rows) return -1;
    const tct_grid_cell c = tct_grid_cell_of(&a->grid, (int32_t)row);
    const int p = tct_cell_point(a, k);
    return tct_grid_neighbour(&a->grid, c, p / 3, p % 3 - 1);
}

/* Cells of a lane of slice `s`. */
TCT_BOTH int tct_cell_width(const tct_gpu_arrays *a, int64_t s)
{
    if (a->walk != GPU_GRID) return a->slice[s].width;
    return a->grid.box ? TCT_GRID_POINTS : TCT_GRID_STAR;
}

/* Block column `k` of lane `l` of slice `s`; -1 if it has none. */
TCT_BOTH int32_t tct_cell_column(const tct_gpu_arrays *a, int64_t s, int l,
                                 int k)
{
    if (a->walk == GPU_GRID) return tct_cell_neighbour(a, GPU_LANES * s + l, k);
    const tct_gpu_slice *slice = &a->slice[s];
    const uint8_t *index = a->index + slice->index;
    const tct_column_run *run = (const tct_column_run *)(const void *)index;
    const tct_gpu_const *same = (const tct_gpu_const *)(const void *)index;
    const uint16_t *near = (const uint16_t *)(const void *)index;
    const int32_t *far = (const int32_t *)(const void *)index;
    const bool exists =
        k < slice->full || (a->length && k < a->length[GPU_LANES * s + l]);
    switch ((tct_slice_kind)slice->kind) {
    case SLICE_RUN: return run[k].mask >> l & 1 ? run[k].base + l : -1;
    case SLICE_CONST: return same[k].mask >> l & 1 ? same[k].base + l : -1;
    case SLICE_NEAR:
        if (!exists) return -1;
        return slice->base + near[2 * (k / 2 * GPU_LANES + l) + k % 2];
    case SLICE_FAR: return exists ? far[GPU_LANES * k + l] : -1;
    }
    return -1;
}

/* The group of lane `l` of slice `s`; -1: none. */
TCT_BOTH int64_t tct_cell_group(const tct_gpu_arrays *a, int64_t s, int l)
{
    const int64_t at = GPU_LANES * s + l;
    const bool sorted = a->walk != GPU_GRID && a->slice[s].sorted;
    const int64_t g = sorted ? at / GPU_WINDOW * GPU_WINDOW + a->order[at] : at;
    return g < a->groups ? g : -1;
}

/* Its value in row `r` and column `c` of the block, in a lossless store. */
TCT_BOTH double tct_cell_block_value(const tct_gpu_arrays *a, int64_t s, int l,
                                     int k, int r, int c)
{
    if (a->walk == GPU_GRID) return a->grid.k[tct_cell_point(a, k)];
    const tct_gpu_slice *slice = &a->slice[s];
    const uint8_t *index = a->index + slice->index;
    const tct_gpu_const *same = (const tct_gpu_const *)(const void *)index;
    const int64_t b = a->b;
    const int64_t at = ((slice->cell + k) * b + c) * b * GPU_LANES + l * b + r;
    if (slice->kind == SLICE_CONST) return same[k].value;
    switch ((tct_gpu_store)a->store) {
    case GPU_F64: return ((const double *)a->value)[at];
    case GPU_F32: return ((const float *)a->value)[at];
    case GPU_DICT8: return a->dict[((const uint8_t *)a->value)[at]];
    case GPU_DICT16: return a->dict[((const uint16_t *)a->value)[at]];
    case GPU_F48: break;
    }
    return 0.0;
}

/* The same for rows (b = 1). */
TCT_BOTH double tct_cell_value(const tct_gpu_arrays *a, int64_t s, int l, int k)
{
    return tct_cell_block_value(a, s, l, k, 0, 0);
}

/* y = |A| |x| for the rows of lane `l` of slice `s`, in a lossless store. */
TCT_BOTH void tct_cell_magnitude(const tct_gpu_arrays *a, int64_t s, int l,
                                 const double *x, double *y)
{
    const int64_t group = tct_cell_group(a, s, l);
    const int64_t first = group * a->b;
    if (group < 0) return;
    for (int r = 0; r < a->b && first + r < a->rows; r++) {
        double sum = 0.0;
        for (int k = 0; k < tct_cell_width(a, s); k++) {
            const int64_t j = tct_cell_column(a, s, l, k);
            for (int c = 0; j >= 0 && c < a->b && j * a->b + c < a->cols; c++)
                sum += fabs(tct_cell_block_value(a, s, l, k, r, c) *
                            x[j * a->b + c]);
        }
        y[first + r] = sum;
    }
}

/* The same for row `i` of those kept apart, of which slices have nothing. */
TCT_BOTH void tct_long_row_magnitude(const tct_gpu_arrays *a, int64_t i,
                                     const double *x, double *y)
{
    double sum = 0.0;
    for (int64_t k = a->long_ptr[i]; k < a->long_ptr[i + 1]; k++)
        sum += fabs(a->long_val[k] * x[a->long_col[k]]);
    y[a->long_row[i]] = sum;
}

/* --- rows as given -------------------------------------------------------- */

/* The number of entries of the rows of lane `l` of slice `s`, with those that
 * fill blocks. */
TCT_BOTH void tct_cell_count(const tct_gpu_arrays *a, int64_t s, int l,
                             int32_t *count)
{
    const int64_t group = tct_cell_group(a, s, l);
    int32_t blocks = 0;
    if (group < 0) return;
    for (int k = 0; k < tct_cell_width(a, s); k++)
        blocks += tct_cell_column(a, s, l, k) >= 0;
    for (int64_t i = group * a->b; i < (group + 1) * a->b && i < a->rows; i++)
        count[i] = blocks * a->b;
}

/* Their columns and values, into consecutive places from ptr[row] on; blocks
 * have no other entries. */
TCT_BOTH void tct_cell_read(const tct_gpu_arrays *a, int64_t s, int l,
                            const int64_t *ptr, int32_t *col, double *val)
{
    const int64_t group = tct_cell_group(a, s, l);
    const int b = a->b;
    int64_t found = 0;
    if (group < 0) return;
    for (int k = 0; k < tct_cell_width(a, s); k++) {
        const int32_t j = tct_cell_column(a, s, l, k);
        if (j < 0) continue;
        for (int r = 0; r < b && group * b + r < a->rows; r++)
            for (int c = 0; c < b; c++) {
                const int64_t at = ptr[group * b + r] + found + c;
                col[at] = j * b + c;
                val[at] = tct_cell_block_value(a, s, l, k, r, c);
            }
        found += b;
    }
}

#endif

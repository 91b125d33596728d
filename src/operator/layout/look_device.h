/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/look_device.h - what a set-up asks of rows before they are
 * stored (pattern/scale.c, null/components.c), of rows on a device. */
#ifndef TCT_OPERATOR_LAYOUT_LOOK_DEVICE_H
#define TCT_OPERATOR_LAYOUT_LOOK_DEVICE_H
#include "operator/layout/store_device.h"

/* Of rows, at least one: sizes with the bits of the host's, the `diagonal` [rows of R], in memory of
 * the device, and the tct_row_state of each row: `*state` [rows], the caller's,
 * is NULL if all rows are of components with a row that stands, so that no null
 * vector is to be looked for. A row of the others may stand only because
 * another of its component does.
 * Memory      5 bytes of the device a row.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_look_at_rows(const tct_store_rows *R, tct_row_sizes *sizes,
                              double *diagonal, unsigned char **state);

/* Are all rows cells of this grid, with its coefficients?
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_look_at_grid(const tct_store_rows *R,
                              const struct tct_grid_rows *grid, bool *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/device.h - a field of a queue on a GPU: two buffers in its memory,
 * laid out as those of the host. The host's buffer is where values are read and
 * written; whole buffers are copied when a run begins, or values are asked for
 * after one. */
#ifndef TCT_STENCIL_DEVICE_H
#define TCT_STENCIL_DEVICE_H
#include "operator/stencil/device_steps.h"
#include "stencil/field.h"

typedef struct tct_field_device {
    const tct_device_steps *steps;
    char *buffer[2];
    int now; /* the buffer that has the values */
    char *outside, *coefficient;
    double *changes;    /* [rows][blocks], once a run measures them       */
    bool host_is_newer; /* its values, or coefficients                    */
    bool host_is_older;
} tct_field_device;

/* Make and free f->device.
 * Errors      UNSUPPORTED (the device has no steps), NO_MEMORY, DEVICE. */
tacit_status tct_field_open_device(tacit_field *f);
void tct_field_close_device(tacit_field *f);

/* Let the host have the values, before it reads or changes them; or the
 * device, before a run.
 * Errors      DEVICE. */
tacit_status tct_field_to_host(const tacit_field *f);
tacit_status tct_field_to_device(tacit_field *f);
/* Let the device have room for measured changes.
 * Errors      NO_MEMORY. */
tacit_status tct_field_measures(tacit_field *f);
/* The host changes values or coefficients next.
 * Errors      DEVICE. */
tacit_status tct_field_change(tacit_field *f);

/* device_ways.c. The data of a step of the block. */
tct_step_work tct_device_work(const tacit_field *f);
/* The changes of the step that was last, as tct_sweep_visit notes them; both
 * buffers have all cells. */
void tct_device_measure(tacit_field *f, double *changes);
/* Has this grid tiles of `depth`? Their depths, descending, then 0.
 * Errors      UNSUPPORTED. */
tacit_status tct_device_tiles_check(const tacit_field *f, int depth,
                                    const int **depths);
const int *tct_device_tiles_depths(const tacit_field *f); /* NULL: none */

/* The number of the buffer that has the values of `f`, on its device. */
int *tct_field_now(tacit_field *f);

#endif

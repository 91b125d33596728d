/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_device.h - ways of a GPU whose kernels stay for all steps:
 * operator/stencil/persistent.h. */
#ifndef TCT_STENCIL_OWN_DEVICE_H
#define TCT_STENCIL_OWN_DEVICE_H
#include "stencil/way.h"

extern const tct_way_ops tct_device_free, tct_device_free2, tct_device_cached;

/* Do ways free, cached and tiles have tiles in shared memory, for visits of
 * `depth` steps? On all ranks or on none. Collective. */
bool tct_device_is_small(const tacit_field *f, int depth);
/* Does the largest block fit? As this rank's GPU says. */
bool tct_device_fits_chip(const tacit_field *f, int depth);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/level_operator.c - the operator of a coarse level. */
#include "precond/amg/device/device_setup.h"

/* As the device stores rows, else the first of a few formats that suits the
 * matrix, without autotuning. For dense blocks on a GPU the format says
 * whether values are floats, which saves a scan of them. */
tacit_status tct_amg_operator_of(tacit_queue *q, const tacit_matrix *m,
                                 bool blocks, bool floats, tacit_operator **out)
{
    static const char *const formats[] = {"bsell/f32@none", "bsell/f64@none",
                                          "bsell@none", "sell@none",
                                          "csr@none"};
    enum { FLOATS, DOUBLES, ON_HOST, ROWS, ALL };
    const bool gpu = q->device->kind == TCT_KIND_GPU;
    tacit_status status =
        blocks ? TACIT_UNSUPPORTED : tct_amg_device_put(q, m, floats, out);
    int i = ROWS;
    if (blocks) i = !gpu ? ON_HOST : floats ? FLOATS : DOUBLES;
    for (; i < ALL && status == TACIT_UNSUPPORTED; i++)
        status = tacit_operator_create(q, m, formats[i], out);
    return status;
}

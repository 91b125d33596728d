/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/csr.h - format csr of the host, whose rows other formats can be
 * made of. */
#ifndef TCT_OPERATOR_HOST_CSR_H
#define TCT_OPERATOR_HOST_CSR_H
#include "operator/format.h"

/* The rows of `B`, a block of format csr, as long as it lives. */
tct_local tct_csr_rows_of(const tct_block *B);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * io/assembly.h - assembles entries in any order into sorted rows.
 *
 *     tct_assembly_create(sizes, &a);
 *     tct_assembly_add(a, &batch);       // for each batch
 *     tct_assembly_finish(a, &A, &duplicates);
 *     tct_assembly_destroy(&a);
 *
 * Entries are sorted into buckets of rows, 16 bytes each. At the end each
 * bucket becomes rows and frees its memory meanwhile: the peak is a third above
 * the matrix. Duplicates are added in their order of arrival, for any number of
 * threads. */
#ifndef TCT_IO_ASSEMBLY_H
#define TCT_IO_ASSEMBLY_H
#include "io/format.h"

typedef struct tct_assembly tct_assembly;

/* For rows [first, first + rows); `expected`, the number of entries, is a hint.
 * Borrows `crew`. */
tacit_status tct_assembly_create(int64_t global_rows, int64_t global_cols,
                                 int64_t first, int64_t rows, int64_t expected,
                                 tct_crew *crew, tct_assembly **out);

/* Add checked entries of these rows. They must not change until the next call,
 * or until the crew has completed its next work.
 * Errors    NO_MEMORY. */
tacit_status tct_assembly_add(tct_assembly *a, const tct_batch *batch);

/* Make the rows and empty `a`; `*duplicates` counts entries that were added to
 * another one.
 * Errors    NO_MEMORY. */
tacit_status tct_assembly_finish(tct_assembly *a, tct_csr *out,
                                 int64_t *duplicates);

void tct_assembly_destroy(tct_assembly **a);

#endif

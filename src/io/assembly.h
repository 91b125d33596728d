/* SPDX-License-Identifier: BSD-3-Clause
 * io/assembly.h - entries in any order become sorted rows.
 *
 *     tct_assembly_create(sizes, &a);
 *     tct_assembly_add(a, &batch);       // as often as there are batches
 *     tct_assembly_finish(a, &A, &duplicates);
 *     tct_assembly_destroy(&a);
 *
 * Entries are dealt into buckets of rows, 16 bytes each. At the end each
 * bucket becomes rows and gives its memory back as it does, so that the peak
 * is a third above the matrix itself. Entries of one place are added in the
 * order in which they came, whatever the number of threads. */
#ifndef TCT_IO_ASSEMBLY_H
#define TCT_IO_ASSEMBLY_H
#include "io/format.h"

typedef struct tct_assembly tct_assembly;

/* For rows [first, first + rows); `expected` entries is a hint. Borrows
 * `crew`. */
tacit_status tct_assembly_create(int64_t global_rows, int64_t global_cols,
                                 int64_t first, int64_t rows, int64_t expected,
                                 tct_crew *crew, tct_assembly **out);

/* Take entries of these rows, checked before. They must stay as they are until
 * the next call, or until the crew has done its next work.
 * Errors      NO_MEMORY. */
tacit_status tct_assembly_add(tct_assembly *a, const tct_batch *batch);

/* Make the rows; `*duplicates` counts the entries added to another one.
 * Leaves `a` empty.
 * Errors      NO_MEMORY. */
tacit_status tct_assembly_finish(tct_assembly *a, tct_csr *out,
                                 int64_t *duplicates);

void tct_assembly_destroy(tct_assembly **a);

#endif

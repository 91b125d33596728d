/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/assemble.h - the rows of a finite element matrix on a mesh, any part
 * of them, without the rest. Rows are the free components, node by node. */
#ifndef TCT_GALLERY_ASSEMBLE_H
#define TCT_GALLERY_ASSEMBLE_H
#include "gallery/element.h"
#include "gallery/mesh.h"
#include "sparse/csr.h"

typedef struct tct_fem {
    tct_mesh mesh;
    tct_physics physics;
    int dof;          /* components of a node                            */
    int64_t *row;     /* [nodes + 1] the first row of each node          */
    uint8_t *spring;  /* [nodes] stands on springs; NULL: none does      */
    int64_t touching; /* no node is in more elements                     */
} tct_fem;

/* Number the rows of `mesh`, which is taken over, also after an error. Scalar
 * unknowns are held where any component is. If nothing is held and `physics`
 * would leave the body free to move, its lowest nodes stand on springs as stiff
 * as they are: the diagonal there is doubled.
 * Errors      INPUT (a node in no element, everything held), NO_MEMORY. */
tacit_status tct_fem_open(tct_mesh *mesh, const tct_physics *physics,
                          tct_fem *out);

/* The elements at the nodes of rows [first, first + rows), for the calls below;
 * tct_free ends it. Borrows `fem`. */
typedef struct tct_fem_part tct_fem_part;
tacit_status tct_fem_part_create(const tct_fem *fem, int64_t first,
                                 int64_t rows, tct_fem_part **out);

/* Entries of rows [first, first + rows), those of the part. */
tacit_status tct_fem_lengths(const tct_fem_part *part, int64_t first,
                             int64_t rows, int64_t *length);

/* Columns and values of the part's rows; `A->ptr` is set.
 * Errors      INPUT (an element that is flat or inside out), NO_MEMORY. */
tacit_status tct_fem_fill(const tct_fem_part *part, tct_csr *A);

void tct_fem_close(tct_fem *fem);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/assemble.h - assembles any rows of a finite element matrix on a mesh
 * without the others. Rows are the free components, by node. */
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
    uint8_t *spring;  /* [nodes] on springs; NULL: none */
    int64_t touching; /* elements of a node, at most */
} tct_fem;

/* Number the rows of `mesh`, which is taken over, also after an error. A scalar
 * unknown is held if any component is. If nothing is held and `physics` would
 * let the body move, its lowest nodes get springs of their own stiffness: the
 * diagonal is doubled.
 * Errors    INPUT (a node in no element, everything held), NO_MEMORY. */
tacit_status tct_fem_open(tct_mesh *mesh, const tct_physics *physics,
                          tct_fem *out);

/* Find the elements at the nodes of rows [first, first + rows), for the calls
 * below. To be freed by tct_free. Borrows `fem`. */
typedef struct tct_fem_part tct_fem_part;
tacit_status tct_fem_part_create(const tct_fem *fem, int64_t first,
                                 int64_t rows, tct_fem_part **out);

/* The number of entries of each row of the part. */
tacit_status tct_fem_lengths(const tct_fem_part *part, int64_t first,
                             int64_t rows, int64_t *length);

/* Set columns and values of the part's rows; `A->ptr` is set.
 * Errors    INPUT (a flat or inverted element), NO_MEMORY. */
tacit_status tct_fem_fill(const tct_fem_part *part, tct_csr *A);

void tct_fem_close(tct_fem *fem);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/mesh.h - a tetrahedral mesh as TetGen writes it, and its uniform
 * refinement. */
#ifndef TCT_GALLERY_MESH_H
#define TCT_GALLERY_MESH_H
#include "base/base.h"

typedef struct tct_mesh {
    int64_t nodes, elements;
    int corners;      /* nodes of an element: 4, or 10 with edges' middles */
    double (*x)[3];   /* [nodes]                                           */
    int32_t *element; /* [elements * corners]                              */
    uint8_t *held;    /* [nodes] bit p: component p is held at 0           */
    bool any_held;
} tct_mesh;

/* Read `base`.node and .ele, and .spc (lines "node component") if it is there
 * and `supports`; each may be packed: .node.gz, .node.xz. Nodes are counted
 * from 0 or 1, as the first line of .node does.
 * Errors      IO, INPUT (file, line and what is wrong), NO_MEMORY. */
tacit_status tct_mesh_read(const char *base, bool supports, tct_mesh *out);

/* Cut each tetrahedron into 8: a corner keeps a quarter of its side, the
 * octahedron between is cut along its shortest diagonal. New nodes, the edges'
 * middles, are numbered behind the old ones in the order of their edges; a
 * component is held there if it is at both ends.
 * Errors      UNSUPPORTED (10 nodes, or more than 2^31 nodes), NO_MEMORY. */
tacit_status tct_mesh_refine(tct_mesh *mesh);

void tct_mesh_clear(tct_mesh *mesh);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/mesh.h - a tetrahedral mesh in TetGen's format, and its uniform
 * refinement. */
#ifndef TCT_GALLERY_MESH_H
#define TCT_GALLERY_MESH_H
#include "base/base.h"

typedef struct tct_mesh {
    int64_t nodes, elements;
    int corners;      /* nodes of an element: 4, or 10 with edge midpoints */
    double (*x)[3];   /* [nodes]                                           */
    int32_t *element; /* [elements * corners]                              */
    uint8_t *held;    /* [nodes] bit p: component p is held at 0           */
    bool any_held;
} tct_mesh;

/* Read `base`.node and .ele, and .spc (lines "node component") if it exists and
 * `supports`; each may be packed: .node.gz, .node.xz. Nodes are numbered from 0
 * or 1, as the first node of .node is.
 * Errors    IO, INPUT (file, line and what is wrong), NO_MEMORY. */
tacit_status tct_mesh_read(const char *base, bool supports, tct_mesh *out);

/* Cut each tetrahedron into 8: one at each corner, and four from the octahedron
 * between, along its shortest diagonal. New nodes, the edge midpoints, are
 * numbered after the old ones in the order of edges; a component is held if it
 * is at both ends.
 * Errors    UNSUPPORTED (10 nodes, or more than 2^31 nodes), NO_MEMORY. */
tacit_status tct_mesh_refine(tct_mesh *mesh);

void tct_mesh_clear(tct_mesh *mesh);

#endif

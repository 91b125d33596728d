/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/family.h - the families of gallery matrices: their registry,
 * arguments and sizes. */
#ifndef TCT_GALLERY_FAMILY_H
#define TCT_GALLERY_FAMILY_H
#include "gallery/gallery.h"

/* --- the registry: one row per family ------------------------------------- */
#define TCT_GALLERY(X) \
    X(poisson1d)       \
    X(poisson2d)       \
    X(poisson3d)       \
    X(poisson2d9)      \
    X(poisson3d27)     \
    X(anisotropic3d)   \
    X(jump3d)          \
    X(elasticity3d)    \
    X(tet3d)           \
    X(random)          \
    X(mesh)            \
    X(like)

#define TCT_GALLERY_DECLARE(name) extern const tct_gallery tct_gallery_##name;
TCT_GALLERY(TCT_GALLERY_DECLARE)
#undef TCT_GALLERY_DECLARE

/* --- arguments ------------------------------------------------------------ */
enum { TCT_GALLERY_SPEC_MOST = 4, TCT_GALLERY_SPEC_TEXT = 128 };

/* The text after the colon, cut at commas. */
typedef struct tct_gallery_spec {
    const tct_gallery *family;
    int count;
    const char *word[TCT_GALLERY_SPEC_MOST];
    char text[TCT_GALLERY_SPEC_TEXT];
} tct_gallery_spec;

/* Cut `arguments` of `family` into `least` to `most` words. */
tacit_status tct_gallery_spec_cut(const tct_gallery *family,
                                  const char *arguments, int least, int most,
                                  tct_gallery_spec *out);

/* Word `k` as an integer of at least `least`; `name` is its name in the usage.
 * Fails with INPUT beyond 64 bits, with INVALID if it is no integer. */
tacit_status tct_gallery_spec_whole(const tct_gallery_spec *w, int k,
                                    const char *name, int64_t least,
                                    int64_t *out);

/* Word `k` as a positive finite number. */
tacit_status tct_gallery_spec_positive(const tct_gallery_spec *w, int k,
                                       const char *name, double *out);

/* Word `k` as a seed: any integer; 1 if omitted. */
tacit_status tct_gallery_spec_seed(const tct_gallery_spec *w, int k,
                                   uint64_t *out);

/* Word `k` as the sides of a grid in `dims` dimensions: "N" for all or
 * "NXxNY..."; further sides become 1. */
tacit_status tct_gallery_spec_grid(const tct_gallery_spec *w, int k, int dims,
                                   int64_t least, int64_t n[3]);

/* --- sizes ---------------------------------------------------------------- */

/* Set `g->grid`, `g->rows` to `dof` times its points, and `g->widest`.
 * Errors    INPUT if rows or entries exceed 64 bits. */
tacit_status tct_gallery_size_grid(tct_gallery_matrix *g, const int64_t n[3],
                                   int64_t dof, int64_t widest);

/* Store a copy of `bytes` at `data` in `g`. */
tacit_status tct_gallery_keep(tct_gallery_matrix *g, const void *data,
                              size_t bytes);

#endif

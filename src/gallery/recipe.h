/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/recipe.h - recipes for matrices similar to well-known large ones of
 * the SuiteSparse collection: `like:NAME`. A recipe is a row in like.c; its
 * kind, a function that recipes may share, has its own file. */
#ifndef TCT_GALLERY_RECIPE_H
#define TCT_GALLERY_RECIPE_H
#include "gallery/family.h"

typedef struct tct_recipe tct_recipe;
typedef tacit_status tct_recipe_open(const tct_recipe *r, const int64_t n[3],
                                     tct_gallery_matrix *g);
struct tct_recipe {
    tacit_gallery about; /* "like:" and its name in lower case */
    int dims;
    int64_t size[3];       /* the grid with the real matrix's row count */
    double par;            /* the recipe's parameter */
    tct_recipe_open *open; /* its kind                                  */
};

/* The kinds. */
tct_recipe_open tct_like_apache, tct_like_circuit, tct_like_ecology,
    tct_like_heat, tct_like_kkt, tct_like_linear, tct_like_mass,
    tct_like_quadratic, tct_like_s2d9, tct_like_scalar, tct_like_shell,
    tct_like_solid;

/* Recipe `i`, NULL past the end; its name without "like:". */
const tct_recipe *tct_recipe_at(int i);
static inline const char *tct_recipe_name(const tct_recipe *r)
{
    return r->about.name + sizeof "like:" - 1;
}

#endif

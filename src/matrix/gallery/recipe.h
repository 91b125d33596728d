/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/gallery/recipe.h - recipes for matrices like the well-known large ones
 * of the SuiteSparse collection: `like:NAME`. A recipe is a table at the bottom
 * of the file of its kind and one row here. */
#ifndef TCT_RECIPE_H
#define TCT_RECIPE_H
#include "matrix/gallery/family.h"

#define TCT_RECIPES(X) \
    X(apache2)         \
    X(bump_2911)       \
    X(consph)          \
    X(crankseg_1)      \
    X(crankseg_2)      \
    X(cube_coup_dt6)   \
    X(ecology2)        \
    X(flan_1565)       \
    X(g3_circuit)      \
    X(geo_1438)        \
    X(hood)            \
    X(hook_1498)       \
    X(ldoor)           \
    X(nlpkkt80)        \
    X(nlpkkt120)       \
    X(nlpkkt160)       \
    X(parabolic_fem)   \
    X(queen_4147)      \
    X(s2d9pt2048)      \
    X(serena)          \
    X(stocf_1465)      \
    X(thermal2)        \
    X(thermomech_dm)   \
    X(tmt_sym)

typedef struct tct_recipe tct_recipe;
struct tct_recipe {
    tacit_gallery about; /* its name in lower case, behind "like:"          */
    int dims;
    int64_t size[3]; /* the grid that has the real matrix's counts      */
    double par;      /* the recipe's constant                           */
    tacit_status (*open)(const tct_recipe *r, const int64_t n[3],
                         tct_gallery_matrix *g);
};

#define TCT_RECIPE_DECLARE(name) extern const tct_recipe tct_recipe_##name;
TCT_RECIPES(TCT_RECIPE_DECLARE)
#undef TCT_RECIPE_DECLARE

/* The row of `like:NAME`. */
#define TCT_LIKE(name, dims_, nx, ny, nz, par_, open_, summary)          \
    {                                                                    \
        .about = {"like:" name, "like:" name, summary}, .dims = (dims_), \
        .size = {nx, ny, nz}, .par = (par_), .open = (open_)             \
    }

/* Recipe `i`, NULL past the end; its name alone. */
const tct_recipe *tct_recipe_at(int i);
static inline const char *tct_recipe_name(const tct_recipe *r)
{
    return r->about.name + sizeof "like:" - 1;
}

#endif

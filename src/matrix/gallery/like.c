/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/gallery/like.c - like:NAME, a recipe by the name of the matrix that it
 * stands in for, and like:NAME,SIZE, the same recipe on another grid. */
#include "matrix/gallery/recipe.h"
#include "matrix/gallery/stencil.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define TABLE_ENTRY(name) &tct_recipe_##name,
static const tct_recipe *const recipes[] = {TCT_RECIPES(TABLE_ENTRY) NULL};
#undef TABLE_ENTRY

enum { RECIPES = (int)(sizeof recipes / sizeof recipes[0]) - 1 };

const tct_recipe *tct_recipe_at(int i)
{
    return i >= 0 && i < RECIPES ? recipes[i] : NULL;
}

/* The recipe called `name` in whatever case, "-" and "_" being the same. */
static const tct_recipe *find(const char *name)
{
    for (int r = 0; r < RECIPES; r++) {
        const char *a = tct_recipe_name(recipes[r]), *b = name;
        while (*a && *b &&
               (*a == tolower((unsigned char)*b) ||
                (strchr("-_", *a) && strchr("-_", *b)))) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0') return recipes[r];
    }
    return NULL;
}

/* The recipe that begins with `name`, or is nearest to it; NULL if none is. */
static const char *nearest(const char *name)
{
    const char *names[RECIPES];
    for (int r = 0; r < RECIPES; r++) names[r] = tct_recipe_name(recipes[r]);
    for (int r = 0; r < RECIPES && *name; r++)
        if (strncasecmp(names[r], name, strlen(name)) == 0) return names[r];
    return tct_nearest(name, names, RECIPES);
}

static tacit_status unknown(const char *name)
{
    const char *near = nearest(name);
    if (!near)
        FAIL(TACIT_INVALID,
             "like: there is no recipe '%s': 'tacit info gallery' lists them "
             "(usage: %s)",
             name, tct_gallery_like.about.usage);
    FAIL(TACIT_INVALID,
         "like: there is no recipe '%s': did you mean '%s'? (usage: %s)", name,
         near, tct_gallery_like.about.usage);
}

static tacit_status like_open(const char *arguments, tct_gallery_matrix *g)
{
    tct_words w;
    TRY(tct_words_cut(&tct_gallery_like, arguments, 1, 2, &w));
    const tct_recipe *r = find(w.word[0]);
    if (!r) return unknown(w.word[0]);
    int64_t n[3];
    memcpy(n, r->size, sizeof n);
    if (w.count > 1) TRY(tct_words_grid(&w, 1, r->dims, 2, n));
    return r->open(r, n, g);
}

const tct_gallery tct_gallery_like = {
    {"like", "like:NAME[,SIZE] with SIZE as N, NXxNY or NXxNYxNZ",
     "stands in for a well-known matrix: same rows and entries"},
    like_open};

/* --- the one recipe that is a plain stencil ------------------------------- */

static tacit_status s2d9_open(const tct_recipe *r, const int64_t n[3],
                              tct_gallery_matrix *g)
{
    (void)r;
    static const double side[3] = {-1.0, -1.0, -1.0};
    tct_stencil s = {.dof = 1};
    memcpy(s.n, n, sizeof s.n);
    tct_stencil_box(&s, 2, 8.0, side, -1.0);
    return tct_stencil_open(g, &s);
}

const tct_recipe tct_recipe_s2d9pt2048 =
    TCT_LIKE("s2d9pt2048", 2, 2048, 2048, 1, 0, s2d9_open,
             "9-point Laplacian (8, -1), Dirichlet");

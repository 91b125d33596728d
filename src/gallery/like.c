/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/like.c - like:NAME, the recipe for a matrix similar to NAME, and
 * like:NAME,SIZE, the same recipe on another grid. */
#include "gallery/recipe.h"
#include "gallery/stencil.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define SHELL      "shell pattern, triangles, random 7 x 7 blocks"
#define SOLID      "solid pattern, tetrahedra, random 3 x 3 blocks"
#define LINEAR     "linear elasticity, 8-node cubes, E over 2 decades"
#define QUADRATIC  "linear elasticity, 27-node cubes, E over 2 decades"
#define CONTROLLED "control problem on a cube, symmetric indefinite"

#define LIKE(name, dims, nx, ny, nz, par, kind, summary)                \
    {                                                                   \
        {"like:" name, "like:" name, summary}, dims, {nx, ny, nz}, par, \
            tct_like_##kind                                             \
    }
static const tct_recipe recipes[] = {
    LIKE("apache2", 3, 8, 297, 301, 4, apache,
         "7-point finite volumes, sigma over 4 decades"),
    LIKE("bump_2911", 3, 99, 99, 99, 3, solid, SOLID),
    LIKE("consph", 3, 8, 28, 124, 2, linear, LINEAR),
    LIKE("crankseg_1", 3, 10, 13, 15, 2, quadratic, QUADRATIC),
    LIKE("crankseg_2", 3, 11, 12, 18, 2, quadratic, QUADRATIC),
    LIKE("cube_coup_dt6", 3, 81, 81, 82, 4, solid,
         "solid pattern, tetrahedra, random 4 x 4 blocks"),
    LIKE("ecology2", 2, 1000, 1000, 1, 1, ecology,
         "5-point resistors over 1 decade, one interior point grounded"),
    LIKE("flan_1565", 3, 10, 108, 483, 2, linear, LINEAR),
    LIKE("g3_circuit", 2, 1259, 1259, 1, 4, circuit,
         "5-point resistors over 4 decades, 4 % of them missing"),
    LIKE("geo_1438", 3, 78, 78, 79, 3, solid, SOLID),
    LIKE("hood", 2, 177, 178, 1, 7, shell, SHELL),
    LIKE("hook_1498", 3, 78, 78, 79, 3, solid, SOLID),
    LIKE("ldoor", 2, 358, 380, 1, 7, shell, SHELL),
    LIKE("nlpkkt80", 1, 80, 1, 1, 0, kkt, CONTROLLED),
    LIKE("nlpkkt120", 1, 120, 1, 1, 0, kkt, CONTROLLED),
    LIKE("nlpkkt160", 1, 160, 1, 1, 0, kkt, CONTROLLED),
    LIKE("parabolic_fem", 2, 1025, 513, 1, 100, mass,
         "P1 triangles, M + 100 h^2 K"),
    LIKE("queen_4147", 3, 71, 110, 177, 2, linear, LINEAR),
    LIKE("s2d9pt2048", 2, 2048, 2048, 1, 0, s2d9,
         "9-point Laplacian (8, -1), Dirichlet"),
    LIKE("serena", 3, 78, 78, 79, 3, solid, SOLID),
    LIKE("stocf-1465", 3, 113, 113, 115, 3, scalar,
         "solid pattern, tetrahedra, conductances over 3 decades"),
    LIKE("thermal2", 2, 1108, 1108, 1, 3, heat,
         "P1 equilateral triangles over 3 decades, one side grounded"),
    LIKE("thermomech_dm", 2, 452, 452, 1, 0.1, mass,
         "P1 triangles, M + 0.1 h^2 K"),
    LIKE("tmt_sym", 2, 852, 853, 1, 0, heat,
         "P1 equilateral triangles, one side grounded")};
#undef LIKE
enum { RECIPES = sizeof recipes / sizeof *recipes };

const tct_recipe *tct_recipe_at(int i)
{
    return i >= 0 && i < RECIPES ? &recipes[i] : NULL;
}

/* Find the recipe `name`, ignoring case and with "-" equal to "_". */
static const tct_recipe *find(const char *name)
{
    for (int r = 0; r < RECIPES; r++) {
        const char *a = tct_recipe_name(&recipes[r]), *b = name;
        while (*a && *b &&
               (*a == tolower((unsigned char)*b) ||
                (strchr("-_", *a) && strchr("-_", *b)))) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0') return &recipes[r];
    }
    return NULL;
}

/* The recipe that begins with `name` or is nearest to it; NULL: none. */
static const char *nearest(const char *name)
{
    const char *names[RECIPES];
    for (int r = 0; r < RECIPES; r++) names[r] = tct_recipe_name(&recipes[r]);
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
    tct_gallery_spec w;
    TRY(tct_gallery_spec_cut(&tct_gallery_like, arguments, 1, 2, &w));
    const tct_recipe *r = find(w.word[0]);
    if (!r) return unknown(w.word[0]);
    int64_t n[3];
    memcpy(n, r->size, sizeof n);
    if (w.count > 1) TRY(tct_gallery_spec_grid(&w, 1, r->dims, 2, n));
    return r->open(r, n, g);
}

const tct_gallery tct_gallery_like = {
    {"like", "like:NAME[,SIZE] with SIZE as N, NXxNY or NXxNYxNZ",
     "stands in for a well-known matrix: same rows and entries"},
    like_open};

/* --- the recipe that is a stencil ----------------------------------------- */

tacit_status tct_like_s2d9(const tct_recipe *r, const int64_t n[3],
                           tct_gallery_matrix *g)
{
    (void)r;
    static const double side[3] = {-1.0, -1.0, -1.0};
    tct_stencil s = {.dof = 1};
    memcpy(s.n, n, sizeof s.n);
    tct_stencil_box(&s, 2, 8.0, side, -1.0);
    return tct_stencil_open(g, &s);
}

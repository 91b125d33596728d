/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/options.c - the options of amg: their table, and what a hierarchy
 * takes from them. */
#include "precond/amg/amg.h"
#include <stdio.h>
#include <string.h>

/* --- the table ------------------------------------------------------------ */

static const char *const cycles[] = {"v", "w", "k", "auto", NULL};
static const char *const smoothers[] = {[TCT_CHEBYSHEV] = "chebyshev",
                                        [TCT_JACOBI] = "jacobi",
                                        [TCT_L1_JACOBI] = "l1-jacobi",
                                        NULL};
static const char *const precisions[] = {"float", "double", "auto", NULL};

/* clang-format off */
const tct_option tct_amg_table[] = {
    {.about = {.name = "cycle", .value = "NAME",
               .summary = "how levels are visited; auto is v or w, whichever "
                          "is predicted to be faster",
               .initial = "auto",
               .choices = cycles},
     TCT_OPTION(tct_amg_options, cycle)},
    {.about = {.name = "smoother", .value = "NAME",
               .summary = "on each level",
               .initial = "chebyshev",
               .choices = smoothers},
     TCT_OPTION(tct_amg_options, smoother)},
    {.about = {.name = "degree", .value = "K",
               .summary = "of the smoother's polynomial, or its sweeps",
               .initial = "2; l1-jacobi: 4",
               .type = TACIT_OPTION_INTEGER,
               .least = 1, .most = TACIT_PRECOND_DEGREE_MOST},
     TCT_OPTION(tct_amg_options, degree)},
    {.about = {.name = "levels", .value = "N",
               .summary = "at most",
               .initial = "40",
               .type = TACIT_OPTION_INTEGER,
               .least = 1, .most = TCT_AMG_LEVELS_MOST},
     TCT_OPTION(tct_amg_options, levels)},
    {.about = {.name = "near-null", .value = "FILE",
               .summary = "columns that the matrix takes to next to nothing",
               .initial = "of elasticity3d and mesh:, kind=elasticity, "
                          "rigid-body modes; else ones",
               .type = TACIT_OPTION_FILE},
     TCT_OPTION_NAMED(tct_amg_options, near_null_file)},
    {.about = {.name = "coordinates", .value = "FILE",
               .summary = "a point a line with 2 or 3 coordinates, each of as "
                          "many rows: rigid-body modes",
               .type = TACIT_OPTION_FILE},
     TCT_OPTION_NAMED(tct_amg_options, coordinates)},
    {.about = {.name = "node-rows", .value = "K",
               .summary = "rows that stay together",
               .initial = "as many as dense blocks have, or as the points of "
                          "a gallery matrix; 1: ones are smooth",
               .type = TACIT_OPTION_INTEGER,
               .least = 1, .most = TACIT_PRECOND_NODE_ROWS_MOST},
     TCT_OPTION(tct_amg_options, node_rows)},
    {.about = {.name = "precision", .value = "NAME",
               .summary = "of its matrix values",
               .initial = "auto: float where that costs no iterations",
               .choices = precisions},
     TCT_OPTION(tct_amg_options, precision)},
    {TCT_OPTION(tct_amg_options, vectors)},
    {TCT_OPTION(tct_amg_options, near_null)},
    {.bytes = 0}};
/* clang-format on */

tacit_status tct_amg_check(const void *options)
{
    const tct_amg_options *o = options;
    if (o->near_null_file && o->coordinates)
        FAIL(TACIT_INVALID, "near-null and coordinates: give one of them");
    return TACIT_OK;
}

tacit_status tct_amg_load(const tacit_matrix *matrix, void *options,
                          double **vectors)
{
    tct_amg_options *o = options;
    if (o->near_null_file)
        TRY(tacit_matrix_read_vectors(matrix, o->near_null_file, &o->vectors,
                                      vectors));
    if (o->coordinates) {
        TRY(tacit_matrix_rigid_body_modes(matrix, o->coordinates, &o->vectors,
                                          vectors));
        if (o->node_rows == 0) o->node_rows = o->vectors == 6 ? 3 : 2;
    }
    if (*vectors) o->near_null = *vectors;
    return TACIT_OK;
}

/* --- a hierarchy ---------------------------------------------------------- */

/* Measured: with little smoothing a larger factor costs iterations. In a
 * W-cycle the second visit replaces it. */
double tct_amg_overcorrection(const tct_amg *M)
{
    if (M->twice) return 1.0;
    return M->smoothing.degree > 1 ? 1.7 : 1.3;
}

/* Is a choice, NULL if it was not given, called `name`? */
static bool is(const char *choice, const char *name)
{
    return choice && strcmp(choice, name) == 0;
}

static void set_smoother(tct_amg *M, const tct_amg_options *o)
{
    static const int degrees[] = {
        [TCT_CHEBYSHEV] = 2, [TCT_JACOBI] = 2, [TCT_L1_JACOBI] = 4};
    static const double RATIO = 8.0;
    tct_amg_kind kind = TCT_CHEBYSHEV;
    while (o->smoother && !is(o->smoother, smoothers[kind])) kind++;
    M->smoothing =
        (tct_amg_smoothing){.kind = kind,
                            .degree = o->degree ? o->degree : degrees[kind],
                            .ratio = RATIO};
}

static void set_cycle(tct_amg *M, const tct_amg_options *o)
{
    M->chooses = !o->cycle || is(o->cycle, "auto");
    M->twice = is(o->cycle, "w");
    M->base.op.varies = is(o->cycle, "k");
    M->krylov = M->base.op.varies ? TCT_AMG_KRYLOV : 0;
    M->overcorrection = tct_amg_overcorrection(M);
    M->levels_most = o->levels ? o->levels : TCT_AMG_LEVELS_MOST;
}

void tct_amg_take(tct_amg *M, const tct_amg_options *o)
{
    set_smoother(M, o);
    set_cycle(M, o);
    M->precision = is(o->precision, "float")    ? TCT_FLOATS
                   : is(o->precision, "double") ? TCT_DOUBLES
                                                : TCT_AUTO_BITS;
    snprintf(M->detail, sizeof M->detail, "cycle %s, smoother %s(%d)",
             M->chooses ? cycles[0] : o->cycle, smoothers[M->smoothing.kind],
             M->smoothing.degree);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/vectors.c - right-hand sides, first guesses and solutions: between
 * words or files and panels of the device. */
#include "cli/system/problem.h"
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"ones", "manufactured", "file"};
enum { WORDS = sizeof words / sizeof *words };

bool cli_is_rhs_word(const char *text)
{
    for (int i = 0; i < WORDS; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

const char *cli_near_rhs_word(const char *text)
{
    const bool plain = strcspn(text, "/.") == strlen(text);
    return plain ? cli_nearest(text, words, WORDS) : NULL;
}

static const char *rhs_of(const cli *c)
{
    if (c->set.rhs) return c->set.rhs;
    return c->set.operands > 1 ? c->set.operand[1] : "manufactured";
}

bool cli_is_own(const char *text)
{
    return text && strcmp(text, "file") == 0;
}

bool cli_is_manufactured(const cli *c)
{
    return strcmp(rhs_of(c), "manufactured") == 0;
}

/* --- from files ----------------------------------------------------------- */

/* The file of `text`, of --rhs or --x0: its own, or the matrix's. */
static const char *path_of(const cli *c, const char *text)
{
    return cli_is_own(text) ? c->set.operand[0] : text;
}

static tacit_status read_named(const cli *c, const cli_problem *p,
                               const char *text, bool guess,
                               cli_company company, int *columns, double **X)
{
    static bool said[2]; /* compare reads them for each row */
    const char *path = path_of(c, text);
    TRY(cli_is_own(text) && guess
            ? tacit_matrix_read_guesses(p->matrix, path, columns, X)
            : tacit_matrix_read_vectors(p->matrix, path, columns, X));
    if (company == CLI_ALONE || *columns == 1) return TACIT_OK;
    if (c->rank == 0 && !said[guess])
        cli_log(c, CLI_WARN, "%s: the first of its %d columns is used", path,
                *columns);
    said[guess] = true;
    *columns = 1;
    return TACIT_OK;
}

static tacit_status read_guess(const cli *c, const cli_problem *p,
                               cli_company company, cli_system *s)
{
    const char *x0 = c->set.x0;
    if (!x0) return TACIT_OK;
    TRY(read_named(c, p, x0, true, company, &s->guesses, &s->guess));
    if (s->guesses == 1 || s->guesses == s->columns) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: has %d columns, and the right-hand side has %d: give as many "
         "first guesses, or one for all",
         path_of(c, x0), s->guesses, s->columns);
}

/* --- on the device -------------------------------------------------------- */

/* Columns begin at multiples of a cache line. */
static tacit_status make_room(const cli *c, cli_system *s)
{
    enum { LINE = 64 / sizeof(double) };
    s->stride = s->columns > 1 ? (s->n + LINE - 1) / LINE * LINE : s->n;
    const size_t all = (size_t)s->columns * s->stride;
    if (s->columns > 1) TRY(ALLOC(s->columns, "the results", &s->results));
    TRY(tacit_queue_alloc(s->queue, all, &s->b));
    TRY(tacit_queue_alloc(s->queue, all, &s->x));
    if (cli_is_manufactured(c))
        TRY(tacit_queue_alloc(s->queue, s->n, &s->xstar));
    return TACIT_OK;
}

static tacit_status put_columns(const cli_system *s, const double *host,
                                double *panel)
{
    for (size_t j = 0; j < (size_t)s->columns; j++)
        TRY(tacit_queue_put(s->queue, s->n, host + j * s->n,
                            panel + j * s->stride));
    return TACIT_OK;
}

static tacit_status read_rhs(const cli *c, const cli_problem *p,
                             cli_company company, cli_system *s)
{
    double *B = NULL;
    TRY(read_named(c, p, rhs_of(c), false, company, &s->columns, &B));
    tacit_status status = make_room(c, s);
    if (status >= 0) status = put_columns(s, B, s->b);
    tacit_matrix_free_vectors(&B);
    return tacit_world_agree(c->world, status);
}

static tacit_status make_rhs(const cli *c, const cli_problem *p, cli_system *s)
{
    s->columns = 1;
    TRY(tacit_world_agree(c->world, make_room(c, s)));
    if (cli_is_manufactured(c))
        return tacit_operator_manufacture(s->A, p->matrix, c->set.seed,
                                          s->xstar, s->b);
    return tacit_queue_fill(s->queue, s->n, 1.0, s->b);
}

tacit_status cli_make_vectors(const cli *c, const cli_problem *p,
                              cli_company company, cli_system *s)
{
    const char *rhs = rhs_of(c);
    if (!cli_is_rhs_word(rhs) || cli_is_own(rhs))
        TRY(read_rhs(c, p, company, s));
    else TRY(make_rhs(c, p, s));
    return read_guess(c, p, company, s);
}

void cli_free_vectors(cli_system *s)
{
    tacit_queue_free(s->queue, &s->b);
    tacit_queue_free(s->queue, &s->x);
    tacit_queue_free(s->queue, &s->xstar);
    tacit_matrix_free_vectors(&s->guess);
    free(s->results);
    s->results = NULL;
}

tacit_status cli_set_guess(cli_system *s)
{
    const size_t all = (size_t)s->columns * s->stride;
    if (!s->guess) return tacit_queue_fill(s->queue, all, 0.0, s->x);
    if (s->guesses == s->columns) return put_columns(s, s->guess, s->x);
    for (size_t j = 0; j < (size_t)s->columns; j++)
        TRY(tacit_queue_put(s->queue, s->n, s->guess, s->x + j * s->stride));
    return TACIT_OK;
}

tacit_status cli_get_solution(const cli_system *s, double *host)
{
    for (size_t j = 0; j < (size_t)s->columns; j++)
        TRY(tacit_queue_get(s->queue, s->n, s->x + j * s->stride,
                            host + j * s->n));
    return TACIT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/keys.c - the table of keys: what belongs to some values of an option, as
 * the cycle belongs to preconditioner amg. The parser of NAME(KEY=VALUE,...),
 * help and manual page read it, and the parser of deprecated options. */
#include "cli/base.h"
#include "cli/options.h"
#include <stddef.h>
#include <string.h>
#include <tacit/precond.h>

/* Commands that had a key as an option. */
enum {
    RUNS = 1 << CLI_AT_solve | 1 << CLI_AT_compare,
    TELLS = RUNS | 1 << CLI_AT_info,
    TRSV = 1 << CLI_AT_trsv,
    FACTORS = TRSV | 1 << CLI_AT_factor
};

#define KEY(name, kind, commands, field, ...)                         \
    {                                                                 \
        NULL, name, 0, kind, commands, offsetof(cli_settings, field), \
            __VA_ARGS__                                               \
    }
#define AS_PRECOND "as of --precond direct"

/* clang-format off */
static const cli_key keys[] = {
/* option, values, the deprecated option, and of the key: name, kind, commands,
 * field, value, help, axis, least, most, initial */
{"precond", "amg auto", "cycle", KEY("cycle", CLI_CHOICE, TELLS, cycle, "NAME",
 "how levels are visited (v)", &cli_axis_cycle, 0, 0, 0)},
{"precond", "amg auto", "smoother", KEY("smoother", CLI_CHOICE, TELLS, smoother,
 "NAME", "on each level (chebyshev)", &cli_axis_smoother, 0, 0, 0)},
{"precond", "amg auto", "degree", KEY("degree", CLI_INT, TELLS, degree, "K",
 "of the smoother's polynomial, or its sweeps (2; l1-jacobi: 4)", NULL, 1,
 TACIT_PRECOND_DEGREE_MOST, 0)},
{"precond", "amg auto", "levels", KEY("levels", CLI_INT, TELLS, levels, "N",
 "at most (40)", NULL, 1, 40, 0)},
{"precond", "amg auto", "near-null", KEY("near-null", CLI_READ, TELLS,
 near_null, "FILE",
 "columns that the matrix takes to next to nothing (of elasticity3d and mesh:, "
 "kind=elasticity, rigid-body modes; else ones)", NULL, 0, 0, 0)},
{"precond", "amg auto", "coordinates", KEY("coordinates", CLI_READ, TELLS,
 coordinates, "FILE",
 "a point a line with 2 or 3 coordinates, each of as many rows: rigid-body "
 "modes", NULL, 0, 0, 0)},
{"precond", "amg auto", "node-rows", KEY("node-rows", CLI_INT, TELLS, node_rows,
 "K",
 "rows that stay together (as many as dense blocks have, or as the points of a "
 "gallery matrix; 1: ones are smooth)", NULL, 1, 4096, 0)},
{"precond", "amg auto", "precond-precision", KEY("precision", CLI_CHOICE, TELLS,
 precond_precision, "NAME",
 "of its matrix values (auto: float where that costs no iterations)",
 &cli_axis_precond_precision, 0, 0, 0)},
{"precond", "ic0 direct", "order", KEY("order", CLI_CHOICE, TELLS, order,
 "NAME",
 "of the factor's rows (direct: nd; ic0: top-nd, which with one leaf is "
 "natural, on cuda multicolor)", &cli_axis_rows_order, 0, 0, 0)},
{"precond", "ic0 direct", "leaves", KEY("leaves", CLI_INT, TELLS, leaves, "N",
 "tree nodes at the bottom of the top of the dissection, a power of two (1; as "
 "many as there are grids)", NULL, 1, 4096, 0)},
{"precond", "ic0 direct", "grid", KEY("grid", CLI_SHAPE, RUNS, grid,
 "1x1xPz|auto",
 "one factor of the whole matrix, on Pz processes, a power of two (auto: as "
 "many as can be); without it each rank has an ic0 of its own rows", NULL, 0, 0,
 0)},
{"method", "sstep", "steps", KEY("steps", CLI_INT_AUTO, RUNS, steps, "S",
 "iterations for one reduction, 1 to 16, or auto (auto: 8)", NULL, 1, 16, 0)},
{"method", "sstep", "basis", KEY("basis", CLI_CHOICE, RUNS, basis, "NAME",
 "of the Krylov space (chebyshev)", &cli_axis_basis, 0, 0, 0)},
{"method", "direct", "kind", KEY("kind", CLI_CHOICE, RUNS, kind, "NAME",
 "of the factor (lu of a matrix that is not symmetric, llt of one that is "
 "positive definite, else ldlt)", &cli_axis_kind, 0, 0, 0)},
{"method", "direct", "order", KEY("order", CLI_CHOICE, RUNS, order, "NAME",
 AS_PRECOND, &cli_axis_rows_order, 0, 0, 0)},
{"method", "direct", "leaves", KEY("leaves", CLI_INT, RUNS, leaves, "N",
 AS_PRECOND, NULL, 1, 4096, 0)},
{"method", "direct", "grid", KEY("grid", CLI_SHAPE, RUNS, grid, "1x1xPz|auto",
 AS_PRECOND, NULL, 0, 0, 0)},
{"precond", "direct", "kind", KEY("kind", CLI_CHOICE, RUNS, kind, "NAME",
 "of the factor (llt)", &cli_axis_kind, 0, 0, 0)},
{"kind", NULL, "order", KEY("order", CLI_CHOICE, FACTORS, order, "NAME",
 "of the factor's rows (nd)", &cli_axis_rows_order, 0, 0, 0)},
{"kind", NULL, "leaves", KEY("leaves", CLI_INT, FACTORS, leaves, "N",
 "tree nodes at the bottom of the top of the dissection, a power of two (1; "
 "as many as there are grids); with --given, too", NULL, 1, 4096, 0)},
{"kind", NULL, "width", KEY("width", CLI_INT, FACTORS, width, "N",
 "columns of a panel, at most (128); with --given, too", NULL, 1, 65536, 0)},
{"grid", NULL, "scheme", KEY("scheme", CLI_CHOICE, TRSV, scheme, "NAME",
 "who does what, and who tells whom (3d)", &cli_axis_scheme, 0, 0, 0)},
{"grid", NULL, "map", KEY("map", CLI_CHOICE, TRSV, map, "NAME",
 "whose block is whose, within each of the grids (cyclic)", &cli_axis_map, 0, 0,
 0)},
};
/* clang-format on */
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert(KEYS <= 64, "cli_settings.deprecated has a bit for each");

const cli_key *cli_key_at(int i)
{
    return i >= 0 && i < KEYS ? &keys[i] : NULL;
}

/* Is `word` one of `words`, which blanks part? */
static bool is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t each = strcspn(at, " ");
        if (each == length && strncmp(at, word, length) == 0) return true;
        at += each;
    }
    return false;
}

bool cli_key_fits(const cli_key *key, const char *option, const char *value)
{
    if (strcmp(key->option, option) != 0) return false;
    return !key->values || (value && is_among(key->values, value));
}

const cli_key *cli_key_find(const char *option, const char *value,
                            const char *name)
{
    for (int i = 0; i < KEYS; i++)
        if (cli_key_fits(&keys[i], option, value) &&
            strcmp(keys[i].row.name, name) == 0)
            return &keys[i];
    return NULL;
}

void cli_key_values(const cli_key *key, char *text, size_t size)
{
    size_t used = 0;
    if (!key->values) snprintf(text, size, "any value");
    for (const char *c = key->values; c && *c && used + 2 < size; c++)
        used += (size_t)snprintf(text + used, size - used, "%s%c",
                                 *c == ' ' ? "," : "", *c);
}

const cli_key *cli_key_of_old(const cli_command *command, const char *name,
                              size_t length, int *number)
{
    for (int i = 0; i < KEYS; i++)
        if (strlen(keys[i].old) == length &&
            strncmp(keys[i].old, name, length) == 0 &&
            (keys[i].row.commands & cli_command_bit(command))) {
            *number = i;
            return &keys[i];
        }
    return NULL;
}

bool cli_has_keys(const char *option)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].option, option) == 0) return true;
    return false;
}

void cli_key_list(const char *option, const char *value, char *text,
                  size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < KEYS && used < size; i++)
        if (cli_key_fits(&keys[i], option, value))
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used ? ", " : "", keys[i].row.name);
}

bool cli_key_is_set(const cli_settings *set, const cli_key *key)
{
    const char *field = (const char *)set + key->row.offset;
    if (key->row.kind == CLI_INT)
        return *(const int64_t *)(const void *)field != 0;
    return *(const char *const *)(const void *)field != NULL;
}

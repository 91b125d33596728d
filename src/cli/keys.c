/* SPDX-License-Identifier: BSD-3-Clause
 * cli/keys.c - the table of keys: what belongs to some values of an option, as
 * the cycle belongs to preconditioner amg. The library lists those of
 * preconditioners. The parser of NAME(KEY=VALUE,...), help and manual page read
 * the table, and the parser of deprecated options. */
#include "cli/base.h"
#include "cli/options.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Commands that had a key as an option. */
enum {
    RUNS = 1 << CLI_AT_solve | 1 << CLI_AT_compare,
    TELLS = RUNS | 1 << CLI_AT_info,
    TRSV = 1 << CLI_AT_trsv,
    FACTORS = TRSV | 1 << CLI_AT_factor
};

/* clang-format off */
#define KEY(name, kind, commands, field, ...)                         \
    {NULL, name, 0, kind, commands, offsetof(cli_settings, field),    \
     __VA_ARGS__}, NULL, NULL

static const cli_key own[] = {
/* option, values, the deprecated option, and of the key: name, kind, commands,
 * field, value, help, axis, least, most, initial */
{"method", "sstep", "steps", KEY("steps", CLI_INT_AUTO, RUNS, steps, "S",
 "iterations for one reduction, 1 to 16, or auto (auto: 8)", NULL, 1, 16, 0)},
{"method", "sstep", "basis", KEY("basis", CLI_CHOICE, RUNS, basis, "NAME",
 "of the Krylov space (chebyshev)", &cli_axis_basis, 0, 0, 0)},
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
enum { OWN = sizeof own / sizeof *own };

/* --- keys of preconditioners ---------------------------------------------- */

/* Options that became keys, of so many commands. */
static const struct {
    const char *key, *old;
    unsigned commands;
} olds[] = {{"cycle", "cycle", TELLS},
            {"smoother", "smoother", TELLS},
            {"degree", "degree", TELLS},
            {"levels", "levels", TELLS},
            {"near-null", "near-null", TELLS},
            {"coordinates", "coordinates", TELLS},
            {"node-rows", "node-rows", TELLS},
            {"precision", "precond-precision", TELLS},
            {"order", "order", TELLS},
            {"leaves", "leaves", TELLS},
            {"grid", "grid", RUNS},
            {"kind", "kind", RUNS}};
enum { OLDS = sizeof olds / sizeof *olds };

enum { VALUES = 64 };
static cli_key keys[CLI_KEYS_MOST];
static char values[CLI_KEYS_MOST][VALUES];
static int count;

static bool has(const char *precond, const tacit_precond_option *o)
{
    const tacit_precond_option *other;
    for (int i = 0; (other = tacit_precond_option_at(precond, i)) != NULL; i++)
        if (other == o) return true;
    return false;
}

/* The preconditioners that have `o`, "amg auto", into `text` [VALUES]; returns
 * the first one. */
static const char *list_owners(const tacit_precond_option *o, char *text)
{
    const tacit_precond *p;
    const char *first = NULL;
    size_t used = 0;
    for (int i = 0; (p = tacit_precond_at(i)) != NULL && used < VALUES; i++) {
        if (!has(p->name, o)) continue;
        if (!first) first = p->name;
        used += (size_t)snprintf(text + used, VALUES - used, "%s%s",
                                 used ? " " : "", p->name);
    }
    if (has("auto", o) && used < VALUES)
        snprintf(text + used, VALUES - used, " auto");
    return first;
}

/* Add a key of `option` that sets `o` of `precond`. */
static cli_key *add_named(const char *option, const char *precond,
                          const tacit_precond_option *o)
{
    cli_key *key = &keys[count];
    *key = (cli_key){.option = option,
                     .values = values[count],
                     .row = {.name = o->name,
                             .kind = CLI_NAMED,
                             .offset = (size_t)count,
                             .value = o->value},
                     .named = o,
                     .precond = precond};
    for (int i = 0; i < OLDS; i++)
        if (strcmp(olds[i].key, o->name) == 0) {
            key->old = olds[i].old;
            key->row.commands = olds[i].commands;
        }
    count++;
    return key;
}

/* Method direct has the options of preconditioner direct. */
static void add_method_direct(void)
{
    const tacit_precond_option *o;
    for (int i = 0; (o = tacit_precond_option_at("direct", i)) != NULL; i++) {
        if (count >= CLI_KEYS_MOST) return;
        cli_key *key = add_named("method", "direct", o);
        key->values = "direct";
        key->row.commands &= RUNS;
        key->row.help = strcmp(o->name, "kind") == 0
                            ? "of the factor (lu of a matrix that is not "
                              "symmetric, llt of one that is positive "
                              "definite, else ldlt)"
                            : "as of --precond direct";
    }
}

/* Each once, whatever the number of preconditioners that have it; of kinds of
 * factors those of the method come first. */
static void add_preconds(void)
{
    const tacit_precond *p;
    const tacit_precond_option *o;
    for (int k = 0; (p = tacit_precond_at(k)) != NULL; k++) {
        if (strcmp(p->name, "direct") == 0) add_method_direct();
        for (int i = 0; (o = tacit_precond_option_at(p->name, i)) != NULL; i++)
            if (count < CLI_KEYS_MOST &&
                list_owners(o, values[count]) == p->name)
                add_named("precond", p->name, o);
    }
}

tacit_status cli_keys_open(void)
{
    count = 0;
    add_preconds();
    for (int i = 0; i < OWN && count < CLI_KEYS_MOST; i++)
        keys[count++] = own[i];
    if (count < CLI_KEYS_MOST) return TACIT_OK;
    FAIL(TACIT_INVALID, "this program has room for fewer than %d keys",
         CLI_KEYS_MOST);
}

/* --- the list ------------------------------------------------------------- */

const cli_key *cli_key_at(int i)
{
    return i >= 0 && i < count ? &keys[i] : NULL;
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
    for (int i = 0; i < count; i++)
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
    for (int i = 0; i < count; i++)
        if (keys[i].old && strlen(keys[i].old) == length &&
            strncmp(keys[i].old, name, length) == 0 &&
            (keys[i].row.commands & cli_command_bit(command))) {
            *number = i;
            return &keys[i];
        }
    return NULL;
}

bool cli_has_keys(const char *option)
{
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i].option, option) == 0) return true;
    return false;
}

void cli_key_list(const char *option, const char *value, char *text,
                  size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < count && used < size; i++)
        if (cli_key_fits(&keys[i], option, value))
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used ? ", " : "", keys[i].row.name);
}

bool cli_key_is_set(const cli_settings *set, const cli_key *key)
{
    const char *field = (const char *)set + key->row.offset;
    if (key->row.kind == CLI_NAMED)
        return cli_named(set, key->row.name) != NULL;
    if (key->row.kind == CLI_INT)
        return *(const int64_t *)(const void *)field != 0;
    return *(const char *const *)(const void *)field != NULL;
}

const tacit_precond_option *cli_named_of(const cli_option *o)
{
    return o->kind == CLI_NAMED ? keys[o->offset].named : NULL;
}

bool cli_keys_are_one(const cli_key *a, const cli_key *b)
{
    if (a->row.kind == CLI_NAMED || b->row.kind == CLI_NAMED)
        return a->row.kind == b->row.kind &&
               strcmp(a->row.name, b->row.name) == 0;
    return a->row.offset == b->row.offset;
}

const char *cli_named(const cli_settings *set, const char *name)
{
    const tacit_precond_named *named = set->of_precond.named;
    for (int i = 0; i < TACIT_PRECOND_NAMED_MOST && named[i].name; i++)
        if (strcmp(named[i].name, name) == 0) return named[i].value;
    return NULL;
}

void cli_option_values(const cli_option *o, bool all, char *text, size_t size)
{
    const tacit_precond_option *named = cli_named_of(o);
    const char *const *choice = named ? named->choices : NULL;
    size_t used = 0;
    text[0] = '\0';
    if (o->axis) cli_axis_list(o->axis, all, text, size);
    for (; choice && *choice && used < size; choice++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used ? ", " : "", *choice);
}

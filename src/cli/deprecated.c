/* SPDX-License-Identifier: BSD-3-Clause
 * cli/deprecated.c - options that became keys: they are still taken, where
 * their value is among those of the command line, and a note spells what to
 * write now. */
#include "cli/base.h"
#include "cli/options.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that grows up to its size. */
typedef struct line {
    char *text;
    size_t size, used;
} line;

static void add(line *l, const char *format, ...) TACIT_PRINTF(2, 3);
static void add(line *l, const char *format, ...)
{
    va_list args;
    if (l->used >= l->size) return;
    va_start(args, format);
    l->used +=
        (size_t)vsnprintf(l->text + l->used, l->size - l->used, format, args);
    va_end(args);
}

static bool is_given(const cli_settings *set, int i)
{
    return set->deprecated >> i & 1;
}

/* The value of `option`, or what stands for none. */
static const char *value_of(const cli_settings *set, const char *option)
{
    const cli_option *o = cli_option_find(set->command, option);
    const char *value = NULL;
    if (o) memcpy(&value, (const char *)set + o->offset, sizeof value);
    if (o && !value && strcmp(option, "kind") == 0) return "llt";
    if (o && !value && strcmp(option, "grid") == 0) return "auto";
    return value;
}

/* Is `key` the option of old that key `old` was? */
static bool is_same_option(const cli_settings *set, const cli_key *key,
                           const cli_key *old)
{
    return key->old && strcmp(key->old, old->old) == 0 &&
           (key->row.commands & cli_command_bit(set->command));
}

/* Has `set` a value of `option` that has the key which option `old` is now? */
static bool takes(const cli_settings *set, const char *option,
                  const cli_key *old)
{
    const char *value = value_of(set, option);
    const cli_key *key;
    for (int i = 0; value && (key = cli_key_at(i)) != NULL; i++)
        if (is_same_option(set, key, old) && cli_key_fits(key, option, value))
            return true;
    return false;
}

/* The options whose values have keys. */
static const char *const owners[] = {"method", "precond", "kind", "grid"};
enum { OWNERS = sizeof owners / sizeof *owners };

static bool has_place(const cli_settings *set, const cli_key *old)
{
    for (; set; set = set->more)
        for (int k = 0; k < OWNERS; k++)
            if (takes(set, owners[k], old)) return true;
    return false;
}

/* "--precond ic0 or direct, or --method direct" */
static void add_owners(line *l, const cli_settings *set, const cli_key *old)
{
    const cli_key *key;
    const char *before = "";
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
        const char *words = key->values;
        if (!is_same_option(set, key, old)) continue;
        add(l, "%s--%s ", before, key->option);
        for (; *words; words += *words == ' ') {
            const int length = (int)strcspn(words, " ");
            add(l, "%.*s%s", length, words, words[length] ? " or " : "");
            words += length;
        }
        before = ", or ";
    }
}

tacit_status cli_check_deprecated(const cli_settings *set)
{
    char text[256] = "";
    line l = {text, sizeof text, 0};
    const cli_key *key;
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
        if (!is_given(set, i) || has_place(set, key)) continue;
        add_owners(&l, set, key);
        FAIL(TACIT_INVALID, "--%s belongs to %s, as its key %s", key->old, text,
             key->row.name);
    }
    return TACIT_OK;
}

/* --- the note ------------------------------------------------------------- */

/* As a value in parentheses, quoted where it must be. */
static void add_text(line *l, const char *text)
{
    if (!strpbrk(text, ",()\" ")) {
        add(l, "%s", text);
        return;
    }
    add(l, "\"");
    for (; *text; text++) add(l, "%s%c", *text == '"' ? "\"" : "", *text);
    add(l, "\"");
}

static void add_value(line *l, const cli_settings *set, const cli_option *o)
{
    const char *field = (const char *)set + o->offset;
    if (o->kind == CLI_NAMED) add_text(l, cli_named(set, o->name));
    else if (o->kind == CLI_INT)
        add(l, "%" PRId64, *(const int64_t *)(const void *)field);
    else add_text(l, *(const char *const *)(const void *)field);
}

/* "--precond 'amg(cycle=k,degree=3)'" */
static void add_spelling(line *l, const cli_settings *set, const char *option)
{
    const char *value = value_of(set, option), *comma = "";
    const cli_key *key;
    add(l, "--%s '%s(", option, value);
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
        if (!cli_key_fits(key, option, value) || !cli_key_is_set(set, key))
            continue;
        add(l, "%s%s=", comma, key->row.name);
        add_value(l, set, &key->row);
        comma = ",";
    }
    add(l, ")'");
}

static bool takes_any(const cli_settings *set, const char *option)
{
    const cli_key *key;
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++)
        if (is_given(set, i) && takes(set, option, key)) return true;
    return false;
}

bool cli_deprecated_note(const cli_settings *set, char *text, size_t size)
{
    line l = {text, size, 0};
    const cli_key *key;
    const char *between = "";
    if (!set->deprecated) return false;
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
        if (!is_given(set, i)) continue;
        add(&l, "%s--%s", between, key->old);
        between = ", ";
    }
    add(&l, ": deprecated, write ");
    between = "";
    for (; set; set = set->more)
        for (int k = 0; k < OWNERS; k++) {
            if (!takes_any(set, owners[k])) continue;
            add(&l, "%s", between);
            add_spelling(&l, set, owners[k]);
            between = " ";
        }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/spec.c - values with keys, --precond 'amg(cycle=k,degree=3)':
 *
 *     LIST  = SPEC {"," SPEC}             where the command takes a list
 *     SPEC  = NAME ["(" [KEY "=" VALUE {"," KEY "=" VALUE}] ")"]
 *     VALUE = text up to "," or ")", or in double quotes, a quote as two
 *
 * Parentheses within a value come in pairs. Blanks around names, keys and
 * values do not count. */
#include "cli/base.h"
#include "cli/options.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct cli_word {
    struct cli_word *next;
    char text[];
} cli_word;

typedef struct spec {
    cli_settings *owner; /* has the memory */
    cli_settings *set;   /* of the item that is read */
    const cli_option *o;
    const char *text; /* all of the value */
    const char *at;   /* where the parser is */
    bool list;        /* of several items */
    char *name;       /* of the item */
    uint64_t seen;    /* bits: its keys */
} spec;

/* Fail with the column of `at`. */
static tacit_status fail_at(const spec *s, tacit_status status, const char *at,
                            const char *why)
{
    enum { SHOWN = 200 };
    return tacit_error_set(status, "--%s '%.*s%s', column %d: %s", s->o->name,
                           SHOWN, s->text, strlen(s->text) > SHOWN ? "..." : "",
                           (int)(at - s->text) + 1, why);
}

enum { WHY = 700 };
static tacit_status wrong(const spec *s, const char *at, const char *format,
                          ...) TACIT_PRINTF(3, 4);
static tacit_status wrong(const spec *s, const char *at, const char *format,
                          ...)
{
    char why[WHY];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return fail_at(s, TACIT_INVALID, at, why);
}

static void skip_blanks(spec *s)
{
    s->at += strspn(s->at, " ");
}

/* `from` [length] without the blanks at its end, kept with the settings. */
static tacit_status keep(spec *s, const char *from, size_t length, char **out)
{
    cli_word *word = NULL;
    while (length > 0 && from[length - 1] == ' ') length--;
    TRY(base_alloc(1, sizeof *word + length + 1, "the command line", &word));
    memcpy(word->text, from, length);
    word->next = s->owner->words;
    s->owner->words = word;
    *out = word->text;
    return TACIT_OK;
}

/* The text up to one of `ends`. */
static tacit_status take_text(spec *s, const char *ends, char **out)
{
    const size_t length = strcspn(s->at, ends);
    TRY(keep(s, s->at, length, out));
    s->at += length;
    return TACIT_OK;
}

/* Set a field; an error tells the column of `at`. */
static tacit_status set_field(spec *s, const cli_option *o, const char *at,
                              const char *text)
{
    char why[WHY];
    const tacit_status status = cli_set_value(s->set, o, text);
    if (status >= 0) return TACIT_OK;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    return fail_at(s, status, at, why);
}

/* --- a key ---------------------------------------------------------------- */

/* The first key of the option that is called `name`, of whatever value. */
static const cli_key *key_of_others(const spec *s, const char *name)
{
    const cli_key *key;
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++)
        if (strcmp(key->option, s->o->name) == 0 &&
            strcmp(key->row.name, name) == 0)
            return key;
    return NULL;
}

static const char *nearest_key(const spec *s, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t count = 0;
    const cli_key *key;
    for (int i = 0; (key = cli_key_at(i)) != NULL && count < MOST; i++)
        if (cli_key_fits(key, s->o->name, s->name))
            names[count++] = key->row.name;
    return cli_nearest(name, names, count);
}

static tacit_status unknown_key(const spec *s, const char *at, const char *name)
{
    char list[256], owners[64];
    const cli_key *other = key_of_others(s, name);
    cli_key_list(s->o->name, s->name, list, sizeof list);
    if (other) {
        cli_key_values(other, owners, sizeof owners);
        return wrong(s, at, "%s has no key '%s', a key of %s (keys of %s: %s)",
                     s->name, name, owners, s->name, list);
    }
    const char *near = nearest_key(s, name);
    if (near)
        return wrong(s, at, "%s has no key '%s': did you mean '%s'? (keys: %s)",
                     s->name, name, near, list);
    return wrong(s, at, "%s has no key '%s' (keys: %s)", s->name, name, list);
}

/* The values allowed after '=': "NAME: v, w, k". */
static void describe_value(const cli_key *key, char *text, size_t size)
{
    char list[256] = "";
    cli_option_values(&key->row, false, list, sizeof list);
    snprintf(text, size, "%s=%s%s%s", key->row.name, key->row.value,
             list[0] ? ": " : "", list);
}

/* The number of `key` in the table. */
static int number_of(const cli_key *key)
{
    int i = 0;
    while (cli_key_at(i) != key) i++;
    return i;
}

static tacit_status check_repeat(spec *s, const cli_key *key, const char *at)
{
    const uint64_t bit = UINT64_C(1) << number_of(key);
    const cli_key *other;
    if (s->seen & bit)
        return wrong(s, at, "key '%s' is given twice: leave one out",
                     key->row.name);
    s->seen |= bit;
    if (!cli_key_is_set(s->set, key)) return TACIT_OK;
    for (int i = 0; (other = cli_key_at(i)) != NULL; i++)
        if ((s->set->deprecated >> i & 1) && cli_keys_are_one(key, other))
            return wrong(s, at,
                         "key '%s' is what --%s says, too: leave --%s "
                         "out",
                         key->row.name, other->old, other->old);
    return wrong(s, at, "key '%s' is given before, by --method: leave one out",
                 key->row.name);
}

/* --- its value ------------------------------------------------------------ */

/* From a double quote to the next single one. */
static tacit_status take_quoted(spec *s, char **out)
{
    const char *open = s->at++;
    size_t length = 0;
    TRY(keep(s, s->at, strlen(s->at), out));
    char *to = *out;
    for (; s->at[0] != '"' || s->at[1] == '"'; s->at++) {
        if (s->at[0] == '\0')
            return wrong(s, open, "the quote has no end: expected '\"'");
        if (s->at[0] == '"') s->at++;
        to[length++] = s->at[0];
    }
    to[length] = '\0';
    s->at++;
    return TACIT_OK;
}

static tacit_status take_plain(spec *s, char **out)
{
    const char *from = s->at;
    int depth = 0;
    for (; *s->at; s->at++) {
        if (depth == 0 && (*s->at == ',' || *s->at == ')')) break;
        depth += (*s->at == '(') - (*s->at == ')');
    }
    return keep(s, from, (size_t)(s->at - from), out);
}

static tacit_status take_value(spec *s, const cli_key *key)
{
    char *value = NULL, expected[320];
    skip_blanks(s);
    const char *at = s->at;
    TRY(*at == '"' ? take_quoted(s, &value) : take_plain(s, &value));
    if (value[0] == '\0') {
        describe_value(key, expected, sizeof expected);
        return wrong(s, at, "key '%s' has an empty value: expected %s",
                     key->row.name, expected);
    }
    return set_field(s, &key->row, at, value);
}

static tacit_status take_key(spec *s)
{
    char *name = NULL, text[320];
    const char *at = s->at;
    TRY(take_text(s, "=,()", &name));
    if (name[0] == '\0') {
        cli_key_list(s->o->name, s->name, text, sizeof text);
        return wrong(s, at, "a key is missing: expected KEY=VALUE (keys: %s)",
                     text);
    }
    const cli_key *key = cli_key_find(s->o->name, s->name, name);
    if (!key) return unknown_key(s, at, name);
    TRY(check_repeat(s, key, at));
    if (*s->at != '=') {
        describe_value(key, text, sizeof text);
        return wrong(s, at, "key '%s' has no value: expected %s", name, text);
    }
    s->at++;
    return take_value(s, key);
}

/* From '(' to ')'. */
static tacit_status take_keys(spec *s)
{
    const int open = (int)(s->at++ - s->text) + 1;
    skip_blanks(s);
    if (*s->at == ')') {
        s->at++;
        return TACIT_OK;
    }
    for (;;) {
        skip_blanks(s);
        if (*s->at) TRY(take_key(s));
        skip_blanks(s);
        const char end = *s->at;
        if (end == ')' || end == ',') s->at++;
        if (end == ')') return TACIT_OK;
        if (end == ',') continue;
        if (end == '\0')
            return wrong(s, s->at, "')' is missing, for '(' in column %d",
                         open);
        return wrong(s, s->at, "'%c' after a value: expected ',' or ')'", end);
    }
}

/* --- items ---------------------------------------------------------------- */

/* The field of the option becomes the name. */
static tacit_status take_name(spec *s)
{
    cli_option bare = *s->o;
    skip_blanks(s);
    const char *at = s->at;
    TRY(take_text(s, "(),", &s->name));
    if (s->name[0] == '\0')
        return wrong(s, at, "a name is missing before %s",
                     *s->at == '('   ? "'('"
                     : *s->at == ')' ? "')'"
                     : *s->at == ',' ? "','"
                                     : "the end");
    bare.group = NULL; /* its name stands before the column */
    return set_field(s, &bare, at, s->name);
}

static tacit_status take_item(spec *s)
{
    skip_blanks(s);
    const char *from = s->at;
    s->seen = 0;
    TRY(take_name(s));
    if (*s->at == '(') {
        TRY(take_keys(s));
        char *spelling = NULL;
        TRY(keep(s, from, (size_t)(s->at - from), &spelling));
        if (s->list && s->seen) s->set->spelling = spelling;
    }
    skip_blanks(s);
    if (*s->at == '\0' || (*s->at == ',' && s->list)) return TACIT_OK;
    if (*s->at == ',')
        return wrong(s, s->at,
                     "--%s takes one name here: a list is for --precond of "
                     "compare",
                     s->o->name);
    if (*s->at == ')') return wrong(s, s->at, "')' without a '('");
    return wrong(s, s->at, "'%c' after ')': expected the end%s", *s->at,
                 s->list ? " or ','" : "");
}

/* Settings for the next item, which begin as those before the first. */
static tacit_status add_item(spec *s, const cli_settings *before)
{
    cli_settings *next = NULL;
    TRY(ALLOC(1, "the command line", &next));
    *next = *before;
    next->more = NULL;
    next->words = NULL;
    s->set->more = next;
    s->set = next;
    return TACIT_OK;
}

tacit_status cli_expand(cli_settings *set, const cli_option *o)
{
    spec s = {.owner = set, .set = set, .o = o};
    memcpy(&s.text, (const char *)set + o->offset, sizeof s.text);
    if (!s.text) return TACIT_OK;
    if (!strpbrk(s.text, "(),")) return cli_set_value(set, o, s.text);
    s.at = s.text;
    s.list =
        set->command == &cli_command_compare && strcmp(o->name, "precond") == 0;
    const cli_settings before = *set;
    TRY(take_item(&s));
    while (*s.at == ',') {
        s.at++;
        TRY(add_item(&s, &before));
        TRY(take_item(&s));
    }
    if (!set->more) set->spelling = NULL; /* the name says it */
    return TACIT_OK;
}

void cli_use_precond(cli_settings *to, const cli_settings *from)
{
    to->precond = from->precond;
    to->spelling = from->spelling;
    to->of_precond = from->of_precond;
}

void cli_settings_free(cli_settings *set)
{
    while (set->more) {
        cli_settings *next = set->more;
        set->more = next->more;
        free(next);
    }
    while (set->words) {
        cli_word *word = set->words;
        set->words = word->next;
        free(word);
    }
}

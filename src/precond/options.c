/* SPDX-License-Identifier: BSD-3-Clause
 * precond/options.c - options by name: lists, values as text, checks. */
#include "precond/options.h"
#include "precond/precond.h"
#include <stdio.h>
#include <string.h>

enum { LISTED = 32 }; /* options of a kind, or choices of an option */

/* --- lists ---------------------------------------------------------------- */

const tct_option *tct_option_at(const tct_precond_kind *kind, int i)
{
    for (int t = 0; t < TCT_OPTION_TABLES && kind->options[t]; t++)
        for (const tct_option *o = kind->options[t]; o->bytes > 0; o++)
            if (i-- == 0) return o;
    return NULL;
}

static bool is_auto(const char *precond)
{
    return strcmp(precond, "auto") == 0;
}

/* Is `precond` the kind, or "auto" and the kind one that a race tries? An exact
 * factor is tried with its defaults. */
static bool takes_part(const tct_precond_kind *kind, const char *precond)
{
    if (is_auto(precond))
        return kind->products > 0.0 && !(kind->operation > 0.0);
    return strcmp(kind->about.name, precond) == 0;
}

/* Option `i` of `precond`, data not included. */
static const tct_option *option_at(const char *precond, int i)
{
    const tct_precond_kind *kind;
    for (int k = 0; i >= 0 && (kind = tct_precond_kind_at(k)) != NULL; k++) {
        const tct_option *o;
        if (!takes_part(kind, precond)) continue;
        for (int j = 0; (o = tct_option_at(kind, j)) != NULL; j++)
            if (o->about.name && i-- == 0) return o;
    }
    return NULL;
}

const tacit_precond_option *tacit_precond_option_at(const char *precond, int i)
{
    const tct_option *o = precond ? option_at(precond, i) : NULL;
    return o ? &o->about : NULL;
}

static const tct_option *find(const char *precond, const char *name)
{
    const tct_option *o;
    for (int i = 0; (o = option_at(precond, i)) != NULL; i++)
        if (strcmp(o->about.name, name) == 0) return o;
    return NULL;
}

/* Does any kind have an option `name`? */
static bool is_known(const char *name)
{
    const tct_precond_kind *kind;
    for (int k = 0; (kind = tct_precond_kind_at(k)) != NULL; k++)
        if (find(kind->about.name, name)) return true;
    return false;
}

/* "a, b, c" into `text` [size], which is returned. */
static const char *join(const char *const *words, int count, char *text,
                        size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i > 0 ? ", " : "", words[i]);
    return text;
}

/* --- values --------------------------------------------------------------- */

static tacit_status unknown_choice(const tct_option *o, const char *text)
{
    const char *const *choices = o->about.choices;
    char list[256];
    int count = 0;
    while (choices[count]) count++;
    const char *near = tct_nearest(text, choices, (size_t)count);
    FAIL(TACIT_INVALID, "unknown %s '%s'%s%s%s (available: %s)",
         o->noun ? o->noun : o->about.name, text,
         near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "",
         join(choices, count, list, sizeof list));
}

/* The choice called `text`, NULL: none. */
static const char *choice_of(const tct_option *o, const char *text)
{
    for (const char *const *c = o->about.choices; *c; c++)
        if (strcmp(*c, text) == 0) return *c;
    return NULL;
}

static tacit_status read_choice(const tct_option *o, const char *text, void *to)
{
    const char *choice = choice_of(o, text);
    if (!choice) return unknown_choice(o, text);
    memcpy(to, &choice, sizeof choice);
    return TACIT_OK;
}

static tacit_status check_integer(const tct_option *o, const char *text,
                                  int64_t value)
{
    if (value >= o->about.least && value <= o->about.most) return TACIT_OK;
    FAIL(TACIT_INVALID, "%s '%s': expected a whole number from %d to %d",
         o->about.name, text, o->about.least, o->about.most);
}

static tacit_status read_integer(const tct_option *o, const char *text,
                                 void *to)
{
    int64_t value = 0;
    const bool is_number = tct_parse_int64(text, &value);
    TRY(check_integer(o, text, is_number ? value : INT64_MIN));
    const int small = (int)value;
    memcpy(to, &small, sizeof small);
    return TACIT_OK;
}

/* Three numbers; of "auto" the last is 0. */
static tacit_status read_grid(const tct_option *o, const char *text, void *to)
{
    int grid[3] = {1, 1, 0}, end = 0;
    if (strcmp(text, "auto") != 0 &&
        (sscanf(text, "%4dx%4dx%4d%n", &grid[0], &grid[1], &grid[2], &end) !=
             3 ||
         text[end] != '\0' || grid[0] < 1 || grid[1] < 1 || grid[2] < 1))
        FAIL(TACIT_INVALID,
             "%s '%s': expected three numbers, such as 2x1x4, or auto",
             o->about.name, text);
    memcpy(to, grid, sizeof grid);
    return TACIT_OK;
}

static tacit_status read_text(const tct_option *o, const char *text, void *to)
{
    if (text[0] == '\0')
        FAIL(TACIT_INVALID, "%s: its %s is empty", o->about.name,
             o->about.value);
    switch (o->about.type) {
    case TACIT_OPTION_CHOICE: return read_choice(o, text, to);
    case TACIT_OPTION_INTEGER: return read_integer(o, text, to);
    case TACIT_OPTION_GRID: return read_grid(o, text, to);
    case TACIT_OPTION_FILE: memcpy(to, &text, sizeof text); break;
    }
    return TACIT_OK;
}

/* --- members -------------------------------------------------------------- */

/* "auto" is the default of each choice that has no such value. */
static tacit_status take_choice(const tct_option *o, const char *text, void *to)
{
    if (is_auto(text) && !choice_of(o, text)) return TACIT_OK;
    return read_choice(o, text, to);
}

/* The member of `given` at `from`, which is not zero. */
static tacit_status take_member(const tct_option *o, const char *from, void *to)
{
    char text[16];
    const char *word = NULL;
    int value = 0;
    const bool is_data = !o->about.name;
    if (!is_data && o->about.type == TACIT_OPTION_CHOICE) {
        memcpy(&word, from, sizeof word);
        return take_choice(o, word, to);
    }
    if (!is_data && o->about.type == TACIT_OPTION_INTEGER) {
        memcpy(&value, from, sizeof value);
        snprintf(text, sizeof text, "%d", value);
        TRY(check_integer(o, text, value));
    }
    memcpy(to, from, o->bytes);
    return TACIT_OK;
}

static bool is_zero(const char *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (bytes[k]) return false;
    return true;
}

static tacit_status take_members(const tct_precond_kind *kind,
                                 const tacit_precond_options *given, void *own)
{
    const tct_option *o;
    for (int i = 0; (o = tct_option_at(kind, i)) != NULL; i++) {
        const char *from = (const char *)given + o->given;
        if (o->given > 0 && !is_zero(from, o->bytes))
            TRY(take_member(o, from, (char *)own + o->at));
    }
    return TACIT_OK;
}

/* Options that are set by name; some may be those of other kinds. */
static tacit_status take_named(const tct_precond_kind *kind,
                               const tacit_precond_options *given, void *own)
{
    for (int k = 0; k < TACIT_PRECOND_NAMED_MOST && given->named[k].name; k++) {
        const char *name = given->named[k].name;
        const tct_option *o = find(kind->about.name, name);
        if (o) TRY(read_text(o, given->named[k].value, (char *)own + o->at));
        else if (!is_known(name))
            FAIL(TACIT_INVALID, "no preconditioner has an option '%s'", name);
    }
    return TACIT_OK;
}

tacit_status tct_options_take(const tct_precond_kind *kind,
                              const tacit_precond_options *given, void *own)
{
    if (!given || kind->options_size == 0) return TACIT_OK;
    TRY(take_members(kind, given, own));
    TRY(take_named(kind, given, own));
    return kind->check ? kind->check(own) : TACIT_OK;
}

/* --- setting one ---------------------------------------------------------- */

static tacit_status unknown_option(const char *precond, const char *name)
{
    const char *names[LISTED];
    char list[512];
    int count = 0;
    const tct_option *o;
    while (count < LISTED && (o = option_at(precond, count)) != NULL)
        names[count++] = o->about.name;
    const char *near = tct_nearest(name, names, (size_t)count);
    FAIL(TACIT_INVALID, "%s has no option '%s'%s%s%s (options: %s)", precond,
         name, near ? ": did you mean '" : "", near ? near : "",
         near ? "'?" : "", join(names, count, list, sizeof list));
}

/* The place of `name`: that where it is set, or the first free one; NULL: all
 * are taken. */
static tacit_precond_named *place_of(tacit_precond_options *options,
                                     const char *name)
{
    for (int k = 0; k < TACIT_PRECOND_NAMED_MOST; k++) {
        tacit_precond_named *named = &options->named[k];
        if (!named->name || strcmp(named->name, name) == 0) return named;
    }
    return NULL;
}

/* Would each kind of `precond` take these options? */
static tacit_status check(const char *precond,
                          const tacit_precond_options *options)
{
    const tct_precond_kind *kind;
    for (int k = 0; (kind = tct_precond_kind_at(k)) != NULL; k++) {
        if (!takes_part(kind, precond)) continue;
        void *own = tct_calloc(kind->options_size + 1);
        if (!own) FAIL(TACIT_NO_MEMORY, "no memory for options");
        const tacit_status status = tct_options_take(kind, options, own);
        tct_free(own);
        TRY(status);
    }
    return TACIT_OK;
}

enum {
    SIZE_LEAST = offsetof(tacit_precond_options, named) +
                 sizeof(((tacit_precond_options *)0)->named)
};

tacit_status tacit_precond_options_set(tacit_precond_options *options,
                                       const char *precond, const char *name,
                                       const char *value)
{
    REQUIRE(options != NULL, precond != NULL, name != NULL, value != NULL);
    TRY(tct_check_sized("tacit_precond_options", options));
    if (options->size < SIZE_LEAST)
        FAIL(TACIT_INVALID,
             "tacit_precond_options: %zu bytes have no options by name",
             options->size);
    if (!is_auto(precond)) TRY(tct_precond_find(precond, NULL));
    const tct_option *o = find(precond, name);
    if (!o) return unknown_option(precond, name);
    tacit_precond_named *place = place_of(options, o->about.name);
    if (!place)
        FAIL(TACIT_INVALID, "%s: %d options are set by name, and no more fit",
             name, TACIT_PRECOND_NAMED_MOST);
    const tacit_precond_named before = *place;
    *place = (tacit_precond_named){o->about.name, value};
    const tacit_status status = check(precond, options);
    if (status < 0) *place = before;
    return status;
}

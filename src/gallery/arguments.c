/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/arguments.c - parses the arguments after the colon of a gallery name.
 * Errors are one line with what is wrong and the usage. */
#include "gallery/family.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

tacit_status tct_gallery_spec_cut(const tct_gallery *family,
                                  const char *arguments, int least, int most,
                                  tct_gallery_spec *out)
{
    tct_gallery_spec *w = out;
    *w = (tct_gallery_spec){.family = family};
    const size_t length = strlen(arguments);
    if (length == 0)
        FAIL(TACIT_INVALID, "%s has no arguments (usage: %s)",
             family->about.name, family->about.usage);
    if (length >= sizeof w->text)
        FAIL(TACIT_INVALID,
             "%s: more than %d characters of arguments "
             "(usage: %s)",
             family->about.name, TCT_GALLERY_SPEC_TEXT - 1,
             family->about.usage);
    memcpy(w->text, arguments, length + 1);
    int commas = 0;
    for (const char *c = arguments; *c; c++) commas += *c == ',';
    if (commas + 1 < least || commas + 1 > most)
        FAIL(TACIT_INVALID, "%s:%s: %s arguments (usage: %s)",
             family->about.name, arguments,
             commas + 1 < least ? "too few" : "too many", family->about.usage);
    char *rest = w->text;
    for (w->count = 0; rest; w->count++) w->word[w->count] = strsep(&rest, ",");
    return TACIT_OK;
}

static bool all_digits(const char *text)
{
    if (*text == '\0') return false;
    for (; *text; text++)
        if (!isdigit((unsigned char)*text)) return false;
    return true;
}

/* `text` is word `k` or part of it. */
static tacit_status whole(const tct_gallery_spec *w, const char *text,
                          const char *name, int64_t least, int64_t *out)
{
    int64_t value;
    if (!tct_parse_int64(text, &value) || isspace((unsigned char)*text)) {
        if (all_digits(text))
            FAIL(TACIT_INPUT,
                 "%s: %s = %s is beyond 64 bits: take a smaller "
                 "matrix",
                 w->family->about.name, name, text);
        FAIL(TACIT_INVALID, "%s: %s is not a whole number: '%s' (usage: %s)",
             w->family->about.name, name, text, w->family->about.usage);
    }
    if (value < least)
        FAIL(TACIT_INVALID, "%s: %s = %lld, expected %lld or more (usage: %s)",
             w->family->about.name, name, (long long)value, (long long)least,
             w->family->about.usage);
    *out = value;
    return TACIT_OK;
}

tacit_status tct_gallery_spec_whole(const tct_gallery_spec *w, int k,
                                    const char *name, int64_t least,
                                    int64_t *out)
{
    return whole(w, w->word[k], name, least, out);
}

tacit_status tct_gallery_spec_positive(const tct_gallery_spec *w, int k,
                                       const char *name, double *out)
{
    double value;
    if (!tct_parse_double(w->word[k], &value))
        FAIL(TACIT_INVALID, "%s: %s is not a number: '%s' (usage: %s)",
             w->family->about.name, name, w->word[k], w->family->about.usage);
    if (!isfinite(value) || value <= 0.0)
        FAIL(TACIT_INVALID,
             "%s: %s = %s, expected a positive finite number "
             "(usage: %s)",
             w->family->about.name, name, w->word[k], w->family->about.usage);
    *out = value;
    return TACIT_OK;
}

tacit_status tct_gallery_spec_seed(const tct_gallery_spec *w, int k,
                                   uint64_t *out)
{
    int64_t value = 1;
    if (k < w->count) TRY(whole(w, w->word[k], "SEED", INT64_MIN, &value));
    *out = (uint64_t)value;
    return TACIT_OK;
}

tacit_status tct_gallery_spec_grid(const tct_gallery_spec *w, int k, int dims,
                                   int64_t least, int64_t n[3])
{
    static const char *const side_name[] = {"NX", "NY", "NZ"};
    if (dims == 1) {
        n[1] = n[2] = 1;
        return whole(w, w->word[k], "N", least, &n[0]);
    }
    char text[TCT_GALLERY_SPEC_TEXT];
    memcpy(text, w->word[k], strlen(w->word[k]) + 1);
    char *rest = text;
    const char *side[3] = {NULL, NULL, NULL};
    int count = 0;
    for (; rest && count < dims; count++) side[count] = strsep(&rest, "x");
    if (rest || (count != 1 && count != dims))
        FAIL(TACIT_INVALID, "%s: expected 1 or %d sides, not '%s' (usage: %s)",
             w->family->about.name, dims, w->word[k], w->family->about.usage);
    int64_t value[3] = {1, 1, 1};
    for (int d = 0; d < count; d++)
        TRY(whole(w, side[d], count == 1 ? "N" : side_name[d], least,
                  &value[d]));
    for (int d = 1; d < dims && count == 1; d++) value[d] = value[0];
    memcpy(n, value, sizeof value);
    return TACIT_OK;
}

tacit_status tct_gallery_size_grid(tct_gallery_matrix *g, const int64_t n[3],
                                   int64_t dof, int64_t widest)
{
    int64_t rows = dof, entries;
    bool beyond = false;
    for (int d = 0; d < 3; d++)
        beyond = __builtin_mul_overflow(rows, n[d], &rows) || beyond;
    /* bytes of the entries must fit, too */
    if (beyond || __builtin_mul_overflow(rows, 16 * widest, &entries))
        FAIL(TACIT_INPUT,
             "%s: %.3g rows with up to %lld entries do not fit "
             "in 64 bits: take a smaller matrix",
             g->name, (double)dof * (double)n[0] * (double)n[1] * (double)n[2],
             (long long)widest);
    g->rows = rows;
    memcpy(g->grid, n, sizeof g->grid);
    g->widest = widest;
    return TACIT_OK;
}

tacit_status tct_gallery_keep(tct_gallery_matrix *g, const void *data,
                              size_t bytes)
{
    g->data = tct_alloc(bytes);
    if (!g->data)
        FAIL(TACIT_NO_MEMORY, "no memory for the recipe of %s", g->name);
    memcpy(g->data, data, bytes);
    return TACIT_OK;
}

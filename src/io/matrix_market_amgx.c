/* SPDX-License-Identifier: BSD-3-Clause
 * io/matrix_market_amgx.c - the comment by which AMGX marks a system:
 *
 *     %%AMGX [rows columns of a block] [sorted] [diagonal] [rhs] [solution]
 *
 * Values of the right-hand side, then of a first guess, one a line, follow the
 * entries. Blocks, an apart diagonal and indices from 0 are not read. */
#include "io/matrix_market.h"
#include "io/number.h"
#include <string.h>

bool tct_market_is_amgx(const char *line)
{
    return strncmp(line, "%%AMGX", 6) == 0 || strncmp(line, "%%NVAMG", 7) == 0;
}

static tacit_status take_word(tct_market *m, const char *word)
{
    static const char *const known[] = {"rhs", "solution", "sorted", "1"};
    const long long line = tct_text_line_number(m->text) - 1;
    int k = 0;
    while (k < 4 && strcasecmp(word, known[k]) != 0) k++;
    m->has_rhs = m->has_rhs || k == 0;
    m->has_guess = m->has_guess || k == 1;
    if (k < 4) return TACIT_OK;
    const char *why = "is not understood";
    if (strcasecmp(word, "diagonal") == 0)
        why = "keeps the diagonal apart: write it among the entries";
    if (strcasecmp(word, "base0") == 0)
        why = "counts from 0: write indices from 1";
    if (strspn(word, "0123456789") == strlen(word))
        why = "is the size of a block: write single entries";
    FAIL(TACIT_INPUT, "%s:%lld: '%.40s' in the AMGX header %s", m->in.path,
         line, word, why);
}

tacit_status tct_market_parse_amgx(tct_market *m, char *line)
{
    char *rest = NULL;
    strtok_r(line, " \t\r", &rest);
    for (char *w = strtok_r(NULL, " \t\r", &rest); w;
         w = strtok_r(NULL, " \t\r", &rest))
        TRY(take_word(m, w));
    if (m->array && (m->has_rhs || m->has_guess))
        FAIL(TACIT_INPUT,
             "%s:%lld: an AMGX header in a dense array: write coordinates",
             m->in.path, m->banner);
    m->base.own_rhs = m->has_rhs;
    return TACIT_OK;
}

/* Skip `count` lines that are not comments. */
static tacit_status skip_lines(tct_market *m, int64_t count)
{
    char *line;
    size_t length;
    while (count > 0) {
        TRY(tct_text_line(m->text, &line, &length));
        if (!line)
            FAIL(TACIT_INPUT,
                 "%s:%lld: ends before its vectors: it is cut short",
                 m->in.path, (long long)tct_text_line_number(m->text) - 1);
        while (tct_is_blank(*line)) line++;
        count -= *line != '\0' && *line != '%';
    }
    return TACIT_OK;
}

tacit_status tct_market_find_vector(tct_market *m)
{
    tct_source *s = &m->base;
    if (!(m->in.guess ? m->has_guess : m->has_rhs)) {
        if (!m->in.guess) return TACIT_OK; /* its sizes are refused later */
        FAIL(TACIT_INPUT, "%s: is a file without a first guess: give another",
             m->in.path);
    }
    TRY(skip_lines(m, s->stored));
    if (m->in.guess && m->has_rhs) TRY(skip_lines(m, s->rows));
    m->array = true;
    s->symmetric = false;
    s->field = TCT_FIELD_REAL;
    s->cols = 1;
    s->stored = s->most = s->rows;
    return TACIT_OK;
}

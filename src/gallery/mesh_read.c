/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/mesh_read.c - TetGen's text files: a line of counts, then a line per
 * node or element that begins with its number; # begins a comment. */
#include "gallery/mesh.h"
#include "io/number.h"
#include "io/text.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };

typedef struct {
    char path[PATH_MOST];
    tct_stream *stream;
    tct_text *text;
    const char *at; /* position in the line */
} mesh_file;

static void close_file(mesh_file *f)
{
    tct_text_close(&f->text);
    tct_stream_close(&f->stream);
}

static long long line_of(const mesh_file *f)
{
    return (long long)tct_text_line_number(f->text) - 1;
}

/* Find `base` with `suffix`, plain or packed; false: none. */
static bool find_file(const char *base, const char *suffix, mesh_file *f)
{
    static const char *const packing[] = {"", ".gz", ".xz"};
    for (int k = 0; k < 3; k++) {
        const int n = snprintf(f->path, sizeof f->path, "%s%s%s", base, suffix,
                               packing[k]);
        if (n < (int)sizeof f->path && access(f->path, R_OK) == 0) return true;
    }
    return false;
}

/* Go to the next nonempty line; false at the end of the file. */
static tacit_status next_line(mesh_file *f, bool *found)
{
    for (;;) {
        char *line;
        size_t length;
        TRY(tct_text_line(f->text, &line, &length));
        *found = line != NULL;
        if (!line) return TACIT_OK;
        while (*line == ' ' || *line == '\t') line++;
        f->at = line;
        if (*line != '\0' && *line != '#') return TACIT_OK;
    }
}

static bool between_words(char c)
{
    return c == ' ' || c == '\t' || c == '\0' || c == '#';
}

/* Read the next number of the line; `what` names it in errors. */
static tacit_status take_int(mesh_file *f, const char *what, int64_t *out)
{
    while (*f->at == ' ' || *f->at == '\t') f->at++;
    const char *end = tct_scan_int(f->at, out);
    if (!end || !between_words(*end))
        FAIL(TACIT_INPUT, "%s:%lld: expected %s, a whole number, at '%.20s'",
             f->path, line_of(f), what, f->at);
    f->at = end;
    return TACIT_OK;
}

static tacit_status take_double(mesh_file *f, const char *what, double *out)
{
    while (*f->at == ' ' || *f->at == '\t') f->at++;
    const char *end = tct_scan_double(f->at, out);
    if (!end || !between_words(*end) || !isfinite(*out))
        FAIL(TACIT_INPUT, "%s:%lld: expected %s, a finite number, at '%.20s'",
             f->path, line_of(f), what, f->at);
    f->at = end;
    return TACIT_OK;
}

/* Open the file and read the count of `what` from its first line. */
static tacit_status open_file(mesh_file *f, const char *what, int64_t *count)
{
    bool found = false;
    TRY(tct_stream_open(f->path, &f->stream));
    TRY(tct_text_open(f->path, f->stream, &f->text));
    TRY(next_line(f, &found));
    if (!found)
        FAIL(TACIT_INPUT,
             "%s: expected a line with the number of %s, found "
             "none",
             f->path, what);
    TRY(take_int(f, what, count));
    if (*count < 0 || *count >= INT32_MAX)
        FAIL(TACIT_INPUT, "%s:%lld: %lld %s, expected 0 to 2^31", f->path,
             line_of(f), (long long)*count, what);
    return TACIT_OK;
}

/* Go to line `k` of `count` lines of `what`. */
static tacit_status take_line(mesh_file *f, const char *what, int64_t k,
                              int64_t count)
{
    bool found = false;
    TRY(next_line(f, &found));
    if (found) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s: ends after %lld of %lld %s", f->path, (long long)k,
         (long long)count, what);
}

static tacit_status expect_end(mesh_file *f, const char *what, int64_t count)
{
    bool found = false;
    TRY(next_line(f, &found));
    if (!found) return TACIT_OK;
    FAIL(TACIT_INPUT, "%s:%lld: more than the %lld %s of the first line",
         f->path, line_of(f), (long long)count, what);
}

/* --- the three files ------------------------------------------------------ */

/* Sets `*origin` to the number of the first node. */
static tacit_status read_nodes(mesh_file *f, tct_mesh *m, int64_t *origin)
{
    int64_t dims;
    TRY(open_file(f, "nodes", &m->nodes));
    TRY(take_int(f, "the dimension", &dims));
    if (dims != 3)
        FAIL(TACIT_INPUT, "%s:%lld: nodes in %lld dimensions, expected 3",
             f->path, line_of(f), (long long)dims);
    TRY(tct_memory_require(25.0 * (double)m->nodes, f->path));
    TRY(TCT_ALLOC(m->nodes, "the nodes of a mesh", &m->x));
    TRY(TCT_ALLOC(m->nodes, "the supports of a mesh", &m->held));
    for (int64_t k = 0; k < m->nodes; k++) {
        int64_t number;
        m->held[k] = 0;
        TRY(take_line(f, "nodes", k, m->nodes));
        TRY(take_int(f, "the number of a node", &number));
        if (k == 0) *origin = number;
        if (number != *origin + k || *origin < 0 || *origin > 1)
            FAIL(TACIT_INPUT, "%s:%lld: node %lld, expected %lld", f->path,
                 line_of(f), (long long)number,
                 (long long)(k > 0 ? *origin + k : 0));
        for (int d = 0; d < 3; d++)
            TRY(take_double(f, "a coordinate", &m->x[k][d]));
    }
    return expect_end(f, "nodes", m->nodes);
}

static tacit_status take_node(mesh_file *f, const tct_mesh *m, int64_t origin,
                              int32_t *out)
{
    int64_t number;
    TRY(take_int(f, "a node", &number));
    if (number < origin || number >= origin + m->nodes)
        FAIL(TACIT_INPUT, "%s:%lld: node %lld, expected %lld to %lld", f->path,
             line_of(f), (long long)number, (long long)origin,
             (long long)(origin + m->nodes - 1));
    *out = (int32_t)(number - origin);
    return TACIT_OK;
}

static tacit_status read_elements(mesh_file *f, tct_mesh *m, int64_t origin)
{
    int64_t corners, number;
    TRY(open_file(f, "elements", &m->elements));
    TRY(take_int(f, "the nodes of an element", &corners));
    if (corners != 4 && corners != 10)
        FAIL(TACIT_INPUT, "%s:%lld: elements of %lld nodes, expected 4 or 10",
             f->path, line_of(f), (long long)corners);
    if (m->elements == 0)
        FAIL(TACIT_INPUT, "%s: there are no elements", f->path);
    m->corners = (int)corners;
    const int64_t refs = m->elements * corners;
    TRY(tct_memory_require(4.0 * (double)refs, f->path));
    TRY(TCT_ALLOC(refs, "the elements of a mesh", &m->element));
    for (int64_t k = 0; k < m->elements; k++) {
        TRY(take_line(f, "elements", k, m->elements));
        TRY(take_int(f, "the number of an element", &number));
        for (int64_t c = 0; c < corners; c++)
            TRY(take_node(f, m, origin, &m->element[k * corners + c]));
    }
    return expect_end(f, "elements", m->elements);
}

static tacit_status read_supports(mesh_file *f, tct_mesh *m, int64_t origin)
{
    int64_t count = 0, component = 0;
    int32_t node = 0;
    TRY(open_file(f, "supports", &count));
    for (int64_t k = 0; k < count; k++) {
        TRY(take_line(f, "supports", k, count));
        TRY(take_node(f, m, origin, &node));
        TRY(take_int(f, "a component", &component));
        if (component < 0 || component > 2)
            FAIL(TACIT_INPUT, "%s:%lld: component %lld, expected 0 to 2",
                 f->path, line_of(f), (long long)component);
        m->held[node] = (uint8_t)(m->held[node] | 1 << component);
        m->any_held = true;
    }
    return expect_end(f, "supports", count);
}

static tacit_status build(const char *base, bool supports, tct_mesh *m)
{
    int64_t origin = 0;
    tacit_status status = TACIT_OK;
    for (int step = 0; step < 3 && status >= 0; step++) {
        static const char *const suffix[] = {".node", ".ele", ".spc"};
        mesh_file f = {.stream = NULL};
        if (step == 2 && !supports) break;
        if (!find_file(base, suffix[step], &f)) {
            if (step == 2) break;
            FAIL(TACIT_IO,
                 "there is no mesh file %s%s, plain or with .gz or "
                 ".xz, that can be read",
                 base, suffix[step]);
        }
        status = step == 0   ? read_nodes(&f, m, &origin)
                 : step == 1 ? read_elements(&f, m, origin)
                             : read_supports(&f, m, origin);
        close_file(&f);
    }
    return status;
}

tacit_status tct_mesh_read(const char *base, bool supports, tct_mesh *out)
{
    tct_mesh m = {0};
    const tacit_status status = build(base, supports, &m);
    if (status < 0) {
        tct_mesh_clear(&m);
        return status;
    }
    *out = m;
    return TACIT_OK;
}

void tct_mesh_clear(tct_mesh *mesh)
{
    TCT_FREE(mesh->x, mesh->element, mesh->held);
    *mesh = (tct_mesh){0};
}

/* SPDX-License-Identifier: BSD-3-Clause
 * io/metis.c - a METIS graph, read as its Laplacian.
 *
 *     % comments
 *     vertices edges [fmt [constraints]]
 *     neighbours of vertex 1 ...     each line: [size] [weights] then
 *     neighbours of vertex 2 ...     neighbour [edge weight] ...
 *
 * fmt "abc": vertex sizes (a), vertex weights (b), edge weights (c). Every edge
 * is listed at both vertices. The Laplacian has minus the edge weights off the
 * diagonal and each vertex's sum of weights on it. An empty line is a vertex
 * without edges.
 * [KK13] Karypis and Kumar, METIS manual, version 5.1 (2013), section 4.1. */
#include "io/format.h"
#include "io/number.h"
#include "io/text.h"
#include <math.h>
#include <stdio.h>

typedef struct {
    tct_source base;
    tct_input in;
    tct_text *text;
    tct_text_place here;
    bool edge_weights, in_comment, begun; /* begun: this line has a word */
    int skip;          /* words before the neighbours of each line */
    int skipped;       /* ... in this line */
    int64_t edges;     /* in the header, each counted once */
    int64_t vertex;    /* of the current line */
    int64_t neighbour; /* whose weight follows, or -1 */
    int64_t seen;      /* neighbours read */
    double degree;     /* weights of this vertex so far */
    uint64_t balance;  /* 0 if every edge is listed twice */
    tct_entry *entry;  /* [TCT_BATCH + 2] */
    int64_t count;
    tct_part parts[TCT_PARTS];
} graph;

/* --- errors ------------------------------------------------------------- */

static tacit_status bad_word(const graph *g, const char *at, const char *why)
{
    return tct_text_bad_word(g->text, g->here.line, at, why);
}

/* The format has no signature, so a file without another format's header is
 * taken for it. */
static tacit_status as_graph(tacit_status status)
{
    if (status != TACIT_INPUT) return status;
    FAIL(
        status,
        "%s (it was read as a METIS graph, since it begins with whole numbers: "
        "a Matrix Market file begins with %%%%MatrixMarket)",
        tacit_error_message());
}

/* --- lines -------------------------------------------------------------- */

static void emit(graph *g, int64_t row, int64_t col, double val)
{
    g->entry[g->count++] = (tct_entry){row, col, val};
}

/* An edge adds a hash to `balance` at its lower end and subtracts it at its
 * upper end. */
static void add_edge(graph *g, int64_t to, double weight)
{
    const int64_t from = g->vertex;
    const uint64_t low = (uint64_t)(from < to ? from : to);
    const uint64_t high = (uint64_t)(from < to ? to : from);
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    const uint64_t mark = tct_mix(tct_mix(tct_mix(low) ^ high) ^ bits);
    g->balance += from < to ? mark : 0 - mark;
    g->degree += weight;
    g->seen++;
    emit(g, from, to, -weight);
}

static tacit_status end_line(graph *g)
{
    if (g->neighbour >= 0)
        FAIL(TACIT_INPUT,
             "%s:%lld: the line ends where the weight of an edge "
             "should stand",
             g->in.path, (long long)tct_text_line_number(g->text));
    if (g->begun && g->skipped < g->skip)
        FAIL(TACIT_INPUT,
             "%s:%lld: the line ends before the %d vertex weights "
             "that the header promises",
             g->in.path, (long long)tct_text_line_number(g->text), g->skip);
    if (!isfinite(g->degree))
        FAIL(TACIT_INPUT,
             "%s:%lld: the weights of this vertex's edges add up to %g, beyond "
             "the range of doubles",
             g->in.path, (long long)tct_text_line_number(g->text), g->degree);
    if (g->vertex < g->base.rows) emit(g, g->vertex, g->vertex, g->degree);
    g->vertex++;
    g->degree = 0;
    g->skipped = 0;
    g->begun = false;
    return TACIT_OK;
}

/* Read the next word: a skipped weight, a neighbour or its weight. */
static tacit_status take_word(graph *g)
{
    const char *at = g->here.at, *end;
    double weight = 1;
    g->begun = true;
    if (g->vertex >= g->base.rows)
        return bad_word(g, at, "follows the last vertex: correct the header");
    if (g->skipped < g->skip || g->neighbour >= 0) {
        end = tct_scan_double(at, &weight);
        if (!end || *end > ' ') return bad_word(g, at, "is no number");
        g->here.at = end;
        if (g->skipped < g->skip) {
            g->skipped++;
            return TACIT_OK;
        }
        if (!(weight > 0) || !isfinite(weight))
            return bad_word(g, at,
                            "is no weight of an edge: it must be "
                            "positive");
    } else {
        int64_t to;
        end = tct_scan_int(at, &to);
        if (!end || *end > ' ') return bad_word(g, at, "is no whole number");
        if (to < 1 || to > g->base.rows)
            return bad_word(g, at,
                            "is no vertex: they are numbered from 1 to "
                            "the number in the header");
        if (to - 1 == g->vertex)
            return bad_word(g, at,
                            "is the vertex of this line itself: a graph "
                            "has no such edges");
        g->here.at = end;
        g->neighbour = to - 1;
        if (g->edge_weights) return TACIT_OK;
    }
    add_edge(g, g->neighbour, weight);
    g->neighbour = -1;
    return TACIT_OK;
}

/* Read words to the end of the block or of the room for entries. */
static tacit_status take_block(graph *g)
{
    while (g->here.at < g->here.end && g->count < TCT_BATCH) {
        const char c = *g->here.at;
        if (c == '\n') {
            if (!g->in_comment && (g->begun || g->vertex < g->base.rows))
                TRY(end_line(g));
            g->in_comment = false;
            tct_text_count_lines(g->text, 1);
            g->here.line = ++g->here.at;
        } else if (g->in_comment || c == ' ' || c == '\t' || c == '\r') {
            g->here.at++;
        } else if (c == '%' && !g->begun) {
            g->in_comment = true;
        } else {
            TRY(take_word(g));
        }
    }
    return TACIT_OK;
}

static tacit_status check_end(const graph *g)
{
    if (g->vertex < g->base.rows)
        FAIL(TACIT_INPUT,
             "%s:%lld: ends after %lld of %lld vertices: it is cut "
             "short, or the header is wrong",
             g->in.path, (long long)tct_text_line_number(g->text),
             (long long)g->vertex, (long long)g->base.rows);
    if (g->seen != 2 * g->edges)
        FAIL(TACIT_INPUT,
             "%s: lists %lld neighbours where the header promises "
             "%lld edges, each seen from both ends: correct it",
             g->in.path, (long long)g->seen, (long long)g->edges);
    if (g->balance == 0) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: an edge stands only in the line of one of its "
         "vertices, or with two weights: write it in both",
         g->in.path);
}

static tacit_status metis_next(tct_source *base, tct_batch *out)
{
    graph *g = (graph *)base;
    g->count = 0;
    for (;;) {
        TRY(as_graph(take_block(g)));
        if (g->count >= TCT_BATCH) break;
        TRY(tct_text_next(g->text, &g->here));
        if (g->here.at < g->here.end) continue;
        if (g->count == 0) TRY(as_graph(check_end(g)));
        break;
    }
    tct_batch_split(out, g->parts, g->entry, g->count);
    return TACIT_OK;
}

static tacit_status metis_verify(const tct_source *base, int64_t duplicates)
{
    if (duplicates == 0) return TACIT_OK;
    return as_graph(tacit_error_set(
        TACIT_INPUT,
        "%s: %lld edges are listed twice in a line: "
        "remove one of each",
        ((const graph *)base)->in.path, (long long)(duplicates / 2)));
}

static void metis_close(tct_source *base)
{
    graph *g = (graph *)base;
    tct_text_close(&g->text);
    tct_free(g->entry);
    tct_free(g);
}

/* --- the header --------------------------------------------------------- */

/* The first line after comments has two to four integers. */
static bool metis_probe(const char *head, size_t count)
{
    const char *p = head, *end = head + count;
    while (p && p < end && *p == '%') p = tct_next_line(p, end);
    if (!p) return false;
    int words = 0;
    bool inside = false;
    for (; p < end && *p != '\n'; p++) {
        if (*p == ' ' || *p == '\t' || *p == '\r') {
            inside = false;
        } else if (*p >= '0' && *p <= '9') {
            words += !inside;
            inside = true;
        } else {
            return false;
        }
    }
    return words >= 2 && words <= 4;
}

static tacit_status parse_header(graph *g)
{
    char *line = NULL;
    size_t length;
    do TRY(tct_text_line(g->text, &line, &length));
    while (line && line[0] == '%');
    long long constraints = 1;
    char fmt[24] = "0";
    int64_t rows = 0;
    const char *p = line ? line : "";
    while (*p == ' ' || *p == '\t') p++;
    p = tct_scan_int(p, &rows);
    while (p && (*p == ' ' || *p == '\t')) p++;
    p = p ? tct_scan_int(p, &g->edges) : NULL;
    if (p) sscanf(p, "%23s %9lld", fmt, &constraints);
    const size_t digits = strlen(fmt);
    const bool known = digits <= 3 && strspn(fmt, "01") == digits;
    if (!p || !known || constraints < 0 || constraints > 64)
        FAIL(TACIT_INPUT,
             "%s:%lld: '%.40s' is no header of a METIS graph: "
             "write vertices, edges, and the weights given (0, 1, "
             "10, 11 ...)",
             g->in.path, (long long)tct_text_line_number(g->text) - 1,
             line ? line : "");
    g->edge_weights = fmt[digits - 1] == '1';
    const bool weights = digits >= 2 && fmt[digits - 2] == '1';
    const bool sizes = digits == 3 && fmt[0] == '1';
    g->skip = (weights ? (int)constraints : 0) + sizes;
    g->base.rows = g->base.cols = rows;
    return TACIT_OK;
}

static tacit_status check_header(graph *g)
{
    char where[4200];
    snprintf(where, sizeof where, "%s:%lld", g->in.path,
             (long long)tct_text_line_number(g->text) - 1);
    const int64_t limit = tct_stream_limit(g->in.stream);
    if (g->edges < 0 || g->edges > INT64_MAX / 512 || g->base.rows > limit)
        FAIL(TACIT_INPUT,
             "%s: %lld vertices and %lld edges are more than the "
             "file can hold: correct the header",
             where, (long long)g->base.rows, (long long)g->edges);
    g->base.stored = 2 * g->edges;
    g->base.most = g->base.stored + g->base.rows;
    return tct_check_sizes(where, &g->in, &g->base,
                           limit == INT64_MAX ? limit : limit / 2 + 1);
}

static tacit_status build(graph *g)
{
    TRY(tct_text_open(g->in.path, g->in.stream, &g->text));
    TRY(TCT_ALLOC(TCT_BATCH + 2, "a piece of a file", &g->entry));
    TRY(parse_header(g));
    return check_header(g);
}

static tacit_status metis_open(const tct_input *in, tct_source **out)
{
    graph *g = tct_calloc(sizeof *g);
    if (!g) FAIL(TACIT_NO_MEMORY, "%s: no memory to read it", in->path);
    g->in = *in;
    g->neighbour = -1;
    g->base = (tct_source){.symmetric = true,
                           .unique = true,
                           .checked = true,
                           .next = metis_next,
                           .verify = metis_verify,
                           .close = metis_close};
    return tct_source_built(&g->base, as_graph(build(g)), out);
}

const tct_file_format tct_file_metis = {
    .about = {.name = "metis",
              .summary = "METIS graph: its Laplacian",
              .told_by = "a first line of two to four whole numbers",
              .reads_matrix = true},
    .probe = metis_probe,
    .open = metis_open,
};

/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/part_file.c - reads and writes the part of each row, a text file with
 * one number per line, as METIS writes it. Rank 0 reads the file in pieces and
 * sends each to its rank. */
#include "comm/setup/directory.h"
#include "io/input.h"
#include "io/sink.h"
#include "matrix/matrix.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18 }; /* lines */

typedef struct {
    tacit_world *world;
    const char *path;
    const int64_t *starts; /* [size + 1] of the original numbering      */
    FILE *file;            /* on rank 0 */
    char *line;            /* on rank 0, [room]: getline's */
    size_t room;
    int64_t read;         /* lines                                     */
    int64_t *piece;       /* [PIECE] parts to send */
    int64_t *send, *recv; /* [size] bytes */
    int64_t *rows;        /* [size] rows of each part */
    int64_t *part;        /* [starts of this rank] in the original order */
} reader;

static void close_reader(reader *r)
{
    if (r->file) fclose(r->file);
    free(r->line);
    TCT_FREE(r->piece, r->send, r->recv, r->rows, r->part);
}

static tacit_status open_reader(reader *r)
{
    const int size = r->world->size, rank = r->world->rank;
    TRY(TCT_ALLOC(PIECE, "the partition file", &r->piece));
    TRY(TCT_ALLOC(size, "the partition file", &r->send));
    TRY(TCT_ALLOC(size, "the partition file", &r->recv));
    TRY(TCT_ALLOC(size, "the partition file", &r->rows));
    for (int p = 0; p < size; p++) r->rows[p] = 0;
    TRY(TCT_ALLOC(r->starts[rank + 1] - r->starts[rank], "the parts",
                  &r->part));
    if (rank > 0) return TACIT_OK;
    const int fd = tct_input_open(r->path);
    r->file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!r->file)
        FAIL(TACIT_IO, "%s: cannot open the partition file: %s", r->path,
             strerror(errno));
    return TACIT_OK;
}

/* The next line, trimmed; NULL at the end. */
static char *next_line(reader *r)
{
    const ssize_t n = getline(&r->line, &r->room, r->file);
    if (n < 0) return NULL;
    char *end = r->line + n, *text = r->line;
    while (end > text && isspace((unsigned char)end[-1])) end--;
    *end = '\0';
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static tacit_status too_few(const reader *r)
{
    if (ferror(r->file))
        FAIL(TACIT_IO, "%s: cannot read line %" PRId64 ": %s", r->path,
             r->read + 1, strerror(errno));
    FAIL(TACIT_INPUT,
         "%s: ends after %" PRId64 " lines, but the matrix has %" PRId64
         " rows: expected the part of each row, one a line",
         r->path, r->read, r->starts[r->world->size]);
}

static tacit_status read_part(reader *r, int64_t *part)
{
    const char *text = next_line(r);
    if (!text) return too_few(r);
    r->read++;
    if (!tct_parse_int64(text, part))
        FAIL(TACIT_INPUT, "%s:%" PRId64 ": '%.40s' is not a part number",
             r->path, r->read, text);
    if (*part < 0 || *part >= r->world->size)
        FAIL(TACIT_INPUT,
             "%s:%" PRId64 ": part %" PRId64
             " is out of range: expected 0 to %d, a part for each process",
             r->path, r->read, *part, r->world->size - 1);
    r->rows[*part]++;
    return TACIT_OK;
}

static tacit_status read_piece(reader *r, int64_t count)
{
    if (r->world->rank > 0) return TACIT_OK;
    for (int64_t k = 0; k < count; k++) TRY(read_part(r, &r->piece[k]));
    return TACIT_OK;
}

/* Read the rows of rank `owner`, in pieces. */
static tacit_status read_for(reader *r, int owner)
{
    const int64_t count = r->starts[owner + 1] - r->starts[owner];
    const int rank = r->world->rank;
    for (int64_t done = 0; done < count; done += PIECE) {
        const int64_t n = count - done < PIECE ? count - done : PIECE;
        TRY(tct_agree(r->world, read_piece(r, n)));
        for (int p = 0; p < r->world->size; p++) r->send[p] = r->recv[p] = 0;
        if (rank == 0) r->send[owner] = n * (int64_t)sizeof *r->piece;
        if (rank == owner) r->recv[0] = n * (int64_t)sizeof *r->piece;
        TRY(tct_alltoallv(r->world, r->send, r->piece, r->recv,
                          rank == owner ? r->part + done : NULL));
    }
    return TACIT_OK;
}

/* Only blank lines may follow, and no part may be empty. */
static tacit_status check_end(reader *r)
{
    if (r->world->rank > 0) return TACIT_OK;
    for (char *text = next_line(r); text; text = next_line(r)) {
        r->read++;
        if (*text)
            FAIL(TACIT_INPUT,
                 "%s:%" PRId64 ": one line too many, the matrix has %" PRId64
                 " rows",
                 r->path, r->read, r->starts[r->world->size]);
    }
    for (int p = 0; p < r->world->size; p++)
        if (r->rows[p] == 0)
            FAIL(TACIT_INPUT,
                 "%s: part %d is empty: all %" PRId64
                 " lines name other parts, but each of the %d processes needs "
                 "one",
                 r->path, p, r->read, r->world->size);
    return TACIT_OK;
}

/* The parts of this rank's rows in the current numbering. */
static tacit_status to_current_order(const reader *r, const tacit_matrix *m,
                                     int32_t *part)
{
    int64_t *of_row = r->part;
    tacit_status status = TACIT_OK;
    if (m->original) {
        status =
            tct_agree(m->world, TCT_ALLOC(m->A.rows, "the parts", &of_row));
        if (status >= 0)
            status = tct_directory_get(m->world, m->dealt, r->part, m->A.rows,
                                       m->original, of_row);
    }
    for (int64_t i = 0; status >= 0 && i < m->A.rows; i++)
        part[i] = (int32_t)of_row[i];
    if (of_row != r->part) tct_free(of_row);
    return status;
}

static tacit_status run(reader *r, const tacit_matrix *m, int32_t *part)
{
    TRY(tct_agree_name(r->world, "the partition file", r->path));
    TRY(tct_agree(r->world, open_reader(r)));
    for (int owner = 0; owner < r->world->size; owner++)
        TRY(read_for(r, owner));
    TRY(tct_agree(r->world, check_end(r)));
    return to_current_order(r, m, part);
}

tacit_status tct_read_parts(const tacit_matrix *m, const char *path,
                            int32_t *part)
{
    reader r = {.world = m->world,
                .path = tct_input_path(path),
                .starts = m->dealt ? m->dealt : m->starts};
    const tacit_status status = run(&r, m, part);
    close_reader(&r);
    return status;
}

/* --- writing -------------------------------------------------------------- */

typedef struct {
    int64_t *part; /* [count] in the original order */
    int64_t count, done;
} writer;

static size_t make_lines(void *ctx, char *out, size_t room)
{
    enum { LINE = 24 };
    writer *w = ctx;
    size_t used = 0;
    while (w->done < w->count && used + LINE <= room)
        used += (size_t)snprintf(out + used, LINE, "%" PRId64 "\n",
                                 w->part[w->done++]);
    return used;
}

/* The parts of this rank's rows in the original numbering. */
static tacit_status to_original_order(const tacit_matrix *m,
                                      const int32_t *part, writer *w)
{
    const int rank = m->world->rank;
    const int64_t rows = m->A.rows;
    int64_t *mine = NULL;
    w->count = m->original ? m->dealt[rank + 1] - m->dealt[rank] : rows;
    tacit_status status = TCT_ALLOC(rows, "the parts", &mine);
    if (status >= 0 && m->original)
        status = TCT_ALLOC(w->count, "the parts", &w->part);
    status = tct_agree(m->world, status);
    for (int64_t i = 0; status >= 0 && i < rows; i++) mine[i] = part[i];
    if (status >= 0 && m->original)
        status = tct_directory_set(m->world, m->dealt, w->part, rows,
                                   m->original, mine);
    if (m->original) tct_free(mine);
    else w->part = mine;
    return status;
}

static tacit_status write_lines(tacit_world *world, const char *path, writer *w)
{
    tct_sink *s = NULL;
    TRY(tct_sink_open(world, path, false, &s));
    tacit_status status = tct_sink_gather(s, make_lines, w);
    if (status >= 0) status = tct_sink_commit(s);
    tct_sink_close(&s);
    return status;
}

tacit_status tacit_matrix_write_parts(const tacit_matrix *matrix,
                                      const char *path, const int32_t *part)
{
    REQUIRE(matrix != NULL, path != NULL);
    const int64_t rows = matrix->A.rows;
    REQUIRE(rows == 0 || part != NULL);
    writer w = {.part = NULL};
    tacit_status status = to_original_order(matrix, part, &w);
    if (status >= 0) status = write_lines(matrix->world, path, &w);
    tct_free(w.part);
    return status;
}

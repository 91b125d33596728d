/* SPDX-License-Identifier: BSD-3-Clause
 * io/tacit.c - Tacit's own binary format: the arrays of the matrix as in
 * memory, so that each rank reads its rows, and the file can be mapped.
 * Little-endian; each array begins at a multiple of 64 bytes.
 *
 *     0 magic    8 version, kind    16 rows, cols, entries    40 column bytes,
 *     flags      48 offsets of ptr, col and val    72 size of the file
 *     80 checksum of the arrays     88 checksum of the header
 *
 * Vectors have no ptr and col: val holds them column by column.
 * The checksum of the arrays is a sum over all elements, each mixed with its
 * place, so that ranks can sum up their own parts. */
#include "device/parallel.h"
#include "io/format.h"
#include "io/input.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are read as they lie in memory");

enum { HEAD = 128, ALIGN = 64, MATRIX = 1, VECTOR = 2, SYMMETRIC = 1 };
static const char magic[8] = {'\x89', 'T', 'A', 'C', 'I', 'T', '\n', '\x1a'};

typedef struct {
    int version, kind, col_bytes, flags;
    int64_t rows, cols, entries;
    int64_t ptr, col, val, size; /* offsets in bytes */
    uint64_t sum;
} header;

/* --- the header --------------------------------------------------------- */

static int64_t aligned(int64_t x)
{
    return (x + ALIGN - 1) / ALIGN * ALIGN;
}

/* The offsets of the arrays follow from the sizes. */
static void lay_out(header *h)
{
    const bool matrix = h->kind == MATRIX;
    h->col_bytes = matrix ? (h->cols <= INT32_MAX ? 4 : 8) : 0;
    h->ptr = HEAD;
    h->col = aligned(h->ptr + (matrix ? 8 * (h->rows + 1) : 0));
    h->val = aligned(h->col + h->col_bytes * h->entries);
    h->size = h->val + 8 * h->entries;
}

static uint64_t mixed(uint64_t array, int64_t index, uint64_t bits)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    return tct_mix(bits + odd * (8 * (uint64_t)index + array));
}

static uint64_t sum_header(const unsigned char *raw)
{
    uint64_t sum = 0;
    for (int k = 0; k < 11; k++)
        sum += mixed(7, k, tct_load(raw + 8 * k, 8, false));
    return sum;
}

static void pack(const header *h, unsigned char *raw)
{
    memset(raw, 0, HEAD);
    memcpy(raw, magic, sizeof magic);
    tct_store(raw + 8, 4, false, (uint64_t)h->version);
    tct_store(raw + 12, 4, false, (uint64_t)h->kind);
    const int64_t sizes[] = {h->rows, h->cols, h->entries};
    for (int k = 0; k < 3; k++)
        tct_store(raw + 16 + 8 * k, 8, false, (uint64_t)sizes[k]);
    tct_store(raw + 40, 4, false, (uint64_t)h->col_bytes);
    tct_store(raw + 44, 4, false, (uint64_t)h->flags);
    const int64_t places[] = {h->ptr, h->col, h->val, h->size};
    for (int k = 0; k < 4; k++)
        tct_store(raw + 48 + 8 * k, 8, false, (uint64_t)places[k]);
    tct_store(raw + 80, 8, false, h->sum);
    tct_store(raw + 88, 8, false, sum_header(raw));
}

/* rows times cols is at most `most`. */
static bool fills(int64_t rows, int64_t cols, int64_t most)
{
    return rows == 0 || cols <= most / rows;
}

static tacit_status unpack(const char *path, const unsigned char *raw,
                           header *h)
{
    if (memcmp(raw, magic, sizeof magic) != 0)
        FAIL(TACIT_INPUT, "%s: is no .tacit file", path);
    h->version = (int)tct_load(raw + 8, 4, false);
    if (h->version != 1)
        FAIL(TACIT_INPUT,
             "%s: version %d of .tacit files, this Tacit reads "
             "version 1: convert it with the one that wrote it",
             path, h->version);
    if (tct_load(raw + 88, 8, false) != sum_header(raw))
        FAIL(TACIT_INPUT,
             "%s: the checksum of its header does not agree: copy "
             "or write the file again",
             path);
    h->kind = (int)tct_load(raw + 12, 4, false);
    h->rows = (int64_t)tct_load(raw + 16, 8, false);
    h->cols = (int64_t)tct_load(raw + 24, 8, false);
    h->entries = (int64_t)tct_load(raw + 32, 8, false);
    h->flags = (int)tct_load(raw + 44, 4, false);
    h->sum = tct_load(raw + 80, 8, false);
    const int64_t most = INT64_MAX / 64;
    const bool sizes = h->rows >= 0 && h->rows < most && h->cols >= 0 &&
                       h->entries >= 0 && h->entries < most &&
                       (h->kind == MATRIX ||
                        (h->kind == VECTOR && fills(h->rows, h->cols, most) &&
                         h->entries == h->rows * h->cols));
    if (sizes) lay_out(h);
    if (!sizes || (int64_t)tct_load(raw + 72, 8, false) != h->size)
        FAIL(TACIT_INPUT, "%s: its header makes no sense: write it again",
             path);
    return TACIT_OK;
}

/* --- reading ------------------------------------------------------------ */

/* Returns 0 or errno; EPIPE: the file ends too early. */
static int read_at(int fd, int64_t offset, void *out, int64_t bytes)
{
    for (int64_t got = 0; got < bytes;) {
        const ssize_t n = pread(fd, (char *)out + got, (size_t)(bytes - got),
                                (off_t)(offset + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EPIPE;
        got += n;
    }
    return 0;
}

static tacit_status say(const char *path, int error)
{
    if (error == 0) return TACIT_OK;
    if (error == EPIPE)
        FAIL(TACIT_INPUT, "%s: ends too early: it is cut short; copy it again",
             path);
    FAIL(TACIT_IO, "%s: cannot be read: %s", path, strerror(error));
}

/* Elements [first, first + count) of an array that begins at `offset`. */
typedef struct {
    int fd, width;
    uint64_t array;
    int64_t offset, first, count;
    char *out;
    atomic_int_fast64_t minus_error;
    atomic_uint_fast64_t total; /* of the checksum */
} reading;

enum { PIECE = 1 << 17 }; /* elements */

/* Read a piece, and sum it up while it is in the cache. */
static uint64_t read_piece(reading *r, int64_t p)
{
    const int64_t from = p * PIECE, left = r->count - from;
    const int64_t n = left < PIECE ? left : PIECE;
    const int width = r->width;
    char *to = r->out + from * width;
    const int error =
        read_at(r->fd, r->offset + (r->first + from) * width, to, n * width);
    uint64_t total = 0;
    tct_atomic_min(&r->minus_error, -error);
    for (int64_t k = 0; k < n && error == 0; k++) {
        uint64_t bits = 0;
        if (width == 4) memcpy(&bits, to + 4 * k, 4);
        else memcpy(&bits, to + 8 * k, 8);
        total += mixed(r->array, r->first + from + k, bits);
    }
    return total;
}

static void read_pieces(void *work, int64_t from, int64_t to)
{
    reading *r = work;
    for (int64_t p = from; p < to; p++)
        atomic_fetch_add(&r->total, read_piece(r, p));
}

/* Read elements [first, first + count) of an array of a file, and add to its
 * checksum. */
static tacit_status read_array(int fd, const char *path, uint64_t array,
                               int64_t offset, int width, int64_t first,
                               int64_t count, void *out, uint64_t *sum)
{
    reading r = {.fd = fd,
                 .width = width,
                 .array = array,
                 .offset = offset,
                 .first = first,
                 .count = count,
                 .out = out};
    tct_parallel((count + PIECE - 1) / PIECE, 1, read_pieces, &r);
    *sum += atomic_load(&r.total);
    return say(path, -(int)atomic_load(&r.minus_error));
}

/* Open the file on this rank; check its header and size. */
static tacit_status open_own(const char *path, int *fd, header *h)
{
    unsigned char raw[HEAD];
    struct stat st;
    *fd = tct_input_open(path);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        FAIL(TACIT_IO,
             "%s: cannot be opened here: %s: every rank reads its "
             "own part of a .tacit file",
             path, strerror(errno));
    TRY(say(path, read_at(*fd, 0, raw, HEAD)));
    TRY(unpack(path, raw, h));
    if (st.st_size == h->size) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: has %lld bytes where its header says %lld: it is cut "
         "short or damaged; copy it again",
         path, (long long)st.st_size, (long long)h->size);
}

static tacit_status damaged(const char *path, const tct_csr *A, int64_t row)
{
    FAIL(TACIT_INPUT,
         "%s: row %lld is damaged: write the "
         "file again",
         path, (long long)(A->first + row + 1));
}

static tacit_status check_rows(const char *path, const header *h,
                               const tct_csr *A)
{
    for (int64_t i = 0; i < A->rows; i++)
        if (A->ptr[i] > A->ptr[i + 1]) return damaged(path, A, i);
    const bool ends =
        A->ptr[0] >= 0 && A->ptr[A->rows] <= h->entries &&
        (A->first > 0 || A->ptr[0] == 0) &&
        (A->first + A->rows < h->rows || A->ptr[A->rows] == h->entries);
    return ends ? TACIT_OK : damaged(path, A, 0);
}

/* Are the columns of row `i` ascending, and its values finite? */
static bool is_good(const tct_csr *A, int64_t i)
{
    int64_t last = -1;
    bool good = true;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t col = tct_csr_col(A, k);
        good =
            good && col > last && col < A->global_cols && isfinite(A->val[k]);
        last = col;
    }
    return good;
}

static int64_t first_bad(const void *work, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        if (!is_good(work, i)) return i;
    return INT64_MAX;
}

static tacit_status check_entries(const char *path, const tct_csr *A)
{
    const int64_t bad = tct_parallel_min(A->rows, TCT_SHORT, first_bad, A);
    return bad == INT64_MAX ? TACIT_OK : damaged(path, A, bad);
}

/* Read this rank's rows into `A` and sum their checksum. */
static tacit_status read_own(tacit_world *w, const char *path, int fd,
                             const header *h, tct_csr *A, uint64_t *sum)
{
    if (h->kind != MATRIX)
        FAIL(TACIT_INPUT, "%s: holds a vector where a matrix is needed", path);
    const int64_t first = tct_share(h->rows, w->size, w->rank);
    const int64_t rows = tct_share(h->rows, w->size, w->rank + 1) - first;
    TRY(tct_csr_rows(A, h->rows, h->cols, first, rows));
    uint64_t ignored = 0;
    const bool last = w->rank == w->size - 1; /* it also sums the last offset */
    TRY(read_array(fd, path, 1, h->ptr, 8, first, rows + last, A->ptr, sum));
    if (!last)
        TRY(read_array(fd, path, 1, h->ptr, 8, first + rows, 1, A->ptr + rows,
                       &ignored));
    TRY(check_rows(path, h, A));
    const int64_t start = A->ptr[0];
    for (int64_t i = 0; i <= rows; i++) A->ptr[i] -= start;
    const int64_t n = A->ptr[rows];
    TRY(tct_csr_entries(A, n));
    void *cols = A->col32 ? (void *)A->col32 : (void *)A->col64;
    TRY(read_array(fd, path, 2, h->col, h->col_bytes, start, n, cols, sum));
    TRY(read_array(fd, path, 3, h->val, 8, start, n, A->val, sum));
    return TACIT_OK;
}

static tacit_status check_sum(tacit_world *w, const char *path, const header *h,
                              uint64_t sum)
{
    int64_t total = (int64_t)sum;
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &total));
    if ((uint64_t)total == h->sum) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: the checksum does not agree: copy or write the file "
         "again",
         path);
}

static tacit_status tacit_read_matrix(tacit_world *w, const char *path,
                                      tct_csr *out, tct_file_info *info)
{
    header h = {0};
    int fd = -1;
    uint64_t sum = 0;
    tacit_status status = open_own(path, &fd, &h);
    if (status == TACIT_OK) status = read_own(w, path, fd, &h, out, &sum);
    if (fd >= 0) close(fd);
    TRY(tct_agree(w, status));
    TRY(check_sum(w, path, &h, sum));
    TRY(tct_agree(w, check_entries(path, out)));
    *info = (tct_file_info){.rows = h.rows,
                            .cols = h.cols,
                            .stored = h.entries,
                            .symmetric = (h.flags & SYMMETRIC) != 0,
                            .field = TCT_FIELD_REAL};
    return TACIT_OK;
}

static tacit_status read_values(const char *path, int fd, const header *h,
                                tct_vectors *v, uint64_t *sum)
{
    if (h->kind != VECTOR)
        FAIL(TACIT_INPUT, "%s: holds a matrix where a vector is needed", path);
    TRY(tct_vectors_room(v, path, h->rows, h->cols));
    for (int j = 0; j < v->columns; j++) {
        double *out = v->out + j * v->count;
        const int64_t first = j * h->rows + v->first;
        TRY(read_array(fd, path, 3, h->val, 8, first, v->count, out, sum));
        for (int64_t k = 0; k < v->count; k++)
            if (!isfinite(out[k]))
                FAIL(TACIT_INPUT,
                     "%s: value %lld is %g: all "
                     "values must be finite",
                     path, (long long)(first + k + 1), out[k]);
    }
    return TACIT_OK;
}

static tacit_status tacit_read_vectors(tacit_world *w, const char *path,
                                       tct_vectors *v)
{
    header h = {0};
    int fd = -1;
    uint64_t sum = 0;
    tacit_status status = open_own(path, &fd, &h);
    if (status == TACIT_OK) status = read_values(path, fd, &h, v, &sum);
    if (fd >= 0) close(fd);
    TRY(tct_agree(w, status));
    return check_sum(w, path, &h, sum);
}

static bool tacit_probe(const char *head, size_t count)
{
    return count >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* --- writing ------------------------------------------------------------ */

/* The bytes of one array. */
typedef struct {
    const void *data;
    const int64_t *ptr; /* instead of data: row offsets, plus `start` */
    int64_t start, at, bytes;
} writer;

static size_t make_bytes(void *ctx, char *out, size_t room)
{
    writer *p = ctx;
    const int64_t left = p->bytes - p->at, most = (int64_t)(room / 8 * 8);
    const int64_t n = left < most ? left : most;
    if (p->ptr) {
        for (int64_t k = 0; k < n; k += 8)
            tct_store(out + k, 8, false,
                      (uint64_t)(p->ptr[(p->at + k) / 8] + p->start));
    } else if (n > 0) {
        memcpy(out, (const char *)p->data + p->at, (size_t)n);
    }
    p->at += n;
    return (size_t)n;
}

/* Write zeros up to byte `offset` of the file. */
static tacit_status pad_to(tct_sink *s, int64_t offset)
{
    static const char zeros[ALIGN];
    int64_t n = 0;
    if (tct_sink_world(s)->rank == 0) n = offset - tct_sink_offset(s);
    return tct_sink_write(s, zeros, (size_t)n);
}

static tacit_status write_header(tct_sink *s, header *h, uint64_t sum)
{
    int64_t total = (int64_t)sum;
    TRY(tct_reduce_i64(tct_sink_world(s), TCT_SUM, 1, &total));
    unsigned char raw[HEAD];
    h->version = 1;
    h->sum = (uint64_t)total;
    pack(h, raw);
    return tct_sink_write(s, raw, sizeof raw);
}

typedef struct {
    const tct_csr *A;
    int64_t start; /* entries of the rows before */
} row_hashes;

static int64_t sum_rows(const void *work, int64_t from, int64_t to)
{
    const row_hashes *s = work;
    const tct_csr *A = s->A;
    uint64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        sum += mixed(1, A->first + i, (uint64_t)(A->ptr[i] + s->start));
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            uint64_t bits;
            memcpy(&bits, &A->val[k], sizeof bits);
            sum += mixed(2, s->start + k, (uint64_t)tct_csr_col(A, k)) +
                   mixed(3, s->start + k, bits);
        }
    }
    return (int64_t)sum;
}

static uint64_t sum_matrix(const tct_csr *A, int64_t start, bool last)
{
    uint64_t sum = (uint64_t)tct_parallel_sum(A->rows, TCT_SHORT, sum_rows,
                                              &(row_hashes){A, start});
    if (last)
        sum += mixed(1, A->global_rows, (uint64_t)(A->ptr[A->rows] + start));
    return sum;
}

static tacit_status tacit_write_matrix(tct_sink *s, const tct_csr *A,
                                       const tct_write_options *options)
{
    tacit_world *w = tct_sink_world(s);
    const bool last = w->rank == w->size - 1;
    const int64_t n = tct_csr_nonzeros(A);
    header h = {.kind = MATRIX,
                .flags = options->symmetric ? SYMMETRIC : 0,
                .rows = A->global_rows,
                .cols = A->global_cols};
    int64_t start;
    TRY(tct_count_before(w, n, &start, &h.entries));
    lay_out(&h);
    TRY(write_header(s, &h, sum_matrix(A, start, last)));
    writer ptr = {.ptr = A->ptr, .start = start, .bytes = 8 * (A->rows + last)};
    TRY(tct_sink_gather(s, make_bytes, &ptr));
    TRY(pad_to(s, h.col));
    writer col = {.data = A->col32 ? (const void *)A->col32 : A->col64,
                  .bytes = h.col_bytes * n};
    TRY(tct_sink_gather(s, make_bytes, &col));
    TRY(pad_to(s, h.val));
    writer val = {.data = A->val, .bytes = 8 * n};
    return tct_sink_gather(s, make_bytes, &val);
}

/* Checksum of elements `x` [count], numbered from `first`. */
static uint64_t sum_values(int64_t first, int64_t count, const double *x)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        sum += mixed(3, first + k, bits);
    }
    return sum;
}

static tacit_status tacit_write_vectors(tct_sink *s, int64_t rows,
                                        int64_t count, int columns,
                                        const double *x, int64_t stride)
{
    int64_t first, total;
    TRY(tct_count_before(tct_sink_world(s), count, &first, &total));
    uint64_t sum = 0;
    for (int j = 0; j < columns; j++)
        sum += sum_values(j * rows + first, count, x + j * stride);
    header h = {.kind = VECTOR,
                .rows = rows,
                .cols = columns,
                .entries = rows * columns};
    lay_out(&h);
    TRY(write_header(s, &h, sum));
    for (int j = 0; j < columns; j++) {
        writer val = {.data = x + j * stride, .bytes = 8 * count};
        TRY(tct_sink_gather(s, make_bytes, &val));
    }
    return TACIT_OK;
}

const tct_file_format tct_file_tacit = {
    .about = {.name = "tacit",
              .summary = "Tacit's own binary; each rank reads its own rows",
              .told_by = "\\x89TACIT",
              .suffixes = {".tacit"},
              .reads_matrix = true,
              .writes_matrix = true,
              .reads_vector = true,
              .writes_vector = true,
              .reads_vectors = true,
              .writes_vectors = true},
    .probe = tacit_probe,
    .seeks = true,
    .read_matrix = tacit_read_matrix,
    .read_vectors = tacit_read_vectors,
    .write_matrix = tacit_write_matrix,
    .write_vectors = tacit_write_vectors,
};

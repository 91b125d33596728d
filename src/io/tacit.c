/* SPDX-License-Identifier: BSD-3-Clause
 * io/tacit.c - reads .tacit files (tacit_header.h). Each rank reads its own rows,
 * and sums up its part of the checksum. */
#include "device/parallel.h"
#include "io/input.h"
#include "io/tacit_header.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        total += tct_tacit_mixed(r->array, r->first + from + k, bits);
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
static tacit_status open_own(const char *path, int *fd, tct_tacit_header *h)
{
    unsigned char raw[TCT_TACIT_HEAD];
    struct stat st;
    *fd = tct_input_open(path);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        FAIL(TACIT_IO,
             "%s: cannot be opened here: %s: every rank reads its "
             "own part of a .tacit file",
             path, strerror(errno));
    TRY(say(path, read_at(*fd, 0, raw, TCT_TACIT_HEAD)));
    TRY(tct_tacit_unpack(path, raw, h));
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

static tacit_status check_rows(const char *path, const tct_tacit_header *h,
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
                             const tct_tacit_header *h, tct_csr *A,
                             uint64_t *sum)
{
    if (h->kind != TCT_TACIT_MATRIX)
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

static tacit_status check_sum(tacit_world *w, const char *path,
                              const tct_tacit_header *h, uint64_t sum)
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
    tct_tacit_header h = {0};
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
                            .symmetric = (h.flags & TCT_TACIT_SYMMETRIC) != 0,
                            .field = TCT_FIELD_REAL};
    return TACIT_OK;
}

static tacit_status read_values(const char *path, int fd,
                                const tct_tacit_header *h, tct_vectors *v,
                                uint64_t *sum)
{
    if (h->kind != TCT_TACIT_VECTOR)
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
    tct_tacit_header h = {0};
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
    return count >= sizeof tct_tacit_magic &&
           memcmp(head, tct_tacit_magic, sizeof tct_tacit_magic) == 0;
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
    .write_matrix = tct_tacit_write_matrix,
    .write_vectors = tct_tacit_write_vectors,
};

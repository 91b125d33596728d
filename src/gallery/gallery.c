/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/gallery.c - finds a family by name, and makes rows in two passes by
 * all threads: lengths, then entries in place. A thread first touches what it
 * fills. */
#include "gallery/gallery.h"
#include "device/parallel.h"
#include "gallery/recipe.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const tct_gallery *const families[] = {
#define X(name) &tct_gallery_##name,
    TCT_GALLERY(X)
#undef X
};
enum { FAMILIES = sizeof families / sizeof *families };

const tacit_gallery *tacit_gallery_at(int i)
{
    if (i < 0) return NULL;
    if (i < FAMILIES) return &families[i]->about;
    const tct_recipe *recipe = tct_recipe_at(i - FAMILIES);
    return recipe ? &recipe->about : NULL;
}

/* The length of `name` before its colon. */
static size_t word_length(const char *name)
{
    return strcspn(name, ":");
}

const tct_gallery *tct_gallery_find(const char *name, const char **arguments)
{
    const size_t length = word_length(name);
    for (int f = 0; f < FAMILIES; f++) {
        const char *own = families[f]->about.name;
        if (strncmp(own, name, length) != 0 || own[length] != '\0') continue;
        if (arguments) *arguments = name + length + (name[length] == ':');
        return families[f];
    }
    return NULL;
}

const tacit_gallery *tacit_gallery_find(const char *name)
{
    const tct_gallery *family = name ? tct_gallery_find(name, NULL) : NULL;
    return family ? &family->about : NULL;
}

bool tct_gallery_looks_like(const char *name)
{
    const size_t length = word_length(name);
    if (name[length] != ':' || length < 3) return false;
    for (size_t k = 0; k < length; k++)
        if (!isalnum((unsigned char)name[k]) && name[k] != '_') return false;
    return true;
}

/* The text before the colon, truncated for messages. */
typedef struct {
    char text[64];
} short_word;

static short_word word_of(const char *name)
{
    short_word w;
    size_t length = word_length(name);
    if (length >= sizeof w.text) length = sizeof w.text - 1;
    memcpy(w.text, name, length);
    w.text[length] = '\0';
    return w;
}

const char *tct_gallery_nearest(const char *name)
{
    const char *names[FAMILIES];
    for (int f = 0; f < FAMILIES; f++) names[f] = families[f]->about.name;
    const short_word word = word_of(name);
    return tct_nearest(word.text, names, FAMILIES);
}

static tacit_status unknown(const char *name)
{
    const char *near = tct_gallery_nearest(name);
    const short_word word = word_of(name);
    if (!near)
        FAIL(TACIT_INVALID,
             "there is no gallery matrix '%s': 'tacit info "
             "gallery' lists them",
             word.text);
    FAIL(TACIT_INVALID,
         "there is no gallery matrix '%s': did you mean '%s'? "
         "('tacit info gallery' lists them)",
         word.text, near);
}

tacit_status tct_gallery_open(const char *name, tct_gallery_matrix **out)
{
    ENSURE(name != NULL && out != NULL);
    const char *arguments = NULL;
    const tct_gallery *family = tct_gallery_find(name, &arguments);
    if (!family) return unknown(name);
    tct_gallery_matrix *g = tct_calloc(sizeof *g);
    if (!g) FAIL(TACIT_NO_MEMORY, "no memory to open %s", name);
    g->family = family;
    snprintf(g->name, sizeof g->name, "%s", name);
    const tacit_status status = family->open(arguments, g);
    if (status < 0) {
        tct_gallery_close(&g);
        return status;
    }
    *out = g;
    return TACIT_OK;
}

void tct_gallery_close(tct_gallery_matrix **g)
{
    if (!g || !*g) return;
    if ((*g)->maker && (*g)->maker->close) (*g)->maker->close((*g)->data);
    else tct_free((*g)->data);
    tct_free(*g);
    *g = NULL;
}

double tct_gallery_bytes(const tct_gallery_matrix *g, int64_t rows)
{
    const double each = g->rows <= INT32_MAX ? 12.0 : 16.0;
    const double mean = g->nonzeros / (double)(g->rows > 0 ? g->rows : 1);
    return (double)rows * (8.0 + each * mean);
}

/* --- the two passes ------------------------------------------------------- */

/* Threads work on blocks of rows, so small that the 64-bit columns before
 * conversion stay in the cache. */
enum { BLOCK_ROWS = 1024, BLOCK_ENTRIES = 16384 };

static int64_t block_rows(const tct_gallery_matrix *g)
{
    const int64_t rows = BLOCK_ENTRIES / g->widest;
    return rows < 1 ? 1 : rows > BLOCK_ROWS ? BLOCK_ROWS : rows;
}

static void make_rows(const tct_gallery_matrix *g, const void *data,
                      int64_t first, int64_t last, int64_t *length,
                      int64_t *cols, double *vals)
{
    if (g->maker->rows) {
        g->maker->rows(data, first, last, length, cols, vals);
        return;
    }
    int64_t k = 0;
    for (int64_t i = first; i < last; i++) {
        const int n = g->maker->row(data, i, cols ? cols + k : NULL,
                                    vals ? vals + k : NULL);
        length[i - first] = n;
        k += n;
    }
}

/* Rows that are made, for A or for `length` alone. */
typedef struct {
    const tct_gallery_matrix *g;
    const void *data;
    int64_t first, rows, step;
    int64_t *length;
    tct_csr *A;
} making;

static void count_blocks(void *work, int64_t from, int64_t to)
{
    const making *m = work;
    for (int64_t b = from; b < to; b++) {
        const int64_t i = b * m->step;
        const int64_t end = i + m->step < m->rows ? i + m->step : m->rows;
        make_rows(m->g, m->data, m->first + i, m->first + end, m->length + i,
                  NULL, NULL);
    }
}

static tacit_status lengths(const tct_gallery_matrix *g, const void *data,
                            int64_t first, int64_t rows, int64_t *length)
{
    if (g->maker->lengths) return g->maker->lengths(data, first, rows, length);
    making m = {g, data, first, rows, block_rows(g), length, NULL};
    tct_parallel((rows + m.step - 1) / m.step, 2, count_blocks, &m);
    return TACIT_OK;
}

/* Store one block's columns in the matrix's integer width. */
static void store_cols(tct_csr *A, int64_t at, int64_t n, const int64_t *cols)
{
    if (A->col32)
        for (int64_t k = 0; k < n; k++) A->col32[at + k] = (int32_t)cols[k];
    else memcpy(A->col64 + at, cols, (size_t)n * sizeof *cols);
}

/* With a work space for the columns of a block. */
static void fill_blocks(void *work, int64_t from, int64_t to, void *cols)
{
    const making *m = work;
    int64_t length[BLOCK_ROWS];
    for (int64_t b = from; b < to; b++) {
        const int64_t i = b * m->step, at = m->A->ptr[i];
        const int64_t end = i + m->step < m->rows ? i + m->step : m->rows;
        make_rows(m->g, m->data, m->first + i, m->first + end, length, cols,
                  m->A->val + at);
        store_cols(m->A, at, m->A->ptr[end] - at, cols);
    }
}

static tacit_status entries(const tct_gallery_matrix *g, const void *data,
                            tct_csr *A)
{
    if (g->maker->fill) return g->maker->fill(data, A);
    making m = {g, data, A->first, A->rows, block_rows(g), NULL, A};
    const size_t bytes = (size_t)(m.step * g->widest) * sizeof(int64_t);
    if (!tct_parallel_with((A->rows + m.step - 1) / m.step, 2, bytes,
                           fill_blocks, &m))
        FAIL(TACIT_NO_MEMORY, "no memory to make rows of %s", g->name);
    return TACIT_OK;
}

/* Both passes with `data`, that of the maker or of a part. */
static tacit_status two_passes(const tct_gallery_matrix *g, const void *data,
                               int64_t first, int64_t rows, tct_csr *A)
{
    TRY(tct_csr_rows(A, g->rows, g->rows, first, rows));
    TRY(lengths(g, data, first, rows, A->ptr + 1));
    for (int64_t i = 0; i < rows; i++) A->ptr[i + 1] += A->ptr[i];
    TRY(tct_csr_entries(A, A->ptr[rows]));
    return entries(g, data, A);
}

tacit_status tct_gallery_lengths(const tct_gallery_matrix *g, int64_t first,
                                 int64_t rows, int64_t *length)
{
    ENSURE(g != NULL && length != NULL && first >= 0 && rows >= 0);
    ENSURE(first <= g->rows - rows);
    void *part = NULL;
    if (g->maker->part) TRY(g->maker->part(g->data, first, rows, &part));
    const tacit_status status =
        lengths(g, part ? part : g->data, first, rows, length);
    tct_free(part);
    return status;
}

tacit_status tct_gallery_fill(const tct_gallery_matrix *g, int64_t first,
                              int64_t rows, tct_csr *out)
{
    ENSURE(g != NULL && out != NULL && out->ptr == NULL);
    ENSURE(first >= 0 && rows >= 0 && first <= g->rows - rows);
    TRY(tct_memory_require(tct_gallery_bytes(g, rows) * (g->guessed ? 0.8 : 1),
                           g->name));
    void *part = NULL;
    if (g->maker->part) TRY(g->maker->part(g->data, first, rows, &part));
    tct_csr A = {0};
    const tacit_status status =
        two_passes(g, part ? part : g->data, first, rows, &A);
    tct_free(part);
    if (status < 0) {
        tct_csr_clear(&A);
        return status;
    }
    *out = A;
    return TACIT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/matrix.h - tacit_matrix: this rank's rows, the owners of all rows, and
 * their original order.
 *
 * There are two numberings: the original one of the file or the caller, and the
 * current one, in which each rank's rows are consecutive. They are equal until
 * tct_redistribute. */
#ifndef TCT_MATRIX_MATRIX_H
#define TCT_MATRIX_MATRIX_H
#include "comm/world/world.h"
#include "sparse/constant_stencil.h"
#include "sparse/csr.h"
#include <tacit/matrix.h>

struct tacit_matrix {
    tacit_world *world; /* borrowed */
    tct_csr A;          /* this rank's rows, current numbering */
    int64_t *starts;    /* [size + 1] first row of each rank, current */
    int64_t *original;  /* [A.rows] original numbers; NULL: not redistributed */
    int64_t *dealt;     /* [size + 1] starts before redistribution: rank r reads
                         * and writes [dealt[r], dealt[r + 1]) of vector files;
                         * NULL: not redistributed */
    int64_t nonzeros;   /* of the whole matrix                              */
    int64_t summed;     /* entries added to another one */
    int64_t sent;    /* entries given on a rank that does not own their row */
    int64_t grid[3]; /* points of the rows' grid, x fastest, with equally
                         * many rows each, in the original numbering; 0: none */
    bool elastic;    /* rows are displacements of points, of the grid or: */
    double *points; /* [rows before redistribution][4] coordinates, direction */
    double shift;   /* added to the diagonal on opening */
    const char *format; /* a constant                                       */
    bool symmetric_storage, irregular, own_rhs;
    bool released;                 /* an operator has taken the entries, or: */
    tct_constant_stencil *stencil; /* of a matrix opened without entries; NULL:
                                    * with them */
};

/* The original number of local row `i`. */
static inline int64_t tct_original(const tacit_matrix *m, int64_t i)
{
    return m->original ? m->original[i] : m->A.first + i;
}

/* This rank owns row `j`. */
static inline bool tct_is_local(const tacit_matrix *m, int64_t j)
{
    return j >= m->A.first && j < m->A.first + m->A.rows;
}

/* Create `*out` from the rows `A`, which it takes over, unless `mine` or
 * another rank's status is a failure.
 * Collective. */
tacit_status tct_matrix_adopt(tacit_world *world, tacit_status mine, tct_csr *A,
                              tacit_matrix **out);

/* Fail with INVALID if an operator has taken the entries of `m`. */
tacit_status tct_matrix_require_entries(const tacit_matrix *m);

/* Check that each diagonal entry of this rank is positive, for `who`.
 * Errors    INPUT, naming the first row that fails. */
tacit_status tct_check_diagonal(const tacit_matrix *m, const char *who);

/* Free columns and values but keep the numbering of rows: read_vector,
 * write_vector and the accessors still work. */
void tct_matrix_release_entries(tacit_matrix *m);

/* Find the largest b in 2 to 6 such that aligned groups of b rows share a
 * pattern of dense b x b blocks; else 1.
 * Collective. */
tacit_status tct_matrix_block(const tacit_matrix *m, int *out);

/* The same in the original numbering, for redistributed rows.
 * Collective.
 * Memory    24 bytes a row, 16 a column of other ranks.
 * Errors    INVALID (an operator has taken the entries), NO_MEMORY, COMM. */
tacit_status tct_matrix_original_block(const tacit_matrix *m, int *out);

/* The largest difference of an entry of `m`, which is square, and its partner,
 * relative to the larger one and their diagonals; infinite: a partner is not
 * stored.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_matrix_asymmetry(const tacit_matrix *m, double *out);

/* Check that the pattern of `m`, which is square, equals its transpose; else
 * INPUT, as tacit_matrix_check_symmetric.
 * Collective. */
tacit_status tct_matrix_check_pattern(const tacit_matrix *m);

/* Move each row to rank `part` [A.rows] and renumber rows and columns; the rows
 * of a part keep their order. After an error `m` can only be destroyed.
 * Collective.
 * Memory    one copy of the rows, 24 bytes a row, batches of bounded size.
 * Errors    NO_MEMORY, COMM. */
tacit_status tct_redistribute(tacit_matrix *m, const int32_t *part);

/* Copy the entries of the redistributed matrix `m` in their original order,
 * each rank its original rows.
 * Collective.
 * Memory    the copy, 16 bytes a row, batches of bounded size.
 * Errors    NO_MEMORY, COMM. */
tacit_status tct_restore(const tacit_matrix *m, tct_csr *out);

/* Copy all entries of `m` to rank 0, in the original numbering.
 * Collective.
 * Memory    on rank 0 the whole matrix; if redistributed, as tct_restore.
 * Errors    INVALID (an operator has taken the entries), NO_MEMORY, COMM. */
tacit_status tct_gather(const tacit_matrix *m, tct_csr *out);

/* A graph with more than `whole` nodes and edges is coarsened to at most
 * `coarse` nodes before one rank gathers it. */
typedef struct tct_cut_bounds {
    int64_t whole, coarse;
} tct_cut_bounds;
extern const tct_cut_bounds tct_cut_bounds_usual;

/* Partition the rows of `m`, which is square, into `parts` with METIS,
 * balancing entries; dense blocks are not divided.
 * Collective.
 * Memory    rank 0 gathers the pattern up to the bound; beyond it, every rank
 *           needs one to two times its rows.
 * Errors    UNSUPPORTED (more than METIS can count), NO_MEMORY. */
tacit_status tct_metis_cut(const tacit_matrix *m, int parts,
                           const tct_cut_bounds *bounds, int32_t *part);

/* The same with PT-Scotch, in 2 parts or more, without gathering rows; the
 * pattern must be symmetric. Parts may be empty if nodes are few.
 * Collective.
 * Memory    that of tct_level_open, and a copy of it for PT-Scotch.
 * Errors    INPUT (an unmatched entry), UNSUPPORTED (as tct_ptscotch_cut),
 *           NO_MEMORY, COMM. */
tacit_status tct_ptscotch_rows(const tacit_matrix *m, int parts, int32_t *part);

/* The same by boxes, for a matrix on a grid: OK or INVALID. Parts may be empty
 * if points are few. */
tacit_status tct_boxes_check(const tacit_matrix *m);
void tct_boxes_cut(const tacit_matrix *m, int parts, int32_t *part);

/* Contiguous parts of rows. On a grid, a part begins after a multiple of 4
 * layers, else of 2 or 1, the first for which no part exceeds its share by over
 * 1 %: so points that multigrid aggregates on this level and the next stay
 * together. Otherwise, and without a grid (0), parts are those of tct_share. */
typedef struct tct_slabs {
    int64_t rows, layers;
    int parts, step; /* of the layers; 0: tct_share */
} tct_slabs;
tct_slabs tct_slabs_of(const int64_t grid[3], int64_t rows, int parts);
/* The first row of `part`, 0 to s->parts. */
int64_t tct_slab_first(const tct_slabs *s, int part);

/* Read the part, 0 to size - 1, of each row from a text file, one number per
 * line in the original row order.
 * Collective.  Errors IO, INPUT. */
tacit_status tct_read_parts(const tacit_matrix *m, const char *path,
                            int32_t *part);

/* The cost of the partition `part` [A.rows] into `parts`. Collective. */
tacit_status tct_cut_describe(const tacit_matrix *m, int parts,
                              const int32_t *part, tacit_partition_info *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/matrix.h - what stands behind a tacit_matrix: the rows of this rank,
 * who owns which rows, and where they stood before a partition moved them.
 *
 * Two numberings: the original one of the file or the caller, and the present
 * one, in which each rank's rows follow one another. They are the same until
 * tct_redistribute. */
#ifndef TCT_MATRIX_MATRIX_H
#define TCT_MATRIX_MATRIX_H
#include "comm/world/world.h"
#include "sparse/csr.h"
#include <tacit/matrix.h>

struct tacit_matrix {
    tacit_world *world; /* borrowed */
    tct_csr A;          /* this rank's rows, present numbering              */
    int64_t *starts;    /* [size + 1] first row of each rank, present       */
    int64_t *original;  /* [A.rows] original numbers, NULL: nothing moved   */
    int64_t *dealt;     /* [size + 1] the starts before rows were moved:
                           rank r reads and writes [dealt[r], dealt[r + 1])
                           of vector files; NULL: nothing moved             */
    int64_t nonzeros;   /* of the whole matrix                              */
    int64_t summed;     /* entries added to another at the same place       */
    int64_t grid[3];    /* the rows stand on its points, x fastest, as many
                           on each, in the original numbering; 0: none      */
    bool elastic;       /* rows are displacements of points: of the grid, or */
    double *points; /* [rows dealt first][4] where, and in which direction */
    double shift;   /* was added to the diagonal when it was opened     */
    const char *format; /* a constant                                       */
    bool symmetric_storage, irregular, own_rhs;
    bool released; /* an operator has taken the entries                     */
};

/* The original number of local row `i`. */
static inline int64_t tct_original(const tacit_matrix *m, int64_t i)
{
    return m->original ? m->original[i] : m->A.first + i;
}

/* Is global column `j` one of the rows that this rank owns? */
static inline bool tct_is_local(const tacit_matrix *m, int64_t j)
{
    return j >= m->A.first && j < m->A.first + m->A.rows;
}

/* Make `*out` of the rows `A`, which it takes over, if `mine` and the status
 * of every other rank say that there are any.
 * Collective. */
tacit_status tct_matrix_adopt(tacit_world *world, tacit_status mine, tct_csr *A,
                              tacit_matrix **out);

/* Fail with INVALID if an operator has taken the entries of `m`. */
tacit_status tct_matrix_require_entries(const tacit_matrix *m);

/* Is each diagonal entry of this rank positive, as `who` needs it?
 * Errors      INPUT, naming the first row that has another. */
tacit_status tct_check_diagonal(const tacit_matrix *m, const char *who);

/* Free columns and values, keeping the numbering of the rows: read_vector,
 * write_vector and the accessors go on working. */
void tct_matrix_release_entries(tacit_matrix *m);

/* The largest b in 2 to 6 such that aligned groups of b rows share one pattern
 * of dense b x b blocks; 1 if there is none.
 * Collective. */
tacit_status tct_matrix_block(const tacit_matrix *m, int *out);

/* The same of the rows and columns as they were numbered before rows were
 * moved, whoever has them. Collective.
 * Memory      24 bytes a row, 16 a column of other ranks.
 * Errors      INVALID (an operator has taken the entries), NO_MEMORY, COMM. */
tacit_status tct_matrix_original_block(const tacit_matrix *m, int *out);

/* The point of each row that this rank has, [rows][3], and in which direction
 * the row displaces it, [rows]: of a matrix that is `elastic`. tct_free frees
 * them, also after an error.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_matrix_points(const tacit_matrix *m, double **points,
                               int **component);

/* OK if the pattern of `m`, which is square, equals its transpose; otherwise
 * INPUT, as tacit_matrix_check_symmetric.
 * Collective. */
tacit_status tct_matrix_check_pattern(const tacit_matrix *m);

/* Move each row to the rank `part` [A.rows] and renumber rows and columns; the
 * rows of a part keep their order. On an error `m` can only be destroyed.
 * Collective.
 * Memory      one copy of the rows, 24 bytes a row, batches of bounded size.
 * Errors      NO_MEMORY, COMM. */
tacit_status tct_redistribute(tacit_matrix *m, const int32_t *part);

/* A copy of the entries of `m`, whose rows have moved, as they were before:
 * each rank has the rows that it was dealt first. Collective.
 * Memory      the copy, 16 bytes a row, batches of bounded size.
 * Errors      NO_MEMORY, COMM. */
tacit_status tct_restore(const tacit_matrix *m, tct_csr *out);

/* A copy of all entries of `m` on rank 0, rows and columns under their original
 * numbers; other ranks get nothing.
 * Collective.
 * Memory      on rank 0 the whole matrix; where rows have moved, as tct_restore.
 * Errors      INVALID (an operator has taken the entries), NO_MEMORY, COMM. */
tacit_status tct_gather(const tacit_matrix *m, tct_csr *out);

/* A graph of more than `whole` nodes and edges is made coarser until it has no
 * more than `coarse` nodes, before one rank gets it. */
typedef struct tct_cut_bounds {
    int64_t whole, coarse;
} tct_cut_bounds;
extern const tct_cut_bounds tct_cut_bounds_usual;

/* Cut the rows of `m`, which is square, into `parts` with METIS, the entries
 * of the parts balanced; dense blocks are never cut apart.
 * Collective.
 * Memory      rank 0 gathers the pattern up to the bound; beyond, every rank
 *             needs one to two times what its rows take.
 * Errors      UNSUPPORTED (more than METIS can count), NO_MEMORY. */
tacit_status tct_metis_cut(const tacit_matrix *m, int parts,
                           const tct_cut_bounds *bounds, int32_t *part);

/* The same with PT-Scotch, in 2 parts or more, by all ranks where the rows are;
 * the pattern must be symmetric. A part may be empty where nodes are few.
 * Collective.
 * Memory      what tct_level_open takes, and a copy of it for PT-Scotch.
 * Errors      INPUT (an entry without a partner), UNSUPPORTED (as
 *             tct_ptscotch_cut), NO_MEMORY, COMM. */
tacit_status tct_ptscotch_rows(const tacit_matrix *m, int parts, int32_t *part);

/* The same in boxes, by formula, for a matrix whose rows stand on a grid: OK or
 * INVALID. A part may be empty where points are few. */
tacit_status tct_boxes_check(const tacit_matrix *m);
void tct_boxes_cut(const tacit_matrix *m, int parts, int32_t *part);

/* How rows are dealt out in their order. Of those that stand on a grid, layer
 * by layer, each part begins behind a multiple of 4 layers, of 2, or of one, if
 * none has 1 % more than its share then: so points that multigrid takes
 * together on this level and the next stay together. Else, and of no grid (0),
 * it is tct_share. */
typedef struct tct_slabs {
    int64_t rows, layers;
    int parts, step; /* of the layers; 0: tct_share */
} tct_slabs;
tct_slabs tct_slabs_of(const int64_t grid[3], int64_t rows, int parts);
/* The first row of `part`, 0 to s->parts. */
int64_t tct_slab_first(const tct_slabs *s, int part);

/* Read the part, 0 to size - 1, of each row from a text file, a number a line
 * in the original row order.
 * Collective.  Errors IO, INPUT. */
tacit_status tct_read_parts(const tacit_matrix *m, const char *path,
                            int32_t *part);

/* What the cut `part` [A.rows] into `parts` costs. Collective. */
tacit_status tct_cut_describe(const tacit_matrix *m, int parts,
                              const int32_t *part, tacit_partition_info *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/trsv_job.h - shared by the files of `tacit trsv`: the system, of a
 * matrix or of a factor alone, and the place of its solves. */
#ifndef TCT_CLI_COMMANDS_TRSV_JOB_H
#define TCT_CLI_COMMANDS_TRSV_JOB_H
#include "cli/report/report.h"
#include <tacit/trsv.h>

enum { TRSV_PHASES = 3, TRSV_AT_ONCE = 64 };

typedef struct trsv_job {
    tacit_world *alone; /* rank 0 has the members from here to `xstar` */
    cli_problem problem;
    bool of_factor;      /* the system is the factor's: the matrix is not known,
                     * or known only by its product */
    tacit_matrix *shape; /* without entries: of a given factor             */
    tacit_factor *F;
    tacit_factor_info factor;
    double *xstar; /* [columns rows], or NULL                       */
    int64_t rows;
    int columns;
    double *B, *X;      /* [columns rows] on all ranks                   */
    int *exponent;      /* [columns] B, and X before it is judged, are divided
                    * by these powers of two */
    tacit_queue *queue; /* on the GPU of each rank; NULL: solves on the host */
    double *on_gpu[2];  /* ... and B and X on it                          */
    tacit_trsv *T;
    tacit_trsv_info info;        /* of this rank           */
    double seconds[TRSV_PHASES]; /* of the best solve, of the slowest rank */
    double total, setup;         /* ... as a whole         */
    double bytes, most_bytes;    /* of all ranks, of one   */
    double sent[TRSV_PHASES];    /* by all, in all solves  */
    double residual, error;      /* of the worst column    */
    int solves;
} trsv_job;

/* Warm-up solves, and timed ones. */
static inline int trsv_warmup(const cli *c)
{
    return c->set.warmup < 0 ? 1 : (int)c->set.warmup;
}
static inline int trsv_repeat(const cli *c)
{
    return c->set.repeat < 0 ? 3 : (int)c->set.repeat;
}
double trsv_factor_seconds(const trsv_job *job);

/* --- trsv_system.c, on rank 0 --------------------------------------------- */

/* The matrix and its factor with so many leaves, or the given factor; and
 * right-hand sides. `c` is of one process. */
tacit_status trsv_open(const cli *c, int leaves, trsv_job *job);
/* ||b - A x|| / ||b||, and ||x - x*|| / ||x*||, of the worst column. X gets its
 * size. */
tacit_status trsv_judge(trsv_job *job);
tacit_status trsv_write(const cli *c, const trsv_job *job);
void trsv_close(trsv_job *job);

/* The common begin and end of both reports. */
cJSON *trsv_json_begin(const cli *c, const trsv_job *job);
void trsv_print_begin(cli_table *t, const trsv_job *job);
void trsv_print_end(cli_table *t, const trsv_job *job);

/* --- trsv_gpu.c ----------------------------------------------------------- */

/* The whole command, in one process on its GPU. */
tacit_status trsv_run_gpu(const cli *c, trsv_job *job);

#endif

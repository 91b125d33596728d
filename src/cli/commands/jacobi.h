/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/jacobi.h - a run of `tacit jacobi`, and its report. */
#ifndef TCT_CLI_COMMANDS_JACOBI_H
#define TCT_CLI_COMMANDS_JACOBI_H
#include "cli/report/report.h"

typedef struct jacobi_job {
    tacit_queue *queue;
    const char *device; /* its name */
    tacit_field *field;
    tacit_stencil stencil;
    const tacit_stencil_shape *shape;
    tacit_field_block block;  /* of this rank */
    tacit_field_result best;  /* of the run whose steps took least          */
    tacit_field_result first; /* with the candidates                        */
    tacit_status status;      /* the outcome of the last run                */
    char message[512];        /* ... in words                               */
    double *seconds;          /* [runs] a step of each                      */
    int runs;
    bool grows; /* is the field to be looked at for an overflow? */
    double start, setup, read, copy;
    double step_median;
} jacobi_job;

double jacobi_cells(const jacobi_job *job);
/* GCell/s; bytes of a step over time, and that over the copy's bandwidth. */
double jacobi_gcells(const jacobi_job *job);
double jacobi_rate(const jacobi_job *job);

void jacobi_print(const cli *c, const jacobi_job *job);
cJSON *jacobi_json(const cli *c, const jacobi_job *job);

#endif

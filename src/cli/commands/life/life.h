/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/life.h - a field of `tacit life`: blocks of a torus, their
 * exchanges by a line (cli/system/line.h), steps, checks.
 *
 * A step is: start the receives, pack the border, start the sends, wait, unpack
 * into the ghosts, and compute the other array; on a GPU starts and wait are one
 * kernel. Messages of odd and even steps
 * have buffers of their own, so that ready sends may come early: a rank sends
 * for step s + 2 after its wait of step s + 1, whose messages its neighbours
 * sent after they had unpacked those of step s. */
#ifndef TCT_CLI_COMMANDS_LIFE_LIFE_H
#define TCT_CLI_COMMANDS_LIFE_LIFE_H
#include "cli/commands/life/rule.h"
#include "cli/report/report.h"
#include "cli/system/line.h"

enum { LIFE_MESSAGES = 2 * (LIFE_DIRECTIONS - 1) /* of a step */ };
/* Random fields up to so many cells a side are compared with a serial run, of at
 * most so many steps. */
enum { LIFE_SERIAL = 512, LIFE_SERIAL_STEPS = 64 };

/* Data of a task of a step. */
typedef struct life_turn {
    struct life_field *field;
    int parity;
} life_turn;

typedef struct life_field {
    const cli *c;
    tacit_queue *queue; /* where the field is                  */
    void *stream;       /* of a GPU; NULL: it is on the host   */
    int blocks[2];      /* along x and y, a rank each       */
    life_block block;
    double *u[2];           /* fields; step s reads u[s % 2]            */
    double *out[2], *in[2]; /* messages of all directions               */
    life_turn turn[2];
    cli_line line;
    tacit_halo_arrays *halo; /* in place of the line, by its mode */
    void *recording;         /* of two steps, or NULL */
    int64_t made;            /* steps since the last fill */
    int64_t exchanges;       /* of the halo */
} life_field;

/* Cut an n x n torus into as square blocks as there are. Errors INVALID (n, or
 * more ranks than blocks of a cell). */
tacit_status life_cut(int64_t n, int ranks, int blocks[2]);
life_block life_block_of(int64_t n, const int blocks[2], int rank);
/* Errors      NO_MEMORY: two fields do not fit, before any is made. */
tacit_status life_check_room(const cli *c, int64_t n);

/* Make a field, and free it. Collective. */
tacit_status life_open(const cli *c, int64_t n, life_field *out);
void life_close(life_field *f);
/* Let messages go by a mode. Collective. Errors UNSUPPORTED. */
tacit_status life_connect(life_field *f, const char *mode);

/* Fill the field with a tile, or with a random pattern. */
tacit_status life_fill(life_field *f, uint64_t tile);
tacit_status life_fill_random(life_field *f);
/* Make steps; all have ended on return. With `graph` two at a time are replayed
 * from a recording. */
tacit_status life_run(life_field *f, int64_t steps, bool graph);

/* Cells of all ranks that are not those of the gliders after the steps made; of
 * a random field that are not those of a serial run. Collective. */
tacit_status life_check(life_field *f, double *wrong);
tacit_status life_check_serial(life_field *f, double *wrong);
/* The cells of this rank on the host, a row after the other: [ny nx]. */
tacit_status life_get(life_field *f, double *cells);
tacit_status life_write_png(life_field *f, const char *path);

/* The pattern of the gliders, of 8 x 8 cells, after so many steps. */
uint64_t life_gliders(int64_t steps);
/* The next pattern of any that repeats after 8 cells. */
uint64_t life_tile_step(uint64_t tile);

/* --- results -------------------------------------------------------------- */

/* A row of the table: a field by a mode. */
typedef struct life_row {
    int64_t n;
    int blocks[2];
    const char *mode, *loop;
    double mean, median, half;  /* seconds of a step                     */
    double gain;                /* of the time of the first mode; NAN    */
    double bytes;               /* of a rank's messages in a step        */
    double wrong, serial_wrong; /* cells; NAN: not compared             */
} life_row;

void life_print(const cli *c, const life_row *rows, int count);
cJSON *life_json(const cli *c, const life_row *rows, int count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/pingpong.h - messages there and back: round trips of a size by a
 * mode, and the rows of the table. */
#ifndef TCT_CLI_COMMANDS_PINGPONG_H
#define TCT_CLI_COMMANDS_PINGPONG_H
#include "cli/report/report.h"
#include "cli/system/line.h"

/* Messages of a size by a mode; seconds of a round trip. */
typedef struct trip_row {
    int64_t bytes, trips; /* trips of a trial */
    const char *mode;
    double mean, median, half; /* ... and half of the 95 % interval */
} trip_row;

enum { PINGPONG_ROWS_MOST = 5 * 31 }; /* modes, sizes */
/* Numbers of the line's messages. */
enum { PINGPONG_RECEIVE, PINGPONG_SEND };

typedef struct trip {
    const cli *c;
    tacit_queue *queue;
    void *stream; /* of a GPU, or NULL: on the host */
    const char *mode;
    cli_line line;
    tacit_halo_arrays *halo; /* in place of the line, by its mode */
    unsigned char *field;    /* ... a cell between two ghosts     */
    bool first;              /* of the two */
    int64_t bytes;
    unsigned char *data, *out, *in;
    uint64_t number; /* of the trip that is checked; 0: none is */
    int64_t wrong;
    unsigned long long *counter; /* wrong bytes, on a GPU */
    void *recording;             /* of so many trips, or NULL */
    int64_t recorded;
    double *seconds; /* [trials] */
    trip_row row[PINGPONG_ROWS_MOST];
    int rows;
} trip;

/* Record what pingpong_make is to replay for so many trips, if --loop asks for
 * that, and replay it once; forget it. All trips have ended on return.
 * Errors      COMM, DEVICE. */
tacit_status pingpong_prepare(trip *t, int64_t times);
void pingpong_forget(trip *t);
/* Make round trips, and wait for their end. Errors COMM, DEVICE. */
tacit_status pingpong_make(trip *t, int64_t times);

/* Rows are printed as they come: all sizes take minutes. */
void pingpong_print_head(void);
void pingpong_print(const trip_row *row);
cJSON *pingpong_json(const cli *c, const trip_row *rows, int count);

#endif

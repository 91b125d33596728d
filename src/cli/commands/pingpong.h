/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/pingpong.h - messages there and back: the rows of the table. */
#ifndef TCT_CLI_COMMANDS_PINGPONG_H
#define TCT_CLI_COMMANDS_PINGPONG_H
#include "cli/report/report.h"

/* Messages of a size by a mode; seconds of a round trip. */
typedef struct trip_row {
    int64_t bytes, trips; /* trips of a trial */
    const char *mode;
    double mean, median, half; /* ... and half of the 95 % interval */
} trip_row;

/* Rows are printed as they come: all sizes take minutes. */
void pingpong_print_head(void);
void pingpong_print(const trip_row *row);
cJSON *pingpong_json(const cli *c, const trip_row *rows, int count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/partition.c - `tacit partition`: cut the rows into parts, print
 * the cost of the cut, and write the part of each row as METIS does. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <stdlib.h>

static cJSON *cut_json(const cli *c, const cli_problem *p,
                       const tacit_partition_info *cut, double seconds)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddItemToObject(o, "matrix", cli_json_matrix(p->name, &p->info));
    cli_json_number(o, "parts", (double)c->set.parts);
    cli_json_number(o, "edge_cut", (double)cut->edge_cut);
    cli_json_number(o, "volume", (double)cut->volume);
    cli_json_number(o, "messages", (double)cut->messages);
    cli_json_number(o, "imbalance", cut->imbalance);
    cli_json_number(o, "rows_min", (double)cut->rows_min);
    cli_json_number(o, "rows_max", (double)cut->rows_max);
    cli_json_number(o, "seconds", seconds);
    return o;
}

static tacit_status report_cut(const cli *c, const cli_problem *p,
                               const tacit_partition_info *cut, double seconds)
{
    if (cli_prints(c) && !cli_output_taken(c)) {
        cli_table t = {.text = NULL};
        cli_table_row(&t, "parts\tedge cut\tvolume\tmessages\timbalance\t"
                          "rows min\trows max\tseconds");
        cli_table_row(&t,
                      "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64
                      "\t%.4f\t%" PRId64 "\t%" PRId64 "\t%.3g",
                      c->set.parts, cut->edge_cut, cut->volume, cut->messages,
                      cut->imbalance, cut->rows_min, cut->rows_max, seconds);
        cli_table_print(&t, stdout);
        cli_table_free(&t);
    }
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, cut_json(c, p, cut, seconds));
}

static tacit_status cut_and_report(const cli *c, const cli_problem *p)
{
    const char *how = c->set.partitioner ? c->set.partitioner : "metis";
    int32_t *part = NULL;
    if (p->info.rows != p->info.cols)
        FAIL(TACIT_INPUT, "%s: not square: %" PRId64 " x %" PRId64, p->name,
             p->info.rows, p->info.cols);
    if (c->set.parts > p->info.rows)
        FAIL(TACIT_INVALID,
             "%" PRId64 " parts of %" PRId64 " rows: some would "
             "be empty",
             c->set.parts, p->info.rows);
    TRY(tacit_world_agree(c->world, ALLOC(tacit_matrix_local_rows(p->matrix),
                                          "the parts", &part)));
    tacit_partition_info cut = {.size = sizeof cut};
    const double start = base_seconds();
    tacit_status status =
        tacit_matrix_cut(p->matrix, how, (int)c->set.parts, part, &cut);
    const double seconds = base_seconds() - start;
    if (status >= 0 && c->set.output) {
        fflush(stdout); /* may be the output's */
        status = tacit_matrix_write_parts(p->matrix, c->set.output, part);
    }
    if (status >= 0) status = report_cut(c, p, &cut, seconds);
    free(part);
    return status;
}

static tacit_status partition_run(cli *c)
{
    if (c->set.parts == 0)
        FAIL(TACIT_INVALID, "tacit partition needs -n PARTS");
    TRY(cli_check_writable(c, c->set.output));
    TRY(cli_check_writable(c, c->set.json));
    return cli_problem_with(c, c->set.operand[0], CLI_FOR_READING,
                            cut_and_report);
}

const cli_command cli_command_partition = {
    .name = "partition",
    .operands = "MATRIX -n PARTS [-o OUT]",
    .summary = "cut the rows into parts; edge cut, volume, imbalance",
    .about = "Cut the rows of MATRIX into PARTS and print what the cut costs: "
             "edges between parts, each a pair of entries, values and messages "
             "of one exchange, and the entries of the largest part over the "
             "mean. OUT gets the part of each row, a "
             "number a line, as METIS writes it and solve --partition reads "
             "it.",
    .takes = {1, 1},
    .run = partition_run,
};

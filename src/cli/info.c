/* SPDX-License-Identifier: BSD-3-Clause
 * cli/info.c - `tacit info`: a matrix described, or the gallery listed. */
#include "cli/report.h"
#include "matrix/gallery.h"
#include "matrix/gallery/recipe.h"
#include <inttypes.h>
#include <string.h>

/* --- the gallery ---------------------------------------------------------- */

static void add_entry(cJSON *list, const char *name, const char *usage,
                      const char *summary)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", name);
    cJSON_AddStringToObject(o, "usage", usage);
    cJSON_AddStringToObject(o, "summary", summary);
    cJSON_AddItemToArray(list, o);
}

static cJSON *gallery_json(void)
{
    cJSON *list = cJSON_CreateArray();
    for (const tct_gallery *const *g = tct_gallery_all(); *g; g++)
        add_entry(list, (*g)->name, (*g)->usage, (*g)->summary);
    for (const tct_recipe *const *r = tct_recipe_all(); *r; r++) {
        char usage[64];
        snprintf(usage, sizeof usage, "like:%s", (*r)->name);
        add_entry(list, usage, usage, (*r)->summary);
    }
    cJSON *all = cJSON_CreateObject();
    cJSON_AddStringToObject(all, "tacit", tacit_version());
    cJSON_AddItemToObject(all, "gallery", list);
    return all;
}

static tacit_status list_gallery(const cli *c)
{
    if (c->set.json) TRY(cli_write_json(c, c->set.json, gallery_json()));
    if (!cli_prints(c) || cli_json_only(c)) return TACIT_OK;
    cli_table table = {.text = NULL};
    for (const tct_gallery *const *g = tct_gallery_all(); *g; g++)
        cli_table_row(&table, "%s\t%s", (*g)->usage, (*g)->summary);
    for (const tct_recipe *const *r = tct_recipe_all(); *r; r++)
        cli_table_row(&table, "like:%s\t%s", (*r)->name, (*r)->summary);
    cli_table_print(&table, stdout);
    cli_table_free(&table);
    return TACIT_OK;
}

/* --- a matrix ------------------------------------------------------------- */

typedef struct about {
    cli_problem problem;
    bool square, symmetric;
    char asymmetry[512]; /* the first entry without a partner */
    cli_system system;   /* queue and operator, none if not square */
} about;

static tacit_status look_at_symmetry(about *a)
{
    a->symmetric = a->square && a->problem.info.symmetric_storage;
    if (!a->square || a->symmetric) return TACIT_OK;
    const tacit_status status = tacit_matrix_check_symmetric(a->problem.matrix);
    if (status == TACIT_INPUT) {
        snprintf(a->asymmetry, sizeof a->asymmetry, "%s",
                 tacit_error_message());
        return TACIT_OK;
    }
    a->symmetric = status == TACIT_OK;
    return status;
}

static tacit_status look(const cli *c, about *a)
{
    TRY(cli_problem_open(c, c->set.operand[0], CLI_FOR_READING, &a->problem));
    a->square = a->problem.info.rows == a->problem.info.cols;
    TRY(look_at_symmetry(a));
    TRY(tacit_queue_create(c->world, "host", (int)c->set.threads,
                           &a->system.queue));
    if (!a->square) return TACIT_OK;
    return tacit_operator_take(a->system.queue, a->problem.matrix, "auto",
                               &a->system.A);
}

/* Matrix bytes of all ranks in a format, below 0 where it does not fit; the
 * seconds of the slowest. */
static double trial_of_all(const cli *c, const tacit_format_trial *mine,
                           double *seconds)
{
    const double misfits = cli_sum(c, mine->bytes < 0 ? 1.0 : 0.0);
    const double bytes = cli_sum(c, mine->bytes);
    *seconds = cli_max(c, mine->seconds);
    return misfits > 0 ? -1.0 : bytes;
}

static cJSON *about_json(const about *a)
{
    const tacit_matrix_info *m = &a->problem.info;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON *matrix = cli_json_matrix(a->problem.name, m);
    cJSON_AddItemToObject(o, "matrix", matrix);
    cJSON_AddNumberToObject(matrix, "columns", (double)m->cols);
    cJSON_AddBoolToObject(matrix, "symmetric_storage", m->symmetric_storage);
    cJSON_AddBoolToObject(matrix, "symmetric", a->symmetric);
    cJSON_AddNumberToObject(matrix, "bandwidth", (double)m->bandwidth);
    cJSON_AddNumberToObject(matrix, "block", m->block);
    cJSON_AddBoolToObject(matrix, "irregular", m->irregular);
    cJSON_AddNumberToObject(matrix, "norm_inf", m->norm_inf);
    cJSON *diagonal = cJSON_AddObjectToObject(matrix, "diagonal");
    cJSON_AddNumberToObject(diagonal, "min", m->diagonal_min);
    cJSON_AddNumberToObject(diagonal, "max", m->diagonal_max);
    cJSON_AddNumberToObject(diagonal, "zero", (double)m->zero_diagonals);
    cJSON_AddNumberToObject(diagonal, "negative",
                            (double)m->negative_diagonals);
    return o;
}

static void print_about(const about *a)
{
    const tacit_matrix_info *m = &a->problem.info;
    printf("name\t%s\nformat\t%s\n", a->problem.name, m->format);
    printf("rows\t%" PRId64 "\ncolumns\t%" PRId64 "\nentries\t%" PRId64 "\n",
           m->rows, m->cols, m->nonzeros);
    printf("explicit zeros\t%" PRId64 "\n", m->explicit_zeros);
    printf("entries per row\t%" PRId64 " to %" PRId64 ", mean %.3f\n",
           m->row_min, m->row_max, m->row_mean);
    printf("symmetric\t%s%s%s%s\n", a->symmetric ? "yes" : "no",
           m->symmetric_storage ? " (one triangle stored)" : "",
           a->asymmetry[0] ? ": " : "", a->asymmetry);
    printf("diagonal\t%.6g to %.6g", m->diagonal_min, m->diagonal_max);
    const int64_t bad = m->zero_diagonals + m->negative_diagonals;
    if (bad > 0)
        printf(", %" PRId64 " zero and %" PRId64 " negative, the first in row "
               "%" PRId64,
               m->zero_diagonals, m->negative_diagonals,
               m->first_bad_diagonal + 1);
    printf("\ninfinity norm\t%.6g\nbandwidth\t%" PRId64 "\n", m->norm_inf,
           m->bandwidth);
    if (m->block > 1) printf("dense blocks\t%d x %d\n", m->block, m->block);
    else printf("dense blocks\tnone\n");
    printf("partition\t%s\n", m->irregular ? "metis" : "contiguous");
}

static void add_trial(cJSON *list, cli_table *table,
                      const tacit_format_trial *trial, double bytes,
                      double seconds, int64_t nonzeros)
{
    char a[CLI_NUMBER], b[CLI_NUMBER];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "format", trial->format);
    cJSON_AddItemToArray(list, o);
    if (bytes < 0) {
        cJSON_AddNullToObject(o, "bytes");
        cli_table_row(table, "in %s\tno: %s", trial->format,
                      trial->reason ? trial->reason : "does not fit");
    } else {
        cJSON_AddNumberToObject(o, "bytes", bytes);
        cli_table_row(table, "in %s\t%s, %.2f bytes an entry%s%s",
                      trial->format, cli_bytes(bytes, a),
                      bytes / (double)nonzeros,
                      seconds > 0 ? ", a sample's product " : "",
                      seconds > 0 ? cli_seconds(seconds, b) : "");
    }
    if (trial->reason) cJSON_AddStringToObject(o, "reason", trial->reason);
    else cJSON_AddNullToObject(o, "reason");
}

/* A rank without rows may have tried nothing: the sums go on without it. */
static void add_trials(const cli *c, const about *a, cJSON *formats,
                       cli_table *table)
{
    tacit_format_trial trial;
    int mine = 0;
    while (a->system.A && tacit_operator_trial(a->system.A, mine, &trial))
        mine++;
    const int most = (int)cli_max(c, mine);
    for (int i = 0; i < most; i++) {
        trial = (tacit_format_trial){.format = NULL};
        if (i < mine) tacit_operator_trial(a->system.A, i, &trial);
        double seconds = 0.0;
        const double bytes = trial_of_all(c, &trial, &seconds);
        if (trial.format)
            add_trial(formats, table, &trial, bytes, seconds,
                      a->problem.info.nonzeros);
    }
}

static tacit_status report_about(const cli *c, const about *a)
{
    cJSON *all = about_json(a);
    cJSON *formats = cJSON_AddArrayToObject(all, "formats");
    cli_table table = {.text = NULL};
    add_trials(c, a, formats, &table);
    if (a->system.A) {
        tacit_operator_info info;
        tacit_operator_describe(a->system.A, &info);
        cJSON_AddStringToObject(all, "fastest", info.format);
        cli_table_row(&table, "fastest\t%s%s%s", info.format,
                      info.detail && info.detail[0] ? ": " : "",
                      info.detail ? info.detail : "");
    } else {
        cJSON_AddNullToObject(all, "fastest");
    }
    if (cli_prints(c) && !cli_json_only(c)) {
        print_about(a);
        cli_table_print(&table, stdout);
    }
    cli_table_free(&table);
    if (c->set.json) return cli_write_json(c, c->set.json, all);
    cJSON_Delete(all);
    return TACIT_OK;
}

static tacit_status info_run(cli *c)
{
    TRY(cli_check_writable(c, c->set.json));
    if (strcmp(c->set.operand[0], "gallery") == 0) return list_gallery(c);
    about a = {.square = false};
    tacit_status status = look(c, &a);
    if (status >= 0) status = report_about(c, &a);
    cli_system_destroy(&a.system);
    cli_problem_close(&a.problem);
    return status;
}

const cli_command cli_command_info = {
    .name = "info",
    .operands = "MATRIX|gallery",
    .summary = "size, symmetry, rows, blocks, memory in each format",
    .about = "Describe MATRIX: its size, symmetry, row statistics, diagonal, "
             "block structure, and the memory it takes in each format.\n\n"
             "tacit info gallery lists the matrices that can be made from a "
             "name.",
    .least = 1,
    .most = 1,
    .run = info_run,
};

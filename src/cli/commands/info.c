/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/info.c - `tacit info`: a matrix described, or the gallery
 * listed. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- the gallery ---------------------------------------------------------- */

static cJSON *gallery_json(void)
{
    cJSON *list = cJSON_CreateArray();
    const tacit_gallery *g;
    for (int i = 0; (g = tacit_gallery_at(i)) != NULL; i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "name", g->name);
        cJSON_AddStringToObject(o, "usage", g->usage);
        cJSON_AddStringToObject(o, "summary", g->summary);
        cJSON_AddItemToArray(list, o);
    }
    cJSON *all = cJSON_CreateObject();
    cJSON_AddStringToObject(all, "tacit", tacit_version());
    cJSON_AddItemToObject(all, "gallery", list);
    return all;
}

static tacit_status list_gallery(const cli *c)
{
    if (c->set.json) TRY(cli_write_json(c, c->set.json, gallery_json()));
    if (!cli_prints(c) || cli_output_taken(c)) return TACIT_OK;
    cli_table table = {.text = NULL};
    const tacit_gallery *g;
    for (int i = 0; (g = tacit_gallery_at(i)) != NULL; i++)
        cli_table_row(&table, "%s\t%s", g->usage, g->summary);
    cli_table_print(&table, stdout);
    cli_table_free(&table);
    return TACIT_OK;
}

/* --- a matrix ------------------------------------------------------------- */

/* A format of a GPU, stored to measure its size. */
typedef struct stored {
    char format[CLI_FORMAT], detail[160], reason[160];
    double bytes_per_nonzero, padding;
    bool packed;
} stored;
enum { STORED_MOST = 16 };

typedef struct about {
    cli_problem problem;
    bool square, symmetric;
    char asymmetry[512];        /* the first entry that lacks a partner */
    cli_system system;          /* queue and operator, none if not square */
    stored stored[STORED_MOST]; /* on a GPU */
    int stored_count;
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

static tacit_status store(about *a, stored *s)
{
    tacit_operator *A = NULL;
    char plain[CLI_FORMAT + 8]; /* in their own order */
    snprintf(plain, sizeof plain, "%s@none", s->format);
    const tacit_status status =
        tacit_operator_create(a->system.queue, a->problem.matrix, plain, &A);
    if (status == TACIT_UNSUPPORTED || status == TACIT_NO_MEMORY) {
        snprintf(s->reason, sizeof s->reason, "%.*s", (int)sizeof s->reason - 1,
                 tacit_error_message());
        return TACIT_OK;
    }
    TRY(status);
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(A, &info);
    s->bytes_per_nonzero = info.bytes_per_nonzero;
    s->padding = info.padding;
    s->packed = info.packed;
    snprintf(s->detail, sizeof s->detail, "%s", info.detail);
    tacit_operator_destroy(&A);
    return TACIT_OK;
}

/* The matrix in each format of the GPU in turn. */
static tacit_status store_all(const cli *c, about *a)
{
    bool packed = false;
    stored *s = a->stored;
    for (int i = 0;
         s < a->stored + STORED_MOST && cli_format_at(c->device, i, s->format);
         i++) {
        if (cli_format_repeats(s->format, packed)) continue;
        TRY(store(a, s));
        packed = s++->packed;
        a->stored_count++;
    }
    return TACIT_OK;
}

static tacit_status look(const cli *c, about *a)
{
    char spec[CLI_SPEC];
    TRY(cli_problem_open(c, c->set.operand[0], CLI_FOR_READING, &a->problem));
    a->square = a->problem.info.rows == a->problem.info.cols;
    TRY(look_at_symmetry(a));
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &a->system.queue));
    if (!a->square) return TACIT_OK;
    if (cli_on_gpu(c)) TRY(store_all(c, a));
    if (!c->set.precond)
        return tacit_operator_take(a->system.queue, a->problem.matrix, "auto",
                                   &a->system.A);
    TRY(tacit_operator_create(a->system.queue, a->problem.matrix, "auto",
                              &a->system.A));
    return cli_make_precond(c, &a->problem, &a->system);
}

/* Matrix bytes of all ranks in a format, below 0 if it does not fit; the
 * seconds of the slowest rank. */
static double trial_of_all(const cli *c, const tacit_trial *mine,
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
    cli_json_number(matrix, "columns", (double)m->cols);
    cJSON_AddBoolToObject(matrix, "own_rhs", m->own_rhs);
    cJSON_AddBoolToObject(matrix, "symmetric_storage", m->symmetric_storage);
    cJSON_AddBoolToObject(matrix, "symmetric", a->symmetric);
    cli_json_number(matrix, "bandwidth", (double)m->bandwidth);
    cli_json_number(matrix, "block", m->block);
    cJSON_AddBoolToObject(matrix, "irregular", m->irregular);
    cli_json_number(matrix, "norm_inf", m->norm_inf);
    cJSON *diagonal = cJSON_AddObjectToObject(matrix, "diagonal");
    cli_json_number(diagonal, "min", m->diagonal_min);
    cli_json_number(diagonal, "max", m->diagonal_max);
    cli_json_number(diagonal, "zero", (double)m->zero_diagonals);
    cli_json_number(diagonal, "negative", (double)m->negative_diagonals);
    return o;
}

static void print_about(const about *a)
{
    const tacit_matrix_info *m = &a->problem.info;
    fputs("name\t", stdout);
    cli_print_plain(stdout, a->problem.name);
    printf("\nformat\t%s\n", m->format);
    printf("shift\t%.17g\n", m->shift);
    printf("rows\t%" PRId64 "\ncolumns\t%" PRId64 "\nentries\t%" PRId64 "\n",
           m->rows, m->cols, m->nonzeros);
    printf("explicit zeros\t%" PRId64 "\n", m->explicit_zeros);
    printf("summed entries\t%" PRId64 "\n", m->summed);
    printf("entries per row\t%" PRId64 " to %" PRId64 ", mean %.3f\n",
           m->row_min, m->row_max, m->row_mean);
    printf("right-hand side\t%s\n", m->own_rhs ? "in the file" : "none");
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

/* One format: its size, and the time of a product. */
typedef struct finding {
    const char *format, *reason, *detail; /* NULL: none */
    double bytes;                         /* below 0: does not fit */
    double seconds;                       /* 0: not measured */
    double padding;
    const char *measured; /* "a sample's product" */
} finding;

static void add_finding(cJSON *list, cli_table *table, const finding *f,
                        int64_t nonzeros)
{
    char a[CLI_NUMBER], b[CLI_NUMBER], product[80] = "", padding[40] = "";
    char of_entry[CLI_NUMBER];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "format", f->format);
    cJSON_AddItemToArray(list, o);
    const bool fits = f->bytes >= 0;
    const double each = f->bytes / (double)nonzeros;
    cli_json_number(o, "bytes", fits ? f->bytes : (double)NAN);
    cli_json_number(o, "bytes_per_nonzero", fits ? each : (double)NAN);
    cli_json_number(o, "seconds", f->seconds > 0 ? f->seconds : (double)NAN);
    if (f->reason) cJSON_AddStringToObject(o, "reason", f->reason);
    else cJSON_AddNullToObject(o, "reason");
    if (!fits) {
        cli_table_row(table, "in %s\tno: %s", f->format,
                      f->reason ? f->reason : "does not fit");
        return;
    }
    if (f->detail) {
        cli_json_number(o, "padding", f->padding);
        cJSON_AddStringToObject(o, "detail", f->detail);
        snprintf(padding, sizeof padding, ", padding %.1f %%",
                 100.0 * f->padding);
    }
    if (f->seconds > 0)
        snprintf(product, sizeof product, ", %s %s", f->measured,
                 cli_seconds(f->seconds, b));
    cli_table_row(table, "in %s\t%s, %s bytes an entry%s%s%s%s", f->format,
                  cli_bytes(f->bytes, a), cli_fixed(each, 2, of_entry), padding,
                  product, f->detail ? ": " : "", f->detail ? f->detail : "");
}

/* Seconds of a product, from the autotuning of formats; 0: not measured. */
static double raced(const about *a, const char *format)
{
    const tacit_trial *trial;
    for (int i = 0; (trial = tacit_operator_trial_at(a->system.A, i)); i++)
        if (strcmp(trial->format, format) == 0) return trial->seconds;
    return 0.0;
}

static void add_stored(const about *a, cJSON *formats, cli_table *table)
{
    const int64_t nonzeros = a->problem.info.nonzeros;
    for (int i = 0; i < a->stored_count; i++) {
        const stored *s = &a->stored[i];
        const bool fits = s->reason[0] == '\0';
        const finding f = {
            .format = s->format,
            .reason = fits ? NULL : s->reason,
            .detail = fits ? s->detail : NULL,
            .bytes = fits ? s->bytes_per_nonzero * (double)nonzeros : -1.0,
            .seconds = fits ? raced(a, s->format) : 0.0,
            .padding = s->padding,
            .measured = "a product"};
        add_finding(formats, table, &f, nonzeros);
    }
}

/* A rank without rows may lack a trial: it is skipped in the sums. */
static void add_trials(const cli *c, const about *a, cJSON *formats,
                       cli_table *table)
{
    int mine = 0;
    while (a->system.A && tacit_operator_trial_at(a->system.A, mine)) mine++;
    const int most = (int)cli_max(c, mine);
    for (int i = 0; i < most; i++) {
        tacit_trial trial = {.format = NULL};
        if (i < mine) trial = *tacit_operator_trial_at(a->system.A, i);
        double seconds = 0.0;
        const double bytes = trial_of_all(c, &trial, &seconds);
        const finding f = {.format = trial.format,
                           .reason = trial.reason,
                           .bytes = bytes,
                           .seconds = seconds,
                           .measured = "a sample's product"};
        if (trial.format)
            add_finding(formats, table, &f, a->problem.info.nonzeros);
    }
}

static tacit_status report_about(const cli *c, const about *a)
{
    cJSON *all = about_json(a);
    cJSON_AddStringToObject(all, "device", c->device);
    cJSON *formats = cJSON_AddArrayToObject(all, "formats");
    cli_table table = {.text = NULL};
    if (a->stored_count > 0) add_stored(a, formats, &table);
    else add_trials(c, a, formats, &table);
    const double convergence = cli_measure_precond(a->system.A, a->system.M);
    if (a->system.A) {
        tacit_operator_info info = {.size = sizeof info};
        tacit_operator_describe(a->system.A, &info);
        cJSON_AddStringToObject(all, "fastest", info.format);
        cJSON_AddStringToObject(all, "order", info.order);
        cli_table_row(&table, "fastest\t%s%s%s", info.format,
                      info.detail && info.detail[0] ? ": " : "",
                      info.detail ? info.detail : "");
        cli_table_row(&table, "order\t%s", info.order);
        cli_print_levels(&table, a->system.M, convergence);
    } else {
        cJSON_AddNullToObject(all, "fastest");
        cJSON_AddNullToObject(all, "order");
    }
    cJSON_AddItemToObject(all, "precond",
                          cli_json_precond(a->system.M, convergence));
    if (cli_prints(c) && !cli_output_taken(c)) {
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
             "block structure, and the memory it takes in each format of the "
             "device.\n\n"
             "tacit info gallery lists the matrices that can be made from a "
             "name.",
    .takes = {1, 1},
    .run = info_run,
};

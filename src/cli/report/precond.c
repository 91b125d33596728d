/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/precond.c - a preconditioner with levels, for people and for
 * programs. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <math.h>

static tacit_precond_info info_of(const tacit_operator *M)
{
    tacit_precond_info info = {.size = sizeof info, .name = "none"};
    if (M) tacit_precond_describe(M, &info);
    return info;
}

const char *cli_precond_name(const tacit_operator *M)
{
    return info_of(M).name;
}

/* --- levels --------------------------------------------------------------- */

void cli_print_precond(FILE *to, const tacit_operator *M)
{
    char seconds[CLI_NUMBER], bytes[CLI_NUMBER];
    const tacit_precond_info info = info_of(M);
    if (info.levels == 0 && info.bytes > 0.0)
        fprintf(to, "precond  %s: %s, %s; set up in %s\n", info.name,
                info.detail, cli_bytes(info.bytes, bytes),
                cli_seconds(info.setup_seconds, seconds));
    cli_print_grid(to, &info);
    if (info.levels == 0) return;
    fprintf(to,
            "precond  %s: %s, %d level%s, %.2f times the entries, %s; %s\n"
            "         set up in %s\n",
            info.name, info.detail, info.levels, info.levels == 1 ? "" : "s",
            info.operator_complexity, cli_bytes(info.bytes, bytes), info.end,
            cli_seconds(info.setup_seconds, seconds));
    if (info.levels == 1)
        fputs("note     one level is no multigrid: the matrix cannot be made "
              "smaller, or was small; jacobi costs less, direct may suit\n",
              to);
}

double cli_measure_precond(const tacit_operator *A, const tacit_operator *M)
{
    double factor = (double)NAN;
    if (info_of(M).levels == 0) return factor;
    if (tacit_precond_measure(A, M, &factor) < 0) factor = (double)NAN;
    return factor;
}

void cli_print_levels(cli_table *to, const tacit_operator *M,
                      double convergence)
{
    char bytes[CLI_NUMBER], factor[CLI_NUMBER];
    const tacit_precond_level *l;
    const tacit_precond_info info = info_of(M);
    if (info.levels == 0) return;
    cli_table_row(to, "precond\t%s: %s, set up in %s", info.name, info.detail,
                  cli_seconds(info.setup_seconds, bytes));
    for (int i = 0; (l = tacit_precond_level_at(M, i)) != NULL; i++)
        cli_table_row(
            to, "level %d\t%" PRId64 " rows, %" PRId64 " entries, %s, in %s%s",
            i, l->rows, l->nonzeros, cli_bytes(l->bytes, bytes), l->format,
            l->bits == 32 ? ", floats" : "");
    cli_table_row(to, "levels end\t%s", info.end);
    cli_table_row(to, "all levels\t%.3f times the rows, %.3f the entries, %s",
                  info.grid_complexity, info.operator_complexity,
                  cli_bytes(info.bytes, bytes));
    if (isfinite(convergence))
        cli_table_row(to, "convergence\tan application leaves %s of an error%s",
                      cli_fixed(convergence, 3, factor),
                      convergence < 1.0 ? "" : ": it needs cg around it");
}

cJSON *cli_json_precond(const tacit_operator *M, double convergence)
{
    const tacit_precond_info info = info_of(M);
    if (info.levels == 0) return cJSON_CreateNull();
    const tacit_precond_level *l;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", info.name);
    cJSON_AddStringToObject(o, "detail", info.detail);
    cJSON_AddStringToObject(o, "end", info.end);
    cli_json_number(o, "bytes", info.bytes);
    cli_json_number(o, "grid_complexity", info.grid_complexity);
    cli_json_number(o, "operator_complexity", info.operator_complexity);
    cli_json_number(o, "setup", info.setup_seconds);
    cli_json_number(o, "convergence", convergence);
    cJSON *levels = cJSON_AddArrayToObject(o, "levels");
    for (int i = 0; (l = tacit_precond_level_at(M, i)) != NULL; i++) {
        cJSON *level = cJSON_CreateObject();
        cJSON_AddItemToArray(levels, level);
        cli_json_number(level, "rows", (double)l->rows);
        cli_json_number(level, "nonzeros", (double)l->nonzeros);
        cli_json_number(level, "bytes", l->bytes);
        cJSON_AddStringToObject(level, "format", l->format);
        cli_json_number(level, "bits", l->bits);
        cli_json_number(level, "largest_eigenvalue",
                        l->largest > 0.0 ? l->largest : (double)NAN);
    }
    return o;
}

/* --- a race --------------------------------------------------------------- */

static void print_trial(FILE *to, const tacit_precond_trial *t)
{
    char setup[CLI_NUMBER], had[CLI_NUMBER], solve[CLI_NUMBER];
    fprintf(to, "%s: ", t->name);
    if (t->iterations > 0)
        fprintf(to,
                "set up in %s, %" PRId64 " iteration%s in %s down to %.1e, %s "
                "a solve%s%s",
                cli_seconds(t->setup_seconds, setup), t->iterations,
                t->iterations == 1 ? "" : "s", cli_seconds(t->seconds, had),
                t->reached, cli_seconds(t->solve_seconds, solve),
                t->alone ? "" : " (predicted)", t->picked ? "" : ": ");
    if (t->picked && !t->reason)
        fputs(t->iterations > 0 ? ": taken" : "taken", to);
    fprintf(to, "%s%s\n",
            t->picked && t->reason && t->iterations > 0 ? ": ended: " : "",
            t->reason ? t->reason : "");
}

void cli_print_race(FILE *to, const tacit_solver *solver)
{
    const tacit_precond_trial *t;
    for (int i = 0; (t = tacit_solver_trial_at(solver, i)) != NULL; i++) {
        fputs(i == 0 ? "tried    " : "         ", to);
        print_trial(to, t);
    }
    if (tacit_solver_trial_at(solver, 0))
        fputs("         rule: the cheapest runs first; if its predicted "
              "remaining "
              "cost, from residuals and counted work, exceeds 1.5 times "
              "another's, that one continues\n",
              to);
}

static cJSON *trial_json(const tacit_precond_trial *t)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", t->name);
    cJSON_AddBoolToObject(o, "picked", t->picked);
    if (t->reason) cJSON_AddStringToObject(o, "reason", t->reason);
    else cJSON_AddNullToObject(o, "reason");
    cli_json_number(o, "setup", t->setup_seconds);
    cli_json_number(o, "seconds", t->seconds);
    cli_json_number(o, "iterations", (double)t->iterations);
    cli_json_number(o, "reached", t->iterations > 0 ? t->reached : (double)NAN);
    cli_json_number(o, "solve",
                    t->solve_seconds > 0.0 ? t->solve_seconds : (double)NAN);
    cJSON_AddBoolToObject(o, "alone", t->alone);
    return o;
}

cJSON *cli_json_race(const tacit_solver *solver)
{
    const tacit_precond_trial *t = tacit_solver_trial_at(solver, 0);
    if (!t) return cJSON_CreateNull();
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; (t = tacit_solver_trial_at(solver, i)) != NULL; i++)
        cJSON_AddItemToArray(all, trial_json(t));
    return all;
}

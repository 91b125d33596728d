/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/besides.c - further rows: one method with each preconditioner,
 * method direct, and sstep with other numbers of steps. */
#include "cli/compare/compare.h"
#include <string.h>

static tacit_status row_of(const cli *c, cli_comparison *all,
                           const char *method, cli_monitor *m)
{
    const char *loop = c->set.loop;
    if (!loop) loop = cli_on_gpu(c) ? "auto" : "host";
    return cli_compare_batch(c, all, method, loop, "auto", m);
}

static tacit_status each_precond(const cli *c, cli_comparison *all,
                                 cli_monitor *m)
{
    const char *method = c->set.method ? c->set.method : "cg";
    const tacit_precond *p;
    tacit_status status = TACIT_OK;
    for (int i = 0; status == TACIT_OK && (p = tacit_precond_at(i)); i++) {
        if (p->reason || p->when_named || strcmp(p->name, "none") == 0)
            continue;
        cli with = *c;
        with.set.precond = p->name;
        status = row_of(&with, all, method, m);
    }
    return status;
}

static tacit_status each_steps(const cli *c, cli_comparison *all,
                               cli_monitor *m)
{
    static const char *const steps[] = {"4", "16"}; /* auto is 8 */
    tacit_status status = TACIT_OK;
    for (int i = 0; status == TACIT_OK && i < 2; i++) {
        cli with = *c;
        with.set.steps = steps[i];
        status = row_of(&with, all, "sstep", m);
    }
    return status;
}

/* The option whose end only a recurrence has; NULL: none is said. */
static const char *stop_of_recurrence(const cli_settings *set)
{
    if (set->norm && strcmp(set->norm, "residual") != 0) return "--norm";
    if (set->relative_to && strcmp(set->relative_to, "b") != 0)
        return "--relative-to";
    return set->iterations > 0 ? "--iterations" : NULL;
}

/* A factor may take far longer than all other rows: it is tried for at most
 * ENTRIES entries, which take some seconds. */
static tacit_status row_of_direct(const cli *c, cli_comparison *all,
                                  cli_monitor *m)
{
    enum { ENTRIES = 1000000 };
    char number[CLI_NUMBER], reason[256];
    const int64_t entries = all->problem.info.nonzeros;
    const char *stop = stop_of_recurrence(&c->set);
    if (stop) {
        snprintf(reason, sizeof reason,
                 "%s is for methods with a recurrence: leave it out for a row "
                 "of direct",
                 stop);
        cli_compare_miss(all, "method", "direct", reason);
        return TACIT_OK;
    }
    if (entries > ENTRIES) {
        snprintf(reason, sizeof reason,
                 "%s entries: a factor of them may take long, so it is left "
                 "out; --method direct tries it",
                 cli_integer(entries, number));
        cli_compare_miss(all, "method", "direct", reason);
        return TACIT_OK;
    }
    cli with = *c;
    with.set.method = "direct";
    return row_of(&with, all, "direct", m);
}

tacit_status cli_compare_besides(const cli *c, cli_comparison *all,
                                 cli_monitor *m)
{
    const cli_settings *set = &c->set;
    const bool sstep = !set->method || strcmp(set->method, "sstep") == 0;
    tacit_status status = TACIT_OK;
    if (set->format) return TACIT_OK;
    all->besides = true;
    if (!set->precond) status = each_precond(c, all, m);
    if (status == TACIT_OK && !set->precond && !set->method)
        status = row_of_direct(c, all, m);
    if (status == TACIT_OK && sstep && !set->steps)
        status = each_steps(c, all, m);
    all->besides = false;
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * cli/belongs.c - the table of options that have an effect with some others
 * alone. One that has none is refused, with what it belongs to. */
#include "cli/base.h"
#include "cli/options.h"
#include "cli/system/problem.h"
#include <string.h>

static bool is(const char *value, const char *name)
{
    return value && strcmp(value, name) == 0;
}

/* Was the option called `name` said? */
static bool said(const cli_settings *set, const char *name)
{
    const cli_option *o = cli_option_find(set->command, name);
    return o && cli_was_said(set, o);
}

/* --- when an option has no effect ----------------------------------------- */

typedef struct question {
    const cli_settings *set;
    int ranks; /* 0: not known yet */
} question;

/* The kind that the files of a given factor make. */
static const char *kind_of_files(const cli_settings *set)
{
    if (set->upper) return "lu";
    return set->diagonal ? "ldlt" : "llt";
}

/* A kind besides --given is the place of keys that both have. */
static bool kind_of_given(const question *q)
{
    const cli_settings *set = q->set;
    if (!set->given || !set->kind) return false;
    return (set->leaves == 0 && set->width == 0) ||
           !is(set->kind, kind_of_files(set));
}

static bool order_of_given(const question *q)
{
    return q->set->given && q->set->order;
}

static bool width_of_incomplete(const question *q)
{
    const char *kind = q->set->kind;
    return q->set->width != 0 && (is(kind, "ic0") || is(kind, "ilu0"));
}

static bool lacks_matrix(const question *q)
{
    return q->set->operands < 2;
}

static bool precond_of_info(const question *q)
{
    return q->set->precond && !is(q->set->precond, "amg");
}

static bool gallery(const question *q)
{
    return is(q->set->operand[0], "gallery");
}

static bool counts(const question *q)
{
    return q->set->iterations > 0;
}

/* A tolerance of 0 asks for no more than a number of iterations does. */
static bool counts_beside_rtol(const question *q)
{
    return counts(q) && q->set->rtol != 0.0;
}

static bool counts_beside_atol(const question *q)
{
    return counts(q) && q->set->atol != 0.0;
}

/* Methods without iterations of a recurrence, and trials of several. */
static bool counts_nothing(const question *q)
{
    return is(q->set->method, "direct") || is(q->set->precond, "auto");
}

static bool no_norm(const question *q)
{
    const cli_settings *set = q->set;
    const bool alone = !set->precond || is(set->precond, "none");
    if (is(set->norm, "preconditioned"))
        return alone || is(set->precond, "auto") || is(set->method, "direct");
    return is(set->method, "direct") && !is(set->norm, "residual");
}

static bool no_reference(const question *q)
{
    return is(q->set->relative_to, "r0") &&
           (is(q->set->norm, "backward") || is(q->set->method, "direct"));
}

static bool rhs_is_given(const question *q)
{
    const cli_settings *set = q->set;
    const char *rhs = set->operands > 1 ? set->operand[1] : set->rhs;
    return rhs && !is(rhs, "manufactured");
}

static bool nothing_to_set_up(const question *q)
{
    const cli_settings *set = q->set;
    if (!set->precond) return false;
    for (; set; set = set->more)
        if (!is(set->precond, "none")) return false;
    return true;
}

static bool quiet(const question *q)
{
    return q->set->quiet;
}

static bool parts(const question *q)
{
    return q->set->no_compute || q->set->no_communication;
}

static bool both_parts(const question *q)
{
    return q->set->no_compute && q->set->no_communication;
}

static bool measures_nothing(const question *q)
{
    return q->set->norm_every > q->set->field_steps;
}

static bool lacks_grid(const question *q)
{
    return q->set->operands > 0 && !cli_is_grid(q->set->operand[0]);
}

static bool one_rank(const question *q)
{
    return q->ranks == 1;
}

/* --- the table ------------------------------------------------------------ */

enum {
    SOLVE = 1 << CLI_AT_solve,
    COMPARE = 1 << CLI_AT_compare,
    INFO = 1 << CLI_AT_info,
    BENCH = 1 << CLI_AT_bench,
    TRSV = 1 << CLI_AT_trsv,
    JACOBI = 1 << CLI_AT_jacobi,
    FACTORS = TRSV | 1 << CLI_AT_factor,
    STEPPED = 1 << CLI_AT_life | 1 << CLI_AT_pingpong,
    EACH = (1 << CLI_COMMAND_COUNT) - 1
};

/* clang-format off */
#define MADE "a factor that is made here, and --given takes one from files"
#define OF_BENCH "bench with a MATRIX, and none is given"
#define OF_WHOLE "whole steps, and --no-compute or --no-communication leaves a part out"
#define OF_RANKS "several processes, and here is one"
#define OF_TOLERANCE "solves that a tolerance ends, and --iterations N makes N"
#define OF_INFO "a MATRIX, and gallery is a list"
static const struct {
    const char *option; /* without dashes; a key if no option is called so */
    unsigned commands;
    bool (*in_vain)(const question *q);
    const char *belongs;
} rules[] = {
    {"kind", FACTORS, kind_of_given, MADE},
    {"order", FACTORS, order_of_given, MADE},
    {"width", FACTORS, width_of_incomplete, "kinds llt, ldlt and lu, whose panels it cuts"},
    {"format", BENCH, lacks_matrix, OF_BENCH},
    {"reorder", BENCH, lacks_matrix, OF_BENCH},
    {"shift", BENCH, lacks_matrix, OF_BENCH},
    {"drop-zeros", BENCH, lacks_matrix, OF_BENCH},
    {"partition", BENCH, lacks_matrix, OF_BENCH},
    {"partitioner", BENCH, lacks_matrix, OF_BENCH},
    {"precond", INFO, precond_of_info, "info as amg alone, whose levels it lists"},
    {"precond", INFO, gallery, OF_INFO},
    {"comm", INFO, gallery, OF_INFO},
    {"device", INFO, gallery, OF_INFO},
    {"threads", INFO, gallery, OF_INFO},
    {"shift", INFO, gallery, OF_INFO},
    {"drop-zeros", INFO, gallery, OF_INFO},
    {"seed", SOLVE | COMPARE | TRSV, rhs_is_given, "a right-hand side that is manufactured"},
    {"max-iterations", SOLVE | COMPARE, counts, OF_TOLERANCE},
    {"rtol", SOLVE | COMPARE, counts_beside_rtol, OF_TOLERANCE},
    {"atol", SOLVE | COMPARE, counts_beside_atol, OF_TOLERANCE},
    {"norm", SOLVE, no_norm, "methods with a recurrence, and preconditioned to one --precond, neither none nor auto"},
    {"norm", COMPARE, no_norm, "methods with a recurrence, and preconditioned to solve or one --precond"},
    {"relative-to", SOLVE | COMPARE, no_reference, "methods with a recurrence and norms other than backward"},
    {"iterations", SOLVE | COMPARE, counts_nothing, "one method and one preconditioner, and neither direct nor auto makes N"},
    {"amortize", COMPARE, nothing_to_set_up, "preconditioners, and none has no set-up"},
    {"verbose", EACH, quiet, "output that --quiet leaves out"},
    {"partitioner", SOLVE | COMPARE | BENCH, one_rank, OF_RANKS},
    {"partition", SOLVE | COMPARE | BENCH, one_rank, OF_RANKS},
    {"oversubscribe", SOLVE | COMPARE | BENCH | TRSV | JACOBI | STEPPED, one_rank, OF_RANKS},
    {"norm-every", JACOBI, measures_nothing, "runs of as many --steps or more"},
    {"type", COMPARE, lacks_grid, "a GRID, such as star2d1r:4096x4096"},
    {"no-compute", JACOBI, one_rank, OF_RANKS},
    {"no-communication", JACOBI, one_rank, OF_RANKS},
    {"no-compute", JACOBI, both_parts, "runs without --no-communication"},
    {"output", JACOBI, parts, OF_WHOLE},
    {"png", JACOBI, parts, OF_WHOLE},
    {"x0", JACOBI, parts, OF_WHOLE},
    {"rtol", JACOBI, parts, OF_WHOLE},
    {"norm-every", JACOBI, parts, OF_WHOLE},
};
/* clang-format on */
enum { RULES = sizeof rules / sizeof *rules };

static bool applies(int i, const question *q)
{
    const bool key = strcmp(rules[i].option, "order") == 0 ||
                     strcmp(rules[i].option, "width") == 0;
    return (rules[i].commands & cli_command_bit(q->set->command)) &&
           (key || said(q->set, rules[i].option)) && rules[i].in_vain(q);
}

tacit_status cli_check_belongs(const cli_settings *set, int ranks)
{
    const question q = {set, ranks};
    for (int i = 0; set->command && i < RULES; i++) {
        if (!applies(i, &q)) continue;
        const bool option = cli_option_find(set->command, rules[i].option);
        FAIL(TACIT_INVALID, "%s%s belongs to %s: leave it out",
             option ? "--" : "", rules[i].option, rules[i].belongs);
    }
    return TACIT_OK;
}

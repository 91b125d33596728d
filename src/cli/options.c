/* SPDX-License-Identifier: BSD-3-Clause
 * cli/options.c - the table of options. */
#include "cli/options.h"
#include "cli/base.h"
#include <stddef.h>
#include <string.h>
#include <tacit/stencil.h>

static const cli_command *const commands[] = {
#define X(name) &cli_command_##name,
    CLI_COMMANDS(X)
#undef X
};

const cli_command *cli_command_at(int i)
{
    return i >= 0 && i < CLI_COMMAND_COUNT ? commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name, const char **near)
{
    const char *names[CLI_COMMAND_COUNT];
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0) return commands[i];
    }
    *near = cli_nearest(name, names, CLI_COMMAND_COUNT);
    return NULL;
}

/* --- the table ------------------------------------------------------------ */

enum {
#define X(name) ON_##name = 1 << CLI_AT_##name,
    CLI_COMMANDS(X)
#undef X
        ON_RUNS = ON_solve | ON_compare,
    ON_MATRIX = ON_RUNS | ON_info | ON_convert | ON_partition | ON_factor |
                ON_trsv | ON_bench,
    ON_DISTRIBUTED = ON_RUNS | ON_bench, /* rows may move between ranks */
    ON_THREADED = ON_DISTRIBUTED | ON_info | ON_factor | ON_devices,
    ON_RESULTS = ON_RUNS | ON_info | ON_devices | ON_partition | ON_factor |
                 ON_trsv | ON_jacobi | ON_life | ON_pingpong,
    ON_ALL = (1 << CLI_COMMAND_COUNT) - 1
};
#define AT(field)  offsetof(cli_settings, field)
#define MOST_INT   9e15 /* exact in a double */
#define MOST_BYTES (1 << 30)

/* clang-format off */
static const cli_option table[] = {
/* group, name, message, kind, commands, where, value,
 * help, axis, least, most, initial */
{"The path", "method", 0, CLI_CHOICE, ON_RUNS, AT(method), "NAME",
 "what is computed (solve: cg; compare: all)", &cli_axis_method, 0, 0, 0},
{"The path", "loop", 0, CLI_CHOICE, ON_DISTRIBUTED, AT(loop), "NAME",
 "who drives the iteration (auto)", &cli_axis_loop, 0, 0, 0},
{"The path", "comm", 0, CLI_CHOICE, ON_ALL & ~ON_help, AT(comm), "NAME",
 "who starts a message (auto)", &cli_axis_comm, 0, 0, 0},
{"The path", "device", 0, CLI_CHOICE, ON_THREADED | ON_trsv | ON_jacobi, AT(device), "NAME",
 "where it runs (auto: a GPU if there is one)", &cli_axis_device, 0, 0, 0},
{"The path", "device", 'd', CLI_CHOICE, ON_life | ON_pingpong, AT(device), "NAME",
 "where messages come from and go to (host)", &cli_axis_device, 0, 0, 0},
{"The path", "format", 0, CLI_TEXT, ON_DISTRIBUTED, AT(format), "NAME",
 "local block (solve: auto, measured when that pays; compare, bench: all); on cuda "
 "also sell32, and NAME/STORE says how values are kept, STORE being auto, f64, "
 "f32, dict8 or dict16, none of which loses a bit; stencil is for gallery "
 "grids, whose entries solve does not even make where no preconditioner needs "
 "them",
 &cli_axis_format, 0, 0, 0},
{"The path", "precision", 0, CLI_CHOICE, ON_RUNS, AT(precision), "NAME",
 "of the matrix values (double)", &cli_axis_precision, 0, 0, 0},
{"The path", "reorder", 0, CLI_CHOICE, ON_DISTRIBUTED, AT(reorder), "NAME",
 "rows within a rank while it computes; files keep the matrix's order (auto: "
 "rcm where that is measured to be faster)", &cli_axis_order, 0, 0, 0},
{"The path", "precond", 0, CLI_CHOICE, ON_RUNS | ON_info, AT(precond), "NAME",
 "preconditioner (solve: none; compare: all but those that may cost far more, "
 "such as direct), in compare also several with commas; auto, of solve: the "
 "fastest to the tolerance, set-up included, which the solve finds out", &cli_axis_precond, 0, 0, 0},
{"The path", "amortize", 0, CLI_INT, ON_RUNS, AT(amortize), "N",
 "set-up counts once in N solves: of solve, and of the preconditioner in the "
 "ranking of compare (1)", NULL, 1, 1e9, 0},
{"The path", "deterministic", 0, CLI_FLAG, ON_solve, AT(deterministic), NULL,
 "on the host: format and threads are chosen by bytes and counts, not by time",
 NULL, 0, 0, 0},
{"The path", "pure", 0, CLI_FLAG, ON_RUNS, AT(pure), NULL,
 "the method's published recurrence alone: no other method's start or rescue, "
 "no replacements, no restarts; sstep in basis monomial", NULL, 0, 0, 0},
{"The path", "kind", 0, CLI_CHOICE, ON_factor | ON_trsv, AT(kind), "NAME",
 "of the factor (llt)", &cli_axis_kind, 0, 0, 0},
{"The path", "given", 0, CLI_FLAG, ON_factor | ON_trsv, AT(given), NULL,
 "MATRIX is L of a factor, L L' or, with --diagonal, L D L' or, with --upper, "
 "L U", NULL, 0, 0, 0},
{"The path", "upper", 0, CLI_READ, ON_factor | ON_trsv, AT(upper), "FILE",
 "U, with --given", NULL, 0, 0, 0},
{"The path", "diagonal", 0, CLI_READ, ON_factor | ON_trsv, AT(diagonal), "FILE",
 "D, with --given", NULL, 0, 0, 0},
{"The path", "permutation", 0, CLI_READ, ON_factor | ON_trsv,
 AT(permutation), "FILE",
 "with --given: of each row of L its number in the matrix, from 1, or from 0 "
 "if there is a 0 (the same)", NULL, 0, 0, 0},
{"The path", "way", 0, CLI_CHOICE, ON_jacobi, AT(way), "NAME",
 "how steps are made (auto: the first steps measure it)", &cli_axis_way, 0, 0, 0},
{"The path", "depth", 0, CLI_INT, ON_jacobi, AT(depth), "K",
 "of --way tiles: steps at a time (measured)", NULL, 1, TACIT_FIELD_DEPTH_MOST, 0},
{"The path", "loop", 0, CLI_TEXT, ON_jacobi, AT(loop), "NAME",
 "of --way mpi and nccl: host, where the CPU enqueues each step, or graph, a "
 "recording that is replayed (host)", NULL, 0, 0, 0},
{"The path", "mode", 0, CLI_CHOICE, ON_pingpong | ON_life, AT(mode), "NAME",
 "how messages are sent (all that this run can have)", &cli_axis_mode, 0, 0, 0},
{"The path", "loop", 0, CLI_TEXT, ON_life | ON_pingpong, AT(loop), "NAME",
 "on cuda: host, where the CPU enqueues each step or round trip, or graph, a "
 "recording of some that is replayed (host)", NULL, 0, 0, 0},
{"The path", "threads", 0, CLI_INT, ON_THREADED | ON_trsv | ON_jacobi, AT(threads), "N",
 "at most so many host threads per rank (as many as this process has "
 "processors); a small matrix takes fewer", NULL, 1, 4096, 0},

{"Processes", "grid", 0, CLI_SHAPE, ON_trsv, AT(grid), "PxxPyxPz|auto",
 "of processes that solve with the factor: Pz grids, a power of two, of Px x Py "
 "each (auto, fewest predicted messages; with --device cuda 1x1xPz, and others "
 "with --comm peer)", NULL, 0, 0, 0},
{"Processes", "blocks", 0, CLI_TEXT, ON_jacobi, AT(blocks), "PXxPY[xPZ]",
 "of the grid along x, y and z, one a process (auto: slabs of rows or planes "
 "where they are thick enough, else the blocks with the fewest ghost cells)", NULL, 0, 0, 0},
{"Processes", "ranks", 'n', CLI_INT, ON_DISTRIBUTED | ON_trsv | ON_jacobi | ON_life | ON_pingpong, AT(ranks), "N",
 "start N processes on this machine, without mpirun; --comm mpi is not for "
 "them", NULL, 1, 4096, 0},
{"Processes", "gpus", 0, CLI_INT, ON_DISTRIBUTED | ON_trsv | ON_jacobi | ON_life | ON_pingpong, AT(gpus), "N",
 "as --ranks N --device cuda: a process for each of N GPUs of this machine",
 NULL, 1, 4096, 0},
{"Processes", "oversubscribe", 0, CLI_FLAG, ON_DISTRIBUTED | ON_trsv | ON_jacobi | ON_life | ON_pingpong,
 AT(oversubscribe), NULL,
 "let several processes have one GPU, also with --comm peer: slow, for tests",
 NULL, 0, 0, 0},

{"Stopping", "rtol", 0, CLI_REAL, ON_RUNS, AT(rtol), "R",
 "stop when ||b - A x|| <= R ||b|| (1e-6)", NULL, 0, HUGE_VAL, 1e-6},
{"Stopping", "atol", 0, CLI_REAL, ON_RUNS, AT(atol), "R",
 "or when ||b - A x|| <= R (0)", NULL, 0, HUGE_VAL, 0},
{"Stopping", "norm", 0, CLI_CHOICE, ON_RUNS, AT(norm), "NAME",
 "of b - A x that R is for (residual)", &cli_axis_norm, 0, 0, 0},
{"Stopping", "relative-to", 0, CLI_CHOICE, ON_RUNS, AT(relative_to), "NAME",
 "what R is relative to (b)", &cli_axis_relative_to, 0, 0, 0},
{"Stopping", "max-iterations", 0, CLI_INT, ON_RUNS, AT(max_iterations), "N",
 "or after N iterations (10000)", NULL, 1, MOST_INT, 10000},
{"Stopping", "iterations", 0, CLI_INT, ON_RUNS, AT(iterations), "N",
 "make exactly N iterations, whatever the residual, and end with status 0; a "
 "breakdown or a residual of 0 ends earlier", NULL, 1, MOST_INT, 0},

{"Stopping", "steps", 0, CLI_INT, ON_jacobi, AT(field_steps), "N",
 "to make, at most (100)", NULL, 1, MOST_INT, 100},
{"Stopping", "steps", 0, CLI_INT, ON_life, AT(life_steps), "N",
 "to make in a trial (1000)", NULL, 1, 1e9, 1000},
{"Stopping", "rtol", 0, CLI_REAL, ON_jacobi, AT(field_rtol), "R",
 "stop at a measured step that changes the field by no more than R times the "
 "change of the first step, in the Euclidean norm (0: make all)", NULL, 0, HUGE_VAL, 0},
{"Stopping", "norm-every", 0, CLI_INT, ON_jacobi, AT(norm_every), "M",
 "measure the change of every M-th step (with --rtol 64)", NULL, 1, MOST_INT, 0},

{"The problem", "type", 0, CLI_CHOICE, ON_jacobi | ON_compare, AT(type), "NAME",
 "of a cell of a GRID (double)", &cli_axis_type, 0, 0, 0},
{"The problem", "periodic", 0, CLI_TEXT, ON_jacobi, AT(periodic), "SIDES",
 "directions that close, of the letters x, y and z", NULL, 0, 0, 0},
{"The problem", "boundary", 0, CLI_REAL, ON_jacobi, AT(boundary), "G",
 "value of the cells outside the other sides (0)", NULL, -HUGE_VAL, HUGE_VAL, 0},
{"The problem", "coefficients", 0, CLI_READ, ON_jacobi, AT(coefficients), "C,N|FILE",
 "a step is C times the cell and N times the sum of its neighbours (0 and 1 "
 "over their number); or a coefficient a point and cell, an array for the "
 "cell itself, then one for each neighbour by z, y, x ascending", NULL, 0, 0, 0},
{"The problem", "x0", 0, CLI_READ, ON_jacobi, AT(x0), "FILE",
 "start field, row by row, .npy or plain text; nan is a value (zero)", NULL, 0, 0, 0},
{"The problem", "rhs", 0, CLI_READ, ON_RUNS, AT(rhs),
 "FILE|ones|manufactured|file", "right-hand side (manufactured: b = A x*, x* "
 "uniform in [-1,1] scaled to norm 1); file: the one that MATRIX, "
 "Harwell-Boeing or PETSc, holds", NULL, 0, 0, 0},
{"The problem", "solve", 0, CLI_READ, ON_factor, AT(solve), "RHS",
 "solve with the factor, for each column of the file", NULL, 0, 0, 0},
{"The problem", "rhs-columns", 0, CLI_INT, ON_trsv, AT(rhs_columns), "N",
 "right-hand sides, of ones and manufactured (1)", NULL, 1, 65536, 0},
{"The problem", "x0", 0, CLI_READ, ON_solve, AT(x0), "FILE|file",
 "first guess (zero); file: the one that MATRIX, Harwell-Boeing, holds", NULL, 0, 0, 0},
{"The problem", "seed", 0, CLI_INT, ON_RUNS | ON_trsv, AT(seed), "N",
 "of the manufactured solution (0)", NULL, -MOST_INT, MOST_INT, 0},
{"The problem", "shift", 0, CLI_REAL, ON_MATRIX, AT(shift), "S",
 "A + S I instead of A, whatever MATRIX is; makes a METIS graph's Laplacian "
 "definite (0)", NULL, -HUGE_VAL, HUGE_VAL, 0},
{"The problem", "drop-zeros", 0, CLI_FLAG, ON_MATRIX, AT(drop_zeros), NULL,
 "forget entries that are stored but zero", NULL, 0, 0, 0},
{"The problem", "partition", 0, CLI_READ, ON_DISTRIBUTED, AT(partition), "FILE",
 "the rank of each row, a number a line, as METIS writes it", NULL, 0, 0, 0},
{"The problem", "partitioner", 0, CLI_CHOICE, ON_DISTRIBUTED | ON_partition,
 AT(partitioner), "NAME",
 "for files and irregular galleries metis, unless a single solve has rows in "
 "an order that sends few values; contiguous otherwise; the command "
 "partition: metis", &cli_axis_partitioner, 0, 0, 0},
{"The problem", "parts", 'n', CLI_INT, ON_partition, AT(parts), "PARTS",
 "how many parts to cut the rows into", NULL, 1, 1 << 24, 0},

{"Measuring", "warmup", 0, CLI_INT, ON_DISTRIBUTED | ON_trsv, AT(warmup), "N",
 "runs before the first that counts (solve: 0; others: 1)", NULL, 0, 1e6, -1},
{"Measuring", "repeat", 0, CLI_INT, ON_DISTRIBUTED | ON_trsv | ON_jacobi, AT(repeat), "N",
 "runs that count (solve, jacobi: 1, trsv: 3, the best is reported; compare: 3, bench: "
 "15, the median is)", NULL, 1, 1e6, -1},
{"Measuring", "no-compute", 0, CLI_FLAG, ON_jacobi, AT(no_compute), NULL,
 "of several processes: exchange ghost cells and wait, and compute nothing", NULL, 0, 0, 0},
{"Measuring", "no-communication", 0, CLI_FLAG, ON_jacobi, AT(no_communication), NULL,
 "of several processes: compute steps, without exchanges and waits", NULL, 0, 0, 0},
{"Measuring", "min", 0, CLI_BYTES, ON_pingpong, AT(min_bytes), "BYTES",
 "the smallest message, such as 3000 or 64K (1)", NULL, 1, MOST_BYTES, 1},
{"Measuring", "max", 0, CLI_BYTES, ON_pingpong, AT(max_bytes), "BYTES",
 "the largest message at most, such as 64M (1G)", NULL, 1, MOST_BYTES, MOST_BYTES},
{"Measuring", "edges", 0, CLI_TEXT, ON_life, AT(edges), "N,N,...",
 "several lengths of an edge in place of N, such as 2048,4096", NULL, 0, 0, 0},
{"Measuring", "check", 0, CLI_CHOICE, ON_life, AT(check), "NAME",
 "of the cells after each trial (exact)", &cli_axis_cells, 0, 0, 0},
{"Measuring", "trials", 0, CLI_INT, ON_pingpong | ON_life, AT(trials), "N",
 "trials of each size (5)", NULL, 1, 1000, 5},
{"Measuring", "paper", 0, CLI_FLAG, ON_pingpong, AT(paper), NULL,
 "100,000 round trips a trial below 4 MiB, 10,000 up to 64 MiB, 1,000 above "
 "(at most a second)", NULL, 0, 0, 0},
{"Measuring", "all", 0, CLI_FLAG, ON_compare, AT(every), NULL,
 "on cuda: every method with every loop in every format", NULL, 0, 0, 0},
{"Measuring", "profile", 0, CLI_FLAG, ON_solve, AT(profile), NULL,
 "time every operation, waiting for it (then auto is --loop host)", NULL, 0, 0, 0},
{"Measuring", "decorate", 0, CLI_TEXT, ON_solve, AT(decorate), "SPEC",
 "layers that watch or disturb the queue, such as trace: or chaos(7):", NULL,
 0, 0, 0},

{"Output", "output", 'o', CLI_WRITE, ON_solve | ON_trsv | ON_partition | ON_factor,
 AT(output), "FILE",
 "solution, a column for each of RHS, or part of each row, in the original "
 "row order; - is "
 "standard output; of factor without --solve L", NULL, 0, 0, 0},
{"Output", "output", 'o', CLI_WRITE, ON_jacobi, AT(output), "FILE",
 "field after the last step, .npy; - is standard output", NULL, 0, 0, 0},
{"Output", "png", 0, CLI_WRITE, ON_jacobi, AT(png), "FILE",
 "picture of it, in 3D of its middle plane", NULL, 0, 0, 0},
{"Output", "png", 0, CLI_WRITE, ON_life, AT(png), "FILE",
 "picture of the field after the last step", NULL, 0, 0, 0},
{"Output", "json", 0, CLI_WRITE, ON_RESULTS, AT(json), "FILE|-",
 "report as JSON; - prints it and nothing else", NULL, 0, 0, 0},
{"Output", "history", 0, CLI_WRITE, ON_solve, AT(history), "FILE",
 "iteration and relative residual, tab-separated; before them the column, if "
 "RHS has several", NULL, 0, 0, 0},
{"Output", "html", 0, CLI_WRITE, ON_compare, AT(html), "FILE",
 "one self-contained page: table, times by operation, residual histories",
 NULL, 0, 0, 0},
{"Output", "verbose", 'v', CLI_COUNT, ON_ALL & ~ON_help, AT(verbose), NULL,
 "progress and notes on standard error; twice: what was tried, measured and "
 "rejected", NULL, 0, 0, 0},
{"Output", "quiet", 'q', CLI_FLAG, ON_ALL & ~ON_help, AT(quiet), NULL,
 "print nothing but errors", NULL, 0, 0, 0},
{"Output", "no-progress", 0, CLI_FLAG, ON_RUNS, AT(no_progress), NULL,
 "no progress, not even on a terminal", NULL, 0, 0, 0},
{"Output", "man", 0, CLI_FLAG, ON_help, AT(man), NULL,
 "print the manual page, for man(1)", NULL, 0, 0, 0},
{"Output", "help", 'h', CLI_FLAG, ON_ALL, AT(help), NULL,
 "print help on the command", NULL, 0, 0, 0},
{"Output", "version", 0, CLI_FLAG, ON_ALL, AT(version), NULL,
 "print the version", NULL, 0, 0, 0},
};
/* clang-format on */
enum { OPTIONS = sizeof table / sizeof *table };

bool cli_was_said(const cli_settings *set, const cli_option *o)
{
    const size_t row = (size_t)(o - table);
    return set->said[row / 64] >> row % 64 & 1;
}

tacit_status cli_note_said(cli_settings *set, const cli_option *o)
{
    _Static_assert((int)OPTIONS <= (int)CLI_OPTIONS_MOST, "a bit for each");
    if (o < table || o >= table + OPTIONS) return TACIT_OK;
    const size_t row = (size_t)(o - table);
    if (o->kind == CLI_WRITE && cli_was_said(set, o))
        FAIL(TACIT_INVALID, "--%s is said twice: leave one out", o->name);
    set->said[row / 64] |= UINT64_C(1) << row % 64;
    return TACIT_OK;
}

unsigned cli_command_bit(const cli_command *command)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        if (commands[i] == command) return 1u << i;
    return 0;
}

const cli_option *cli_option_at(const cli_command *command, int i)
{
    const unsigned bit = cli_command_bit(command);
    for (int k = 0; k < OPTIONS; k++)
        if ((table[k].commands & bit) && i-- == 0) return &table[k];
    return NULL;
}

const cli_option *cli_option_find(const cli_command *command, const char *name)
{
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++)
        if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

void cli_set_defaults(cli_settings *set)
{
    *set = (cli_settings){.of_precond.size = sizeof set->of_precond};
    for (int k = 0; k < OPTIONS; k++) {
        char *field = (char *)set + table[k].offset;
        if (table[k].kind == CLI_INT || table[k].kind == CLI_BYTES)
            *(int64_t *)(void *)field = (int64_t)table[k].initial;
        if (table[k].kind == CLI_REAL)
            *(double *)(void *)field = table[k].initial;
    }
}

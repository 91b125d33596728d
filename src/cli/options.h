/* SPDX-License-Identifier: BSD-3-Clause
 * cli/options.h - the command line: one table of commands, one of options, one
 * of choices. Parsing, --help, the man page and the checks all read them. */
#ifndef TCT_CLI_OPTIONS_H
#define TCT_CLI_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tacit/status.h>

#define CLI_COMMANDS(X) \
    X(solve)            \
    X(compare)          \
    X(info)             \
    X(convert) X(partition) X(factor) X(trsv) X(devices) X(bench) X(help)

typedef enum cli_command_id {
#define X(name) CLI_AT_##name,
    CLI_COMMANDS(X)
#undef X
        CLI_COMMAND_COUNT
} cli_command_id;

enum { CLI_OPERANDS_MOST = 2 };

/* What the command line said. Text that was not given is NULL, a number that
 * was not given the default of its row. */
typedef struct cli_settings {
    const struct cli_command *command; /* NULL: --version or plain help */
    const char *operand[CLI_OPERANDS_MOST];
    int operands;
    const char *method, *loop, *comm, *device, *format, *precision, *precond;
    const char *steps, *basis, *reorder, *cycle, *smoother, *precond_precision;
    const char *near_null, *coordinates, *kind, *order, *grid, *scheme, *map;
    const char *upper, *diagonal, *permutation, *solve; /* of a factor */
    int64_t degree, levels, amortize, node_rows, leaves, width, rhs_columns;
    double rtol, atol;
    int64_t max_iterations;
    const char *rhs, *x0;
    int64_t seed;
    double shift;
    bool drop_zeros;
    const char *partition, *partitioner;
    int64_t parts, threads, warmup, repeat;
    int64_t ranks; /* to be started here; 0: none. --gpus says it, too */
    int64_t gpus;
    const char *output, *json, *history, *html, *decorate;
    bool given; /* MATRIX is a factor */
    bool pure;  /* of methods */
    bool oversubscribe, profile, every, quiet, no_progress, help, version, man;
    int verbose;
} cli_settings;

struct cli;
typedef struct cli_command {
    const char *name;
    const char *operands; /* "MATRIX [RHS]" */
    const char *summary;  /* one line */
    const char *about;    /* paragraphs for --help and the man page */
    int takes[2];         /* operands: at least, at most */
    tacit_status (*run)(struct cli *c);
} cli_command;

#define X(name) extern const cli_command cli_command_##name;
CLI_COMMANDS(X)
#undef X
const cli_command *cli_command_at(int i); /* NULL past the end */
/* The one called `name`; if none is, the nearest one's name in `*near`, or
 * NULL. */
const cli_command *cli_command_find(const char *name, const char **near);

/* --- choices ---------------------------------------------------------------
 * The values of an option that names one of a few things. What this build
 * lacks is a row with a reason. */
typedef struct cli_choice {
    const char *name, *summary;
    const char *reason; /* why this build cannot have it, NULL if it can */
    bool needs_gpu;     /* ... and a machine must have one too */
} cli_choice;

typedef bool (*cli_row_fn)(int i, cli_choice *out); /* false past the end */

typedef struct cli_axis {
    const char *name;   /* "method" */
    const char *plural; /* "methods" */
    bool automatic;     /* "auto" is a value too */
    cli_row_fn row;
} cli_axis;

extern const cli_axis cli_axis_device, cli_axis_loop, cli_axis_comm,
    cli_axis_method, cli_axis_format, cli_axis_gpu_format, cli_axis_precision,
    cli_axis_order, cli_axis_precond, cli_axis_cycle, cli_axis_smoother,
    cli_axis_precond_precision, cli_axis_partitioner, cli_axis_basis,
    cli_axis_kind, cli_axis_rows_order, cli_axis_scheme, cli_axis_map,
    cli_axis_decorator;

/* Why row `row` of `axis` cannot be had in this process, NULL if it can. */
const char *cli_choice_missing(const cli_axis *axis, const cli_choice *row);

/* Why this process can use no GPU, NULL if it can. The first call starts CUDA;
 * the answer stays. */
const char *cli_gpu_reason(void);

/* Is `value` one of the axis, and can this build have it?
 * Errors      INVALID (unknown, with the nearest one), UNSUPPORTED (with the
 *             reason). */
tacit_status cli_axis_check(const cli_axis *axis, const char *value);

/* The values that this build can have (or `all`), "a, b, c", into `text`
 * [size]. */
void cli_axis_list(const cli_axis *axis, bool all, char *text, size_t size);

/* Format `i` of `device` as --format takes it, and on a GPU each format that
 * packs values once more with all of them in double: "sell", "sell/f64". False
 * past the end. */
enum { CLI_FORMAT = 40 };
bool cli_format_at(const char *device, int i, char name[CLI_FORMAT]);
/* Is that one no other than the one before it, which `packed` values or not?
 * Where that one does not fit, nor will this. */
bool cli_format_repeats(const char *name, bool packed);

/* --- options -------------------------------------------------------------- */
typedef enum {
    CLI_FLAG,   /* bool, no value       */
    CLI_COUNT,  /* int, how often given */
    CLI_TEXT,   /* const char *         */
    CLI_READ,   /* ... a file           */
    CLI_WRITE,  /* ... a file           */
    CLI_CHOICE, /* const char *         */
    CLI_INT,    /* int64_t              */
    CLI_REAL    /* double               */
} cli_kind;

typedef struct cli_option {
    const char *group; /* heading in the help */
    const char *name;  /* without its dashes  */
    char message;      /* 0: none             */
    cli_kind kind;
    unsigned commands; /* bits: which take it */
    size_t offset;     /* into cli_settings   */
    const char *value; /* "FILE", NULL for flags */
    const char *help;
    const cli_axis *axis;        /* the values of a CLI_CHOICE, or a hint */
    double least, most, initial; /* of numbers */
} cli_option;

/* Option `i` of `command`, NULL past the end. */
const cli_option *cli_option_at(const cli_command *command, int i);

/* Read the command line. `out->help`, `out->version` are for the caller.
 * Errors      INVALID, UNSUPPORTED. */
tacit_status cli_parse(int argc, char **argv, cli_settings *out);

/* Print help on `command`, or on all of the program where it is NULL; the
 * page for man(1). */
void cli_print_help(FILE *to, const cli_command *command);
void cli_print_man(FILE *to);

#endif

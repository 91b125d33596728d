/* SPDX-License-Identifier: BSD-3-Clause
 * cli/options.h - the command line: one table of commands, one of options, one
 * of choices. Parsing, --help, the man page and the checks all read them. */
#ifndef TCT_CLI_OPTIONS_H
#define TCT_CLI_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tacit/precond.h>

#define CLI_COMMANDS(X) \
    X(solve)            \
    X(compare)          \
    X(info)             \
    X(convert)          \
    X(partition)        \
    X(factor) X(trsv) X(jacobi) X(life) X(pingpong) X(devices) X(bench) X(help)

typedef enum cli_command_id {
#define X(name) CLI_AT_##name,
    CLI_COMMANDS(X)
#undef X
        CLI_COMMAND_COUNT
} cli_command_id;

enum { CLI_OPERANDS_MOST = 2 };

enum { CLI_OPTIONS_MOST = 128 }; /* rows of the table */

/* What the command line said. Text that was not given is NULL, a number that
 * was not given the default of its row. */
typedef struct cli_settings {
    const struct cli_command *command; /* NULL: --version or plain help */
    const char *operand[CLI_OPERANDS_MOST];
    int operands;
    const char *method, *loop, *comm, *device, *format, *precision, *precond;
    const char *steps, *basis, *reorder;
    tacit_precond_options of_precond; /* by name, also of method direct */
    const char *kind, *order, *grid, *scheme, *map;     /* of factor and trsv */
    const char *upper, *diagonal, *permutation, *solve; /* of a factor */
    const char *way, *type, *periodic, *coefficients;   /* of a grid */
    const char *blocks, *png;
    bool no_compute, no_communication;
    int64_t field_steps, life_steps, depth, norm_every;
    double field_rtol, boundary;
    const char *mode; /* of pingpong and life */
    const char *edges, *check;
    int64_t min_bytes, max_bytes, trials;
    bool paper;
    int64_t amortize, leaves, width, rhs_columns;
    double rtol, atol;
    int64_t max_iterations, iterations;
    const char *norm, *relative_to;
    const char *rhs, *x0;
    int64_t seed;
    double shift;
    bool drop_zeros;
    const char *partition, *partitioner;
    int64_t parts, threads, warmup, repeat;
    int64_t ranks; /* to be started here; 0: none. --gpus says it, too */
    int64_t gpus;
    const char *output, *json, *history, *html, *decorate;
    /* of compare: these settings with the next preconditioner of a list, or
     * NULL; and how the list spells this one, if it has keys, or NULL */
    struct cli_settings *more;
    const char *spelling;
    struct cli_word *words; /* memory of values that were taken apart */
    uint64_t deprecated;    /* bits: keys (cli_key_at) given as options */
    uint64_t said[CLI_OPTIONS_MOST / 64]; /* bits: rows of the table */
    bool given;                           /* MATRIX is a factor */
    bool pure;                            /* of methods */
    bool deterministic;                   /* of the operator */
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
/* Its bit in cli_option.commands. */
unsigned cli_command_bit(const cli_command *command);
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
    cli_axis_order, cli_axis_precond, cli_axis_partitioner, cli_axis_basis,
    cli_axis_kind, cli_axis_rows_order, cli_axis_scheme, cli_axis_map,
    cli_axis_decorator, cli_axis_way, cli_axis_type, cli_axis_mode,
    cli_axis_norm, cli_axis_relative_to, cli_axis_cells;

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
    CLI_FLAG,     /* bool, no value                      */
    CLI_COUNT,    /* int, how often given                */
    CLI_TEXT,     /* const char *                        */
    CLI_READ,     /* ... a file                          */
    CLI_WRITE,    /* ... a file                          */
    CLI_CHOICE,   /* ... a value of the axis             */
    CLI_SHAPE,    /* ... three numbers, 2x1x4, or auto   */
    CLI_INT_AUTO, /* ... a whole number, or auto         */
    CLI_NAMED,    /* ... an option of a preconditioner   */
    CLI_INT,      /* int64_t                             */
    CLI_BYTES,    /* ... perhaps with K, M or G          */
    CLI_REAL      /* double                              */
} cli_kind;

typedef struct cli_option {
    const char *group; /* heading in the help; NULL: a key, no option */
    const char *name;  /* without its dashes  */
    char message;      /* 0: none             */
    cli_kind kind;
    unsigned commands; /* bits: which take it */
    size_t offset; /* into cli_settings; of CLI_NAMED the number of its key */
    const char *value;           /* "FILE", NULL for flags */
    const char *help;            /* NULL: that of CLI_NAMED's option */
    const cli_axis *axis;        /* the values of a CLI_CHOICE, or a hint */
    double least, most, initial; /* of numbers */
} cli_option;

/* Option `i` of `command`, NULL past the end; the one called `name`, or
 * NULL. */
const cli_option *cli_option_at(const cli_command *command, int i);
const cli_option *cli_option_find(const cli_command *command, const char *name);

/* Did the command line have `o`, a row of the table? */
bool cli_was_said(const cli_settings *set, const cli_option *o);
/* Values that no option gives. */
void cli_set_defaults(cli_settings *set);
/* Note that it was said. Of a deprecated option, which is no row, nothing is
 * noted. A file that is written is said once: who says two expects two.
 * Errors      INVALID. */
tacit_status cli_note_said(cli_settings *set, const cli_option *o);
/* Has each option of `set` an effect with the others, on so many ranks (0: not
 * known yet)?
 * Errors      INVALID: what the option belongs to. */
tacit_status cli_check_belongs(const cli_settings *set, int ranks);

/* Set the field of `o`, an option or a key, to what `text` says.
 * Errors      INVALID, UNSUPPORTED: what is wrong with the value, and which
 *             ones there are. */
tacit_status cli_set_value(cli_settings *set, const cli_option *o,
                           const char *text);

/* --- keys ------------------------------------------------------------------
 * A rare option belongs to some values of another option and is a key of
 * these: --precond 'amg(cycle=k,degree=3)'. */
typedef struct cli_key {
    const char *option; /* that has these values: "precond"             */
    const char *values; /* "amg auto"; NULL: each value has the key     */
    const char *old;    /* the deprecated option that it was, of the
                           commands of `row`; NULL: none                */
    cli_option row;
    const tacit_precond_option *named; /* of CLI_NAMED, and whose it is */
    const char *precond;
} cli_key;

/* Make the list of keys: those of preconditioners are the library's.
 * Errors      INVALID (more than there is room for). */
enum { CLI_KEYS_MOST = 64 };
tacit_status cli_keys_open(void);
/* Key `i`, NULL past the end. */
const cli_key *cli_key_at(int i);
/* Does `value` of `option` have the key? */
bool cli_key_fits(const cli_key *key, const char *option, const char *value);
/* The key of `value` that is called `name`, or NULL. */
const cli_key *cli_key_find(const char *option, const char *value,
                            const char *name);
/* The first key that was option `name` [length] of `command`, and its number;
 * or NULL. */
const cli_key *cli_key_of_old(const cli_command *command, const char *name,
                              size_t length, int *number);
/* Has any value of `option` a key? */
bool cli_has_keys(const char *option);
/* The values that have the key, "amg, auto", into `text` [size]. */
void cli_key_values(const cli_key *key, char *text, size_t size);
/* The keys of `value`, "cycle, smoother", or "none", into `text` [size]. */
void cli_key_list(const char *option, const char *value, char *text,
                  size_t size);
/* Has the command line set the field of the key? */
bool cli_key_is_set(const cli_settings *set, const cli_key *key);
/* Do two keys set the same? */
bool cli_keys_are_one(const cli_key *a, const cli_key *b);
/* The value of option `name` of a preconditioner, NULL: not given. */
const char *cli_named(const cli_settings *set, const char *name);
/* The option of a preconditioner that `o` is; NULL: another kind. */
const tacit_precond_option *cli_named_of(const cli_option *o);
/* The values of an option or a key, "v, w, k", or "", into `text` [size]: those
 * that this build has, or all. */
void cli_option_values(const cli_option *o, bool all, char *text, size_t size);

/* Take apart the value of `o` in `set`, NAME or NAME(KEY=VALUE,...), several
 * of them with commas where the command takes a list: the field becomes the
 * name, and the fields of keys their values.
 * Errors      INVALID, UNSUPPORTED, with the column in the value; NO_MEMORY. */
tacit_status cli_expand(cli_settings *set, const cli_option *o);
/* Let `to` have the preconditioner of `from`, with its keys. */
void cli_use_precond(cli_settings *to, const cli_settings *from);
/* Free what cli_parse has allocated; twice does no harm. */
void cli_settings_free(cli_settings *set);

/* Belongs each deprecated option to a value that the command line has?
 * Errors      INVALID. */
tacit_status cli_check_deprecated(const cli_settings *set);
/* The spelling that replaces the deprecated options given, in one line, into
 * `text` [size]; false: none was given. */
bool cli_deprecated_note(const cli_settings *set, char *text, size_t size);

/* Read the command line. `out->help`, `out->version` are for the caller;
 * cli_settings_free comes at the end, after errors, too.
 * Errors      INVALID, UNSUPPORTED, NO_MEMORY. */
tacit_status cli_parse(int argc, char **argv, cli_settings *out);

/* Print help on `command`, or on all of the program where it is NULL; on the
 * grammar of keys; the page for man(1). */
void cli_print_help(FILE *to, const cli_command *command);
void cli_print_keys(FILE *to);
void cli_print_man(FILE *to);

#endif

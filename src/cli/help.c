/* SPDX-License-Identifier: BSD-3-Clause
 * cli/help.c - `tacit help`, --help and the manual page, all from the tables
 * of options.c and the commands, so that none of them drifts. */
#include "cli/cli.h"
#include <ctype.h>
#include <string.h>

enum { INDENT = 26, WIDTH = 79 };

/* Print `text` wrapped, its first line continuing at `column`. */
static void wrap(FILE *to, const char *text, int indent, int column)
{
    for (const char *word = text; *word;) {
        if (*word == '\n') {
            fputc('\n', to);
            word++;
            column = 0;
            continue;
        }
        const int length = (int)strcspn(word, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            fputc('\n', to);
            column = 0;
        }
        const int blanks = column < indent ? indent - column : column > indent;
        fprintf(to, "%*s%.*s", blanks, "", length, word);
        column += blanks + length;
        word += length;
        if (*word == ' ') word++;
    }
    fputc('\n', to);
}

/* The help of `o`, an option or a key, with its values: those that this build
 * has, or all. */
static void describe(const cli_option *o, bool all, char *text, size_t size)
{
    const tacit_precond_option *named = cli_named_of(o);
    const char *initial = o->help ? NULL : named->initial;
    char list[256];
    const size_t used = (size_t)snprintf(
        text, size, "%s%s%s%s", o->help ? o->help : named->summary,
        initial ? " (" : "", initial ? initial : "", initial ? ")" : "");
    cli_option_values(o, all, list, sizeof list);
    if (list[0] && used + 2 < size)
        snprintf(text + used, size - used, ": %s", list);
}

/* `head` from column `indent` on, and the help of `o` beside it. */
static void print_described(FILE *to, int indent, const char *head,
                            const cli_option *o)
{
    char text[512];
    int column = fprintf(to, "%*s%s", indent, "", head);
    if (column >= INDENT) {
        fputc('\n', to);
        column = 0;
    }
    describe(o, false, text, sizeof text);
    wrap(to, text, INDENT, column);
}

static bool share_values(const cli_key *a, const cli_key *b)
{
    if (!a || strcmp(a->option, b->option) != 0) return false;
    if (!a->values || !b->values) return a->values == b->values;
    return strcmp(a->values, b->values) == 0;
}

/* The keys of the values of `o`, under those that have them. */
static void print_keys_of(FILE *to, const cli_option *o)
{
    char head[80];
    const cli_key *key, *last = NULL;
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
        if (strcmp(key->option, o->name) != 0) continue;
        cli_key_values(key, head, sizeof head);
        if (!share_values(last, key)) fprintf(to, "      keys of %s:\n", head);
        snprintf(head, sizeof head, "%s=%s", key->row.name, key->row.value);
        print_described(to, 8, head, &key->row);
        last = key;
    }
}

static void print_option(FILE *to, const cli_option *o)
{
    char head[80];
    const bool keys = cli_has_keys(o->name);
    snprintf(head, sizeof head, "%c%c%s--%s%s%s%s", o->message ? '-' : ' ',
             o->message ? o->message : ' ', o->message ? ", " : "  ", o->name,
             o->value ? " " : "", o->value ? o->value : "",
             keys ? "[(KEY=VALUE,...)]" : "");
    print_described(to, 2, head, o);
    if (keys) print_keys_of(to, o);
}

static void print_options(FILE *to, const cli_command *command)
{
    const char *group = "";
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++) {
        if (strcmp(group, o->group) != 0) fprintf(to, "\n%s\n", o->group);
        group = o->group;
        print_option(to, o);
    }
}

static void print_overview(FILE *to)
{
    fprintf(to,
            "tacit %s: large sparse linear systems with little "
            "communication\n\n",
            tacit_version());
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++) {
        int column =
            fprintf(to, "  tacit %s %s", command->name, command->operands);
        if (column >= 36) {
            fputc('\n', to);
            column = 0;
        }
        wrap(to, command->summary, 36, column);
    }
    fputs("  tacit --version\n\n", to);
    wrap(to,
         "MATRIX is a file, told by its content, or a gallery name such as "
         "poisson3d:100 (tacit info gallery). A file named - is standard input "
         "or output.",
         0, 0);
    fputs("tacit help keys explains --precond 'amg(cycle=k,degree=3)'.\n", to);
    fputs("Exit status: 0 solved, 1 wrong usage, 2 bad input, 3 not converged, "
          "4 breakdown,\n5 machine (memory, device, lost peer).\n",
          to);
}

void cli_print_help(FILE *to, const cli_command *command)
{
    if (!command) {
        print_overview(to);
        return;
    }
    fprintf(to, "usage: tacit %s %s [options]\n\n", command->name,
            command->operands);
    wrap(to, command->about, 0, 0);
    print_options(to, command);
}

/* --- keys ----------------------------------------------------------------- */

static const char *const about_keys[] = {
    "Some values of an option have keys: --precond 'amg(cycle=k,degree=3)' is "
    "preconditioner amg with two of them. What is not named has its default, "
    "and amg, without parentheses or with nothing in them, has all defaults. A "
    "key is given once, to a value that has it; else the one line of complaint "
    "tells the column in the argument.",
    "A shell takes parentheses for its own, so the argument stands in quotes; "
    "--precond amg needs none. A value ends at a comma or at the closing "
    "parenthesis. A value that has one of these itself, such as the name of a "
    "file, stands in double quotes, in which two of them are one: "
    "--precond 'amg(near-null=\"a,b.mtx\")'. Blanks around names, keys and "
    "values do not count.",
    "Of several --precond the last one counts, with its keys alone. compare "
    "takes a list and has rows for each: "
    "--precond 'jacobi,amg,amg(cycle=w,degree=3)'.",
};
enum { ABOUT_KEYS = sizeof about_keys / sizeof *about_keys };

/* The first command that takes option `name`. */
static const cli_option *option_of_any(const char *name)
{
    const cli_command *command;
    const cli_option *o = NULL;
    for (int i = 0; !o && (command = cli_command_at(i)) != NULL; i++)
        o = cli_option_find(command, name);
    return o;
}

/* Is key `i` the first of its option? */
static bool opens_option(int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(cli_key_at(k)->option, cli_key_at(i)->option) == 0)
            return false;
    return true;
}

void cli_print_keys(FILE *to)
{
    const cli_key *key;
    for (int i = 0; i < ABOUT_KEYS; i++) {
        wrap(to, about_keys[i], 0, 0);
        fputc('\n', to);
    }
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++)
        if (opens_option(i)) {
            fprintf(to, "--%s\n", key->option);
            print_keys_of(to, option_of_any(key->option));
        }
}

/* --- the manual page ------------------------------------------------------ */

/* Text for roff: dashes that stay dashes, no accidental requests. */
static void roff(FILE *to, const char *text)
{
    bool at_start = true;
    for (const char *c = text; *c; c++) {
        if (at_start && (*c == '.' || *c == '\'')) fputs("\\&", to);
        if (*c == '-') fputs("\\-", to);
        else if (*c == '\\') fputs("\\e", to);
        else if (*c == '\n') fputs(c[1] == '\n' ? "\n.PP" : "\n", to);
        else fputc(*c, to);
        if (*c == '\n' && c[1] == '\n') {
            fputc('\n', to);
            c++;
        }
        at_start = *c == '\n';
    }
}

static void roff_option(FILE *to, const cli_option *o)
{
    char text[512];
    fputs(".TP\n", to);
    if (o->message) fprintf(to, "\\fB\\-%c\\fR, ", o->message);
    fputs("\\fB\\-\\-", to);
    roff(to, o->name);
    fputs("\\fR", to);
    if (o->value) {
        fputs(" \\fI", to);
        roff(to, o->value);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    describe(o, true, text, sizeof text);
    roff(to, text);
    fputs(cli_has_keys(o->name) ? "; with keys, see KEYS.\n" : ".\n", to);
}

static void roff_command(FILE *to, const cli_command *command)
{
    fprintf(to, ".SS tacit %s %s\n", command->name, command->operands);
    roff(to, command->about);
    fputc('\n', to);
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++)
        roff_option(to, o);
}

static void roff_key(FILE *to, const cli_key *key)
{
    char values[64], text[512];
    cli_key_values(key, values, sizeof values);
    fputs(".TP\n\\fB\\-\\-", to);
    roff(to, key->option);
    fputs("\\fR ", to);
    roff(to, values);
    fputs(": \\fB", to);
    roff(to, key->row.name);
    fputs("\\fR=\\fI", to);
    roff(to, key->row.value);
    fputs("\\fR\n", to);
    describe(&key->row, true, text, sizeof text);
    roff(to, text);
    fputs(".\n", to);
}

static void roff_keys(FILE *to)
{
    const cli_key *key;
    fputs(".SH KEYS\n", to);
    for (int i = 0; i < ABOUT_KEYS; i++) {
        if (i > 0) fputs(".PP\n", to);
        roff(to, about_keys[i]);
        fputc('\n', to);
    }
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) roff_key(to, key);
}

/* Each deprecated option with the keys that took its place. */
static void roff_deprecated(FILE *to)
{
    const cli_key *key;
    fputs(".SH DEPRECATED SPELLINGS\n", to);
    roff(to, "These options became keys. They are still taken, with one "
             "warning on standard error that spells what to write now; an "
             "option and the key of the same meaning are not taken together.");
    fputc('\n', to);
    for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
        char values[64];
        if (!key->old) continue;
        cli_key_values(key, values, sizeof values);
        fputs(".TP\n\\fB\\-\\-", to);
        roff(to, key->old);
        fputs("\\fR \\fI", to);
        roff(to, key->row.value);
        fputs("\\fR\nkey ", to);
        roff(to, key->row.name);
        fputs(" of \\-\\-", to);
        fprintf(to, "%s %s.\n", key->option, values);
    }
}

typedef struct {
    const char *tag, *text; /* NULL: past the end */
} entry;

static const entry exits[] = {
    {"0", "solved, or done"},
    {"1", "wrong usage, or something that this build lacks"},
    {"2", "bad input: a file, a matrix, a size"},
    {"3", "not converged, or interrupted; the report and the output are of the "
          "best iterate, or of the last one if none is better than the first "
          "guess"},
    {"4", "breakdown: not positive definite, or not finite"},
    {"5", "the machine: memory, device, a lost peer"},
    {NULL, NULL},
};

static const entry variables[] = {
    {"OMP_NUM_THREADS", "threads of a process, where --threads does not say"},
    {"TACIT_ISA", "base, avx2 or avx512: instructions of less than the "
                  "processor has"},
    {"TACIT_AMG_SETUP", "host: levels of --precond amg are made by the host, "
                        "also where the device "
                        "could"},
    {"TACIT_STORE", "host: formats of a GPU are made by the host, also where "
                    "the device could"},
    {"TACIT_AMG_COARSE", "launches: each operation of coarse levels of "
                         "--precond amg is a kernel on a GPU, which else takes "
                         "one for all"},
    {"TACIT_LAPACK", "the library of LAPACK and BLAS, for --precond direct "
                     "(libopenblas.so.0, liblapack.so.3)"},
    {"TACIT_PATIENCE",
     "seconds after which a process that the others wait for, in a sum or an "
     "exchange of a solve or between those of --repeat, is given up and the "
     "job ends with status 5; 0: never (60)"},
    {"TACIT_NCCL", "the library of NCCL, for --comm nccl (libnccl.so.2); "
                   "the program sets NCCL_GRAPH_MIXING_SUPPORT=0 where the "
                   "environment has none"},
    {"TACIT_NVSHMEM",
     "the library of NVSHMEM, for --comm nvshmem (libnvshmem_host.so.3); "
     "NVSHMEM_DISABLE_NVLS=1 and, where all GPUs are of one machine and reach "
     "each other, NVSHMEM_REMOTE_TRANSPORT=none and "
     "NVSHMEM_DISABLE_LOCAL_ONLY_PROXY=1 are set then, where they are not set"},
    {"TACIT_NVSHMEM_MODULE",
     "the module for GPUs that do not reach each other's memory, as of several "
     "machines (libtacit_nvshmem.so, beside the library or the program)"},
    {"TACIT_GPU_AWARE_MPI",
     "yes or no: --comm mpi does, or does not, give MPI memory of GPUs; auto: "
     "as the library says of itself (auto)"},
    {"TACIT_EARLY", "no: no kernel is on a GPU before the one in front of it "
                    "has ended"},
    {"TACIT_NCCL_LEADS", "no: with --comm nccl the local product may begin "
                         "before NCCL's kernels"},
    {"TACIT_OVERSUBSCRIBE", "set: as --oversubscribe, processes may share a "
                            "GPU, which is slow and for "
                            "tests"},
    {NULL, NULL},
};

static const char *const paragraphs[] = {
    "Tacit solves sparse symmetric positive definite systems A x = b on one "
    "process or many.\nRun it alone, or with many processes under mpirun; or "
    "on "
    "this machine with --ranks N, or --gpus N for GPUs, which need no mpirun: "
    "all then exit with the same status, and the first of them prints.",
    "MATRIX is a file, told by its content (Matrix Market, Harwell-Boeing, "
    "Rutherford-Boeing, PETSc binary, SciPy .npz, METIS graph, .tacit; gzip "
    "and "
    "xz are seen through), or a gallery name such as poisson3d:100; tacit info "
    "gallery lists them.",
    "In place of a file, - is standard input, which the first process reads, "
    "or standard output, where nothing else is printed then; each can be one "
    "file only. A matrix or a vector goes there in Matrix Market.",
    "What is written appears whole or not at all, under its name when it is "
    "complete. A file that is read, or written by another option, is not "
    "written over: that is wrong usage, under whatever names it is given.",
    "The first interrupt (Ctrl-C) or SIGTERM ends a solve after the iteration: "
    "the report and all outputs are written, and the exit status is 3. The "
    "second one kills, and so does the first at any other time. With "
    "--ranks or --gpus it may go to the program alone, which passes it on; if "
    "this is killed, so are all, and if one of them is killed the others end "
    "with status 5 and name it.",
    "Each process has one GPU of its machine. Where there are more processes "
    "than GPUs that is refused with status 5, unless --oversubscribe is given, "
    "which is for tests.",
    "A process uses as many threads as it may use processors, shared with the "
    "other processes of this run on the machine, or as OMP_NUM_THREADS or "
    "--threads says. The report says how many they were. mpirun may bind a "
    "process to one processor: see its --bind-to.",
};

static void roff_entries(FILE *to, const char *title, const entry *e)
{
    fprintf(to, ".SH %s\n", title);
    for (; e->tag; e++) {
        fprintf(to, ".TP\n.B %s\n", e->tag);
        roff(to, e->text);
        fputs(".\n", to);
    }
}

void cli_print_man(FILE *to)
{
    fprintf(to,
            ".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
            ".\\\" Made by: tacit help --man\n"
            ".TH TACIT 1 \"\" \"tacit %s\" \"User Commands\"\n"
            ".SH NAME\ntacit \\- solve large sparse linear systems\n"
            ".SH SYNOPSIS\n",
            tacit_version());
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        fprintf(to, ".B tacit %s\n%s%s.br\n", command->name, command->operands,
                command->operands[0] ? "\n" : "");
    fputs(".B tacit \\-\\-version\n.SH DESCRIPTION\n", to);
    for (size_t i = 0; i < sizeof paragraphs / sizeof *paragraphs; i++) {
        if (i > 0) fputs(".PP\n", to);
        roff(to, paragraphs[i]);
        fputc('\n', to);
    }
    fputs(".SH COMMANDS\n", to);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        roff_command(to, command);
    roff_keys(to);
    roff_deprecated(to);
    roff_entries(to, "EXIT STATUS", exits);
    roff_entries(to, "ENVIRONMENT", variables);
    fputs(".SH EXAMPLES\n.nf\n", to);
    roff(to, "tacit solve poisson3d:100 --rtol 1e-8\n"
             "mpirun -np 4 tacit solve bone.mtx.gz b.mtx -o x.mtx --json "
             "report.json\n"
             "tacit solve bone.mtx.gz --gpus 2\n"
             "tacit solve poisson3d:100 --method flexible --precond "
             "'amg(cycle=k,degree=3)'\n"
             "tacit compare elasticity3d:30 --html compare.html\n"
             "tacit jacobi star2d1r:4096x4096 --steps 1000 --type float "
             "--boundary 1 --png field.png\n"
             "mpirun -np 4 tacit jacobi star2d1r:4096x4096 --blocks 2x2\n");
    fputs(".fi\n", to);
}

/* --- the command ---------------------------------------------------------- */

static tacit_status no_command(const char *word, const char *near)
{
    FAIL(TACIT_INVALID, "no command '%s'%s%s%s", word,
         near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static tacit_status help_run(cli *c)
{
    const char *word = c->set.operands ? c->set.operand[0] : NULL;
    const char *near = NULL;
    const bool keys = word && strcmp(word, "keys") == 0;
    const cli_command *about =
        word && !keys ? cli_command_find(word, &near) : NULL;
    if (word && !keys && !about) return no_command(word, near);
    if (c->rank != 0) return TACIT_OK;
    if (c->set.man) cli_print_man(stdout);
    else if (keys) cli_print_keys(stdout);
    else cli_print_help(stdout, about);
    return TACIT_OK;
}

const cli_command cli_command_help = {
    .name = "help",
    .operands = "[COMMAND|keys]",
    .summary = "this text, or that of a command",
    .about = "Print help on a command, on keys of values, or the list of "
             "commands.",
    .takes = {0, 1},
    .run = help_run,
};

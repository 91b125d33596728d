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

/* The help of `o` with its values: those that this build has, or all. */
static void describe(const cli_option *o, bool all, char *text, size_t size)
{
    const size_t used = (size_t)snprintf(text, size, "%s", o->help);
    if (!o->axis || used + 2 >= size) return;
    char list[256];
    cli_axis_list(o->axis, all, list, sizeof list);
    snprintf(text + used, size - used, ": %s", list);
}

static void print_option(FILE *to, const cli_option *o)
{
    char head[80], text[512];
    snprintf(head, sizeof head, "%c%c%s--%s%s%s", o->message ? '-' : ' ',
             o->message ? o->message : ' ', o->message ? ", " : "  ", o->name,
             o->value ? " " : "", o->value ? o->value : "");
    int column = fprintf(to, "  %s", head);
    if (column >= INDENT) {
        fputc('\n', to);
        column = 0;
    }
    describe(o, false, text, sizeof text);
    wrap(to, text, INDENT, column);
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
    fputs(".\n", to);
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

typedef struct {
    const char *tag, *text; /* NULL: past the end */
} entry;

static const entry exits[] = {
    {"0", "solved, or done"},
    {"1", "wrong usage, or something that this build lacks"},
    {"2", "bad input: a file, a matrix, a size"},
    {"3", "not converged, or interrupted; the report and the output are of the "
          "best iterate"},
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
    "the report and all outputs are of the best iterate, and the exit status "
    "is 3. The second one kills, and so does the first at any other time. With "
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
    roff_entries(to, "EXIT STATUS", exits);
    roff_entries(to, "ENVIRONMENT", variables);
    fputs(".SH EXAMPLES\n.nf\n", to);
    roff(to, "tacit solve poisson3d:100 --rtol 1e-8\n"
             "mpirun -np 4 tacit solve bone.mtx.gz b.mtx -o x.mtx --json "
             "report.json\n"
             "tacit solve bone.mtx.gz --gpus 2\n"
             "tacit compare elasticity3d:30 --html compare.html\n");
    fputs(".fi\n", to);
}

/* --- the command ---------------------------------------------------------- */

static tacit_status help_run(cli *c)
{
    const char *word = c->set.operands ? c->set.operand[0] : NULL;
    const char *near = NULL;
    const cli_command *about = word ? cli_command_find(word, &near) : NULL;
    if (word && !about)
        FAIL(TACIT_INVALID, "no command '%s'%s%s%s", word,
             near ? ": did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    if (c->rank != 0) return TACIT_OK;
    if (c->set.man) cli_print_man(stdout);
    else cli_print_help(stdout, about);
    return TACIT_OK;
}

const cli_command cli_command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "this text, or that of a command",
    .about = "Print help on a command, or the list of commands.",
    .takes = {0, 1},
    .run = help_run,
};

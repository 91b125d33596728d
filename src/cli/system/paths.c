/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/paths.c - the files of a command line, in options and operands: no
 * output replaces an input or another output, under any name. Checked before
 * anything long. */
#include "cli/report/report.h"
#include "cli/system/problem.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file as it was named, and what it is. */
enum { SAID = 48, NAMED_MOST = 32 };
typedef struct {
    char said[SAID]; /* "-o", "MATRIX" */
    const char *path;
    bool writes, exists;
    struct stat about;       /* of the file, or of the folder of a new one */
    char leaf[NAME_MAX + 1]; /* ... and its name in it                        */
} named;

typedef struct {
    named file[NAMED_MOST];
    int count;
    cli_factor_names companions; /* those written with a factor */
} named_list;

/* Is it standard output or input? */
static bool is_standard(const named *n)
{
    if (n->writes) return tacit_file_is_stdout(n->path);
    return strcmp(n->path, "-") == 0;
}

static const char *shown(const named *n)
{
    if (!is_standard(n)) return n->path;
    return n->writes ? "standard output" : "standard input";
}

/* --- names ---------------------------------------------------------------- */

static void add(named_list *all, const char *said, const char *path,
                bool writes)
{
    if (all->count == NAMED_MOST) return;
    named *n = &all->file[all->count++];
    *n = (named){.path = path, .writes = writes};
    snprintf(n->said, sizeof n->said, "%s", said);
}

/* The name of operand `i` in the help: the i-th word, without brackets. */
static void operand_name(const cli_command *command, int i, char *out,
                         size_t size)
{
    const char *word = command->operands;
    for (; i > 0; i--) {
        word += strcspn(word, " ");
        word += *word == ' ';
    }
    word += *word == '[';
    snprintf(out, size, "%.*s", (int)strcspn(word, " |]"), word);
}

static bool is_matrix_word(const char *text)
{
    return tacit_gallery_find(text) || strcmp(text, "gallery") == 0;
}

static void add_operands(const cli *c, named_list *all)
{
    char said[SAID];
    for (int i = 0; i < c->set.operands; i++) {
        const char *text = c->set.operand[i];
        operand_name(c->set.command, i, said, sizeof said);
        const bool matrix = !strcmp(said, "MATRIX") || !strcmp(said, "IN");
        const bool rhs = !strcmp(said, "RHS"), out = !strcmp(said, "OUT");
        if (out || (matrix && !is_matrix_word(text)) ||
            (rhs && !cli_is_rhs_word(text)))
            add(all, said, text, out);
    }
}

static void add_options(const cli *c, named_list *all)
{
    const cli_option *o;
    char said[SAID];
    for (int i = 0; (o = cli_option_at(c->set.command, i)) != NULL; i++) {
        if (o->kind != CLI_READ && o->kind != CLI_WRITE) continue;
        const char *text = NULL;
        memcpy(&text, (const char *)&c->set + o->offset, sizeof text);
        const bool rhs = o->offset == offsetof(cli_settings, rhs);
        const bool x0 = o->offset == offsetof(cli_settings, x0);
        if (!text || (rhs && cli_is_rhs_word(text))) continue;
        if (x0 && c->set.command != &cli_command_jacobi && cli_is_own(text))
            continue;
        double pair[2];
        if (o->offset == offsetof(cli_settings, coefficients) &&
            cli_parse_pair(text, pair))
            continue;
        if (o->message) snprintf(said, sizeof said, "-%c", o->message);
        else snprintf(said, sizeof said, "--%s", o->name);
        add(all, said, text, o->kind == CLI_WRITE);
    }
}

/* Files that keys of --precond name. */
static void add_keys(const cli *c, named_list *all)
{
    const cli_key *key;
    char said[SAID];
    for (const cli_settings *set = &c->set; set; set = set->more)
        for (int i = 0; (key = cli_key_at(i)) != NULL; i++) {
            const tacit_precond_option *o = key->named;
            const char *text = o ? cli_named(set, o->name) : NULL;
            if (!text || o->type != TACIT_OPTION_FILE) continue;
            snprintf(said, sizeof said, "%s of --%s", key->row.name,
                     key->option);
            add(all, said, text, false);
        }
}

/* "L.mtx.gz" with "upper": "L.upper.mtx.gz"; `bare`: "L.upper". */
static void name_companion(const char *path, const char *word, bool bare,
                           char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
    const size_t length = strlen(leaf);
    const size_t packed =
        length > 3 && strcmp(leaf + length - 3, ".gz") == 0 ? 3 : 0;
    size_t stem = length - packed;
    while (stem > 0 && leaf[stem - 1] != '.') stem--;
    stem = stem > 1 ? stem - 1 : length;
    snprintf(out, PATH_MAX, "%.*s.%s%s", (int)(leaf - path) + (int)stem, path,
             word, bare ? "" : leaf + stem);
}

void cli_name_factor(const char *path, cli_factor_names *out)
{
    name_companion(path, "upper", false, out->upper);
    name_companion(path, "diagonal", true, out->diagonal);
    name_companion(path, "perm", true, out->permutation);
}

/* The files that tacit factor -o writes besides L. */
static void add_companions(const cli *c, named_list *all)
{
    const cli_settings *set = &c->set;
    if (strcmp(set->command->name, "factor") != 0 || !set->output || set->solve)
        return;
    const tacit_factor_kind kind = cli_kind_of(set->kind);
    const bool lu = kind == TACIT_FACTOR_LU || kind == TACIT_FACTOR_ILU0;
    cli_name_factor(set->output, &all->companions);
    add(all, "the order beside -o", all->companions.permutation, true);
    if (set->given ? set->upper != NULL : lu)
        add(all, "U beside -o", all->companions.upper, true);
    if (set->given ? set->diagonal != NULL : kind == TACIT_FACTOR_LDLT)
        add(all, "D beside -o", all->companions.diagonal, true);
}

static void list_files(const cli *c, named_list *all)
{
    all->count = 0;
    add_operands(c, all);
    add_options(c, all);
    add_keys(c, all);
    add_companions(c, all);
}

bool cli_output_taken(const cli *c)
{
    named_list all;
    list_files(c, &all);
    bool taken = false;
    for (int i = 0; i < all.count; i++)
        taken = taken || (all.file[i].writes && is_standard(&all.file[i]));
    return taken;
}

/* --- identities ----------------------------------------------------------- */

/* The identity of a new file: `path` with its links resolved, as a folder and a
 * name in it. */
static void identify_new(named *n)
{
    char path[PATH_MAX], link[PATH_MAX];
    snprintf(path, sizeof path, "%s", n->path);
    for (int links = 0; links < 40; links++) {
        const ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0) break;
        link[length] = '\0';
        char *slash = strrchr(path, '/');
        char *at = link[0] == '/' || !slash ? path : slash + 1;
        snprintf(at, sizeof path - (size_t)(at - path), "%s", link);
    }
    char *slash = strrchr(path, '/');
    snprintf(n->leaf, sizeof n->leaf, "%.*s", NAME_MAX,
             slash ? slash + 1 : path);
    if (slash) slash[slash == path] = '\0';
    if (stat(slash ? path : ".", &n->about) != 0) n->leaf[0] = '\0';
}

static void identify(named *n)
{
    const int standard = n->writes ? STDOUT_FILENO : STDIN_FILENO;
    n->exists = (is_standard(n) ? fstat(standard, &n->about)
                                : stat(n->path, &n->about)) == 0;
    if (!n->exists && n->writes && !is_standard(n)) identify_new(n);
}

static bool are_same(const named *a, const named *b)
{
    if (a->exists != b->exists || (!a->exists && !a->leaf[0])) return false;
    return a->about.st_dev == b->about.st_dev &&
           a->about.st_ino == b->about.st_ino && strcmp(a->leaf, b->leaf) == 0;
}

/* --- checks --------------------------------------------------------------- */

/* Two names of one thing that is not a file: a terminal and /dev/null take all
 * output; a pipe can be read once, and written by one. */
static tacit_status check_flow(const named *a, const named *b)
{
    const bool standard = is_standard(a) && is_standard(b);
    if (a->writes != b->writes || (!standard && S_ISCHR(a->about.st_mode)))
        return TACIT_OK;
    if (standard)
        FAIL(TACIT_INVALID,
             "%s and %s: only one of them can be standard %s: name a file for "
             "the other",
             a->said, b->said, a->writes ? "output" : "input");
    FAIL(TACIT_INVALID, "%s %s and %s %s are one pipe: give each its own",
         a->said, shown(a), b->said, shown(b));
}

/* Two names of one file, of which at least one is written. */
static tacit_status check_file(const named *a, const named *b)
{
    if (!b->writes) return check_file(b, a);
    if (a->writes)
        FAIL(TACIT_INVALID,
             "%s %s and %s %s are one file, and one would be written over the "
             "other: give two names",
             a->said, shown(a), b->said, shown(b));
    FAIL(TACIT_INVALID,
         "%s %s would be written over %s %s, which is read: give it another "
         "name",
         b->said, shown(b), a->said, shown(a));
}

static tacit_status check_pair(const named *a, const named *b)
{
    const bool standard = is_standard(a) && is_standard(b);
    if (standard && a->writes == b->writes) return check_flow(a, b);
    if (!are_same(a, b)) return TACIT_OK;
    const bool flows =
        a->exists && !S_ISREG(a->about.st_mode) && !S_ISBLK(a->about.st_mode);
    if (flows) return check_flow(a, b);
    if (!a->writes && !b->writes) return TACIT_OK;
    return check_file(a, b);
}

/* A right-hand side that is not a file, though similar to one of the words. */
static tacit_status check_rhs(const named *n)
{
    const bool rhs = !strcmp(n->said, "RHS") || !strcmp(n->said, "--rhs");
    const char *near = rhs && !n->exists ? cli_near_rhs_word(n->path) : NULL;
    if (!near) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s '%s': no such file: did you mean '%s'? (ones, manufactured, file, "
         "or a file)",
         n->said, n->path, near);
}

/* A right-hand side or first guess in the matrix's file needs a file that can
 * be read again. */
static tacit_status check_own(const cli *c)
{
    const bool operand = c->set.operands > 1 && cli_is_own(c->set.operand[1]);
    const bool rhs = operand || cli_is_own(c->set.rhs);
    if ((!rhs && !cli_is_own(c->set.x0)) || c->set.operands == 0)
        return TACIT_OK;
    const char *matrix = c->set.operand[0];
    const bool standard = strcmp(matrix, "-") == 0;
    if (!standard && !is_matrix_word(matrix)) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "--%s file: %s is no file that can be read once more: name a file",
         rhs ? "rhs" : "x0", standard ? "standard input" : matrix);
}

tacit_status cli_check_paths(const cli *c)
{
    if (c->rank != 0) return tacit_world_agree(c->world, TACIT_OK);
    named_list all;
    list_files(c, &all);
    if (!c->set.quiet && !cli_output_taken(c))
        add(&all, "the report on", "-", true);
    tacit_status status = check_own(c);
    for (int i = 0; i < all.count; i++) identify(&all.file[i]);
    for (int i = 0; i < all.count && status >= 0; i++)
        status = check_rhs(&all.file[i]);
    for (int i = 0; i < all.count && status >= 0; i++)
        for (int k = 0; k < i && status >= 0; k++)
            status = check_pair(&all.file[k], &all.file[i]);
    return tacit_world_agree(c->world, status);
}

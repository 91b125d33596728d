/* SPDX-License-Identifier: BSD-3-Clause
 * cli/parse.c - the parser of the command line. Options may stand before and
 * after operands; their values are checked strictly. */
#include "cli/base.h"
#include "cli/options.h"
#include <string.h>
#include <tacit/solver.h>

typedef struct parser {
    char **argv; /* what is still to be read */
    int left;
    bool only_operands; /* after "--" */
    cli_settings *set;
} parser;

static tacit_status unknown_option(const cli_command *command, const char *word)
{
    const char *names[CLI_OPTIONS_MOST];
    size_t count = 0;
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++)
        names[count++] = o->name;
    const char *bare = word + strspn(word, "-");
    const char *near =
        strlen(bare) > 1 ? cli_nearest(bare, names, count) : NULL;
    if (near)
        FAIL(TACIT_INVALID,
             "unknown option '%s': did you mean '--%s'? (tacit help %s)", word,
             near, command->name);
    FAIL(TACIT_INVALID, "unknown option '%s' (tacit help %s)", word,
         command->name);
}

/* A value that may have keys is taken apart when all words are read: the last
 * one counts. */
static tacit_status set_value(parser *p, const cli_option *o, const char *text)
{
    const bool keys =
        cli_has_keys(o->name) && cli_option_find(p->set->command, o->name) == o;
    if (keys && text && text[0]) {
        memcpy((char *)p->set + o->offset, &text, sizeof text);
        return TACIT_OK;
    }
    return cli_set_value(p->set, o, text);
}

/* The value of `o`: what is glued to it, or the next word. */
static tacit_status take_value(parser *p, const cli_option *o,
                               const char *glued)
{
    const bool wants = o->kind != CLI_FLAG && o->kind != CLI_COUNT;
    if (!wants && glued)
        FAIL(TACIT_INVALID, "--%s takes no value ('%s' given)", o->name, glued);
    if (wants && !glued) {
        if (p->left == 0)
            FAIL(TACIT_INVALID, "--%s: its %s is missing", o->name, o->value);
        glued = *p->argv++;
        p->left--;
    }
    TRY(cli_note_said(p->set, o));
    return set_value(p, o, glued);
}

/* A deprecated option, whose place is a key's. */
static tacit_status take_old(parser *p, const cli_key *key, int number,
                             const char *glued)
{
    cli_option o = key->row;
    o.group = "";
    o.name = key->old;
    p->set->deprecated |= UINT64_C(1) << number;
    return take_value(p, &o, glued);
}

static tacit_status take_long(parser *p, const char *word)
{
    const cli_command *command = p->set->command;
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    int number = 0;
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(command, i)) != NULL; i++)
        if (strlen(o->name) == length - 2 &&
            strncmp(o->name, word + 2, length - 2) == 0)
            return take_value(p, o, equals ? equals + 1 : NULL);
    const cli_key *key = cli_key_of_old(command, word + 2, length - 2, &number);
    if (key) return take_old(p, key, number, equals ? equals + 1 : NULL);
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)(length < 63 ? length : 63), word);
    return unknown_option(command, bare);
}

/* -v, -qv, -o FILE, -oFILE */
static tacit_status take_messages(parser *p, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        const cli_option *o;
        for (int i = 0; (o = cli_option_at(p->set->command, i)) != NULL; i++)
            if (o->message == *c) break;
        if (!o) return unknown_option(p->set->command, word);
        const bool wants = o->kind != CLI_FLAG && o->kind != CLI_COUNT;
        TRY(take_value(p, o, wants && c[1] ? c + 1 : NULL));
        if (wants) return TACIT_OK;
    }
    return TACIT_OK;
}

static tacit_status take_operand(parser *p, const char *word)
{
    cli_settings *set = p->set;
    if (word[0] == '\0')
        FAIL(TACIT_INVALID, "an empty operand: tacit %s %s", set->command->name,
             set->command->operands);
    if (set->operands == set->command->takes[1])
        FAIL(TACIT_INVALID, "'%s' is one operand too many: tacit %s %s", word,
             set->command->name, set->command->operands);
    set->operand[set->operands++] = word;
    return TACIT_OK;
}

static tacit_status take_word(parser *p)
{
    const char *word = *p->argv++;
    p->left--;
    if (p->only_operands || word[0] != '-' || word[1] == '\0')
        return take_operand(p, word);
    if (strcmp(word, "--") == 0) {
        p->only_operands = true;
        return TACIT_OK;
    }
    return word[1] == '-' ? take_long(p, word) : take_messages(p, word);
}

static tacit_status find_command(const char *word, const cli_command **out)
{
    const char *near = NULL;
    *out = cli_command_find(word, &near);
    if (*out) return TACIT_OK;
    if (near)
        FAIL(TACIT_INVALID, "unknown command '%s': did you mean '%s'?", word,
             near);
    FAIL(TACIT_INVALID, "unknown command '%s' (tacit help)", word);
}

/* Would the method refuse the preconditioner once it is set up? info has none,
 * and compare leaves out rows. */
static tacit_status check_varying(const cli_settings *set)
{
    const bool alone = set->command == &cli_command_solve;
    const char *name = !set->method && alone ? "cg" : set->method;
    const tacit_method *method = tacit_method_find(name);
    const char *cycle = cli_named(set, "cycle");
    const bool varies = cycle && strcmp(cycle, "k") == 0;
    if (!varies || !method || method->varying_precond) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "cycle k is not the same linear map each time, which method %s "
         "needs: give --method flexible",
         name);
}

static tacit_status check_precond(const cli_settings *set)
{
    const bool autos = set->precond && strcmp(set->precond, "auto") == 0;
    if (autos && set->command != &cli_command_solve)
        FAIL(TACIT_INVALID,
             "--precond auto is for solve: compare has a row for each, and "
             "info takes one by its name");
    if (autos && set->deterministic)
        FAIL(TACIT_INVALID,
             "--precond auto decides by time, and --deterministic by none: "
             "name the preconditioner");
    return check_varying(set);
}

/* Options that make sense only together. */
static tacit_status check_together(const cli_settings *set)
{
    if (set->operands < set->command->takes[0])
        FAIL(TACIT_INVALID, "tacit %s needs %s (tacit help %s)",
             set->command->name, set->command->operands, set->command->name);
    TRY(cli_check_deprecated(set));
    for (const cli_settings *item = set; item; item = item->more)
        TRY(check_precond(item));
    if (set->partition && set->partitioner)
        FAIL(TACIT_INVALID, "--partition and --partitioner: give one of them");
    return cli_check_belongs(set, 0);
}

/* The options whose values have keys. */
static tacit_status expand(cli_settings *set)
{
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(set->command, i)) != NULL; i++)
        if (cli_has_keys(o->name)) TRY(cli_expand(set, o));
    return TACIT_OK;
}

/* Processes that are to be started here. --gpus N is --ranks N --device
 * cuda. */
static tacit_status check_processes(cli_settings *set)
{
    const char *option = set->gpus > 0 ? "gpus" : "ranks", *comm = set->comm;
    if (set->gpus > 0 && set->ranks > 0)
        FAIL(TACIT_INVALID, "--gpus and --ranks: give one of them");
    if (set->gpus > 0 && set->device && strcmp(set->device, "host") == 0)
        FAIL(TACIT_INVALID, "--gpus is for --device cuda: processes on the "
                            "host are --ranks");
    if (set->gpus > 0) {
        TRY(cli_axis_check(&cli_axis_device, "cuda"));
        set->ranks = set->gpus;
        set->device = "cuda";
    }
    if (!set->device && (set->command == &cli_command_life ||
                         set->command == &cli_command_pingpong))
        set->device = "host";
    const bool several = set->ranks > 1 && comm;
    if (several && (strcmp(comm, "mpi") == 0 || strcmp(comm, "self") == 0))
        FAIL(TACIT_INVALID,
             "--comm %s is not for --%s %d: leave one of them out%s", comm,
             option, (int)set->ranks,
             comm[0] == 'm' ? ", or start with mpirun" : "");
    return TACIT_OK;
}

tacit_status cli_parse(int argc, char **argv, cli_settings *out)
{
    cli_set_defaults(out);
    parser p = {.argv = argv + 1, .left = argc - 1, .set = out};
    TRY(cli_keys_open());
    if (argc < 2) FAIL(TACIT_INVALID, "which command? (tacit help)");
    const char *first = *p.argv++;
    p.left--;
    out->version = strcmp(first, "--version") == 0;
    out->help = strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0;
    if (out->version || out->help) return TACIT_OK;
    if (first[0] == '-')
        FAIL(TACIT_INVALID, "'%s' before a command (tacit help)", first);
    TRY(find_command(first, &out->command));
    while (p.left > 0) TRY(take_word(&p));
    if (out->help || out->version) {
        out->ranks = 0; /* is said once */
        return TACIT_OK;
    }
    TRY(expand(out));
    TRY(check_together(out));
    return check_processes(out);
}

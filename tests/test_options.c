/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_options.c - the program's command lines, parsed and not run: of
 * each command all pairs of options, in both orders, beside words that take the
 * effect of some. What is refused is in the lists below, and nothing else. */
#include "cli/options.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
// after the headers that it needs
#include <cmocka.h>

enum { WORDS_MOST = 16 };

/* Words of a command line, and the options that it leaves without effect. */
typedef struct {
    const char *words, *in_vain;
} context;

static const context contexts[] = {
    {"solve poisson2d:4", ""},
    {"solve poisson2d:4 b.txt", "seed"},
    {"solve poisson2d:4 --rhs ones", "seed"},
    {"compare poisson2d:4", "type"},
    {"info poisson2d:4", "precond"}, /* jacobi, below */
    {"info gallery", "precond comm device threads shift drop-zeros"},
    {"convert poisson2d:4 out.mtx", ""},
    {"partition poisson2d:4 -n 2", ""},
    {"factor poisson2d:4", ""},
    {"factor poisson2d:4 --kind ic0(leaves=2)", "given"},
    {"factor L.mtx --given", "kind"},
    {"trsv poisson2d:4", ""},
    {"trsv poisson2d:4 b.txt", "seed"},
    {"trsv L.mtx --given", "kind"},
    {"bench spmv poisson2d:4", ""},
    {"bench reduce", "format reorder shift drop-zeros partition partitioner"},
    {"bench exchange", "format reorder shift drop-zeros partition partitioner"},
    {"devices", ""},
};
enum { CONTEXTS = sizeof contexts / sizeof *contexts };

/* Of which one may be there. */
static const char *const exclusive[][2] = {
    {"quiet", "verbose"},
    {"partition", "partitioner"},
    {"kind", "given"},
    {"seed", "rhs"},
    {"iterations", "max-iterations"},
    {"rtol", "iterations"},
    {"atol", "iterations"},
};
enum { EXCLUSIVE = sizeof exclusive / sizeof *exclusive };

static bool is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (; *words; words += strspn(words, " ")) {
        const size_t each = strcspn(words, " ");
        if (each == length && strncmp(words, word, length) == 0) return true;
        words += each;
    }
    return false;
}

static bool are_exclusive(const cli_option *a, const cli_option *b)
{
    for (int i = 0; i < EXCLUSIVE; i++)
        for (int k = 0; k < 2; k++)
            if (strcmp(a->name, exclusive[i][k]) == 0 &&
                strcmp(b->name, exclusive[i][1 - k]) == 0)
                return true;
    return false;
}

/* --- a command line ------------------------------------------------------- */

typedef struct {
    char text[WORDS_MOST][80];
    char *at[WORDS_MOST + 1];
    int count;
} line;

static void add(line *l, const char *word)
{
    assert_true(l->count < WORDS_MOST);
    snprintf(l->text[l->count], sizeof l->text[0], "%s", word);
    l->at[l->count] = l->text[l->count];
    l->at[++l->count] = NULL;
}

static void add_words(line *l, const char *words)
{
    char word[80];
    for (int used = 0; sscanf(words, "%79s%n", word, &used) == 1; words += used)
        add(l, word);
}

/* A value that the option takes. */
static const char *value_of(const cli_option *o)
{
    cli_choice row = {.name = "?"};
    switch (o->kind) {
    case CLI_READ: return strcmp(o->name, "rhs") == 0 ? "ones" : "in.txt";
    case CLI_WRITE: return "out.txt";
    case CLI_SHAPE:
    case CLI_INT_AUTO: return "auto";
    case CLI_BYTES:
    case CLI_INT: return "2";
    case CLI_REAL: return "0.5";
    case CLI_TEXT: return o->axis ? "csr" : "x";
    case CLI_CHOICE:
        if (o->axis == &cli_axis_precond) return "jacobi";
        if (o->axis->automatic) return "auto";
        for (int i = 0; o->axis->row(i, &row); i++)
            if (!cli_choice_missing(o->axis, &row)) return row.name;
        return "auto";
    case CLI_FLAG:
    case CLI_COUNT:
    case CLI_NAMED: break;
    }
    return NULL;
}

static void add_option(line *l, const cli_option *o)
{
    char word[64];
    snprintf(word, sizeof word, "--%s", o->name);
    add(l, word);
    if (value_of(o)) add(l, value_of(o));
}

static tacit_status parsed(line *l)
{
    cli_settings set;
    const tacit_status status = cli_parse(l->count, l->at, &set);
    cli_settings_free(&set);
    return status;
}

/* --- pairs ---------------------------------------------------------------- */

static int faults;

static bool names(const cli_option *o)
{
    char word[64];
    snprintf(word, sizeof word, "--%s", o->name);
    return strstr(tacit_error_message(), word) != NULL;
}

static void check_pair(const context *c, const cli_option *a,
                       const cli_option *b)
{
    line l = {.count = 0};
    add(&l, "tacit");
    add_words(&l, c->words);
    add_option(&l, a);
    add_option(&l, b);
    const bool vain[] = {is_among(c->in_vain, a->name),
                         is_among(c->in_vain, b->name)};
    const bool refused = vain[0] || vain[1] || are_exclusive(a, b);
    const tacit_status status = parsed(&l);
    if (status == (refused ? TACIT_INVALID : TACIT_OK) &&
        (!refused || names(a) || names(b)))
        return;
    faults++;
    print_error("%s --%s --%s: %s, '%s'\n", c->words, a->name, b->name,
                tacit_status_name(status),
                status < 0 ? tacit_error_message() : "");
}

/* Options that are answered at once, without a run, and one that not every
 * machine has. */
static bool is_aside(const cli_option *o)
{
    return is_among("help version man gpus", o->name);
}

static int check_context(const context *c)
{
    int pairs = 0;
    char name[16];
    const char *near;
    const cli_option *a, *b;
    sscanf(c->words, "%15s", name);
    const cli_command *command = cli_command_find(name, &near);
    assert_non_null(command);
    for (int i = 0; (a = cli_option_at(command, i)) != NULL; i++)
        for (int k = 0; (b = cli_option_at(command, k)) != NULL; k++) {
            if (a == b || is_aside(a) || is_aside(b)) continue;
            check_pair(c, a, b);
            pairs++;
        }
    return pairs;
}

static void all_pairs_of_options(void **state)
{
    (void)state;
    int pairs = 0;
    assert_int_equal(cli_keys_open(), TACIT_OK);
    for (int i = 0; i < CONTEXTS; i++) pairs += check_context(&contexts[i]);
    print_message("%d pairs of options\n", pairs);
    assert_int_equal(faults, 0);
    assert_true(pairs > 3000);
}

/* Values, keys and repetitions; NULL: accepted. */
static const struct {
    const char *words, *says;
} lines[] = {
    {"solve poisson2d:4 --precond auto --amortize 3", NULL},
    {"compare poisson2d:4 --precond none --amortize 3", "--amortize belongs"},
    {"compare poisson2d:4 --precond none,jacobi --amortize 3", NULL},
    {"factor L.mtx --given --kind ldlt", "--kind belongs"},
    {"factor L.mtx --given --kind ldlt(width=4)", "--kind belongs"},
    {"factor L.mtx --given --diagonal D --kind ldlt(width=4)", NULL},
    {"factor L.mtx --given --width 4", NULL},
    {"trsv L.mtx --given --kind llt(leaves=2)", NULL},
    {"trsv L.mtx --given --order natural", "order belongs"},
    {"trsv L.mtx --given --kind llt(order=natural)", "--kind belongs"},
    {"factor poisson2d:4 --kind ic0(width=4)", "width belongs to kinds llt"},
    {"factor poisson2d:4 --kind ilu0 --width 4", "width belongs to kinds llt"},
    {"factor poisson2d:4 --kind lu(width=4)", NULL},
    {"info poisson2d:4 --precond amg", NULL},
    {"info poisson2d:4 --precond none", "--precond belongs to info as amg"},
    {"info poisson2d:4 --precond direct", "--precond belongs to info as amg"},
    {"solve poisson2d:4 --rhs manufactured --seed 3", NULL},
    {"solve poisson2d:4 ones --seed 3", "--seed belongs"},
    {"solve poisson2d:4 --json a --json b", "--json is said twice"},
    {"solve poisson2d:4 -o a -ob", "--output is said twice"},
    {"solve poisson2d:4 --rtol 1e-3 --rtol 1e-5", NULL},
    {"solve poisson2d:4 --rtol 1e-400", "nearer to 0 than any double"},
    {"solve poisson2d:4 --atol 0.0000e5", NULL},
    {"solve poisson2d:4 --rtol 0x1p-1080", "nearer to 0 than any double"},
    {"solve poisson2d:4 -qv", "--verbose belongs"},
    {"solve poisson2d:4 --norm preconditioned", "--norm belongs"},
    {"solve poisson2d:4 --norm preconditioned --precond auto",
     "--norm belongs"},
    {"solve poisson2d:4 --norm preconditioned --precond amg", NULL},
    {"solve poisson2d:4 --norm backward --method direct", "--norm belongs"},
    {"solve poisson2d:4 --norm backward --relative-to r0", "-to belongs"},
    {"solve poisson2d:4 --norm scaled --relative-to r0", NULL},
    {"solve poisson2d:4 --precond auto --iterations 9", "--iterations belongs"},
    {"solve poisson2d:4 --method direct --iterations 9",
     "--iterations belongs"},
};

static void values_and_repetitions(void **state)
{
    (void)state;
    assert_int_equal(cli_keys_open(), TACIT_OK);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        line l = {.count = 0};
        add(&l, "tacit");
        add_words(&l, lines[i].words);
        const tacit_status status = parsed(&l);
        const char *says = lines[i].says;
        const char *why = status < 0 ? tacit_error_message() : "";
        if (says ? !strstr(why, says) : status < 0)
            fail_msg("%s: '%s'", lines[i].words, why);
    }
}

static void one_process_has_no_parts(void **state)
{
    (void)state;
    line l = {.count = 0};
    cli_settings set;
    assert_int_equal(cli_keys_open(), TACIT_OK);
    add_words(&l, "tacit solve poisson2d:4 --partitioner boxes");
    assert_int_equal(cli_parse(l.count, l.at, &set), TACIT_OK);
    assert_int_equal(cli_check_belongs(&set, 2), TACIT_OK);
    assert_int_equal(cli_check_belongs(&set, 1), TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "--partitioner belongs to "
                                                  "several processes"));
    cli_settings_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_options),
        cmocka_unit_test(values_and_repetitions),
        cmocka_unit_test(one_process_has_no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_names.c - every row of every registry: its name, the search for
 * it, the answer to a misspelt name, the values of a setting.
 *
 * RUN: np=1,2
 * DEVICE: each */
#include "registries.h"
#include <ctype.h>
#include <limits.h>

/* --- rows ----------------------------------------------------------------- */

static bool is_line(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '\n' || *c == '\t') return false;
    const size_t n = strlen(text);
    return n > 5 && text[0] != ' ' && text[n - 1] != ' ' && text[n - 1] != '.';
}

static bool is_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) &&
            !strchr("-_:", *c))
            return text[0] == 'l' &&
                   !strncmp(text, "like:", 5); /* as published */
    return text[0] != '\0' && strlen(text) < 32;
}

static int count_of(const struct registry *r)
{
    int count = 0;
    while (r->at(count).name) count++;
    return count;
}

static void rows_have_a_name_and_a_line(void **state)
{
    (void)state;
    for (const struct registry *r = registries; r < registries + REGISTRIES;
         r++) {
        const int count = count_of(r);
        if (count < r->least) fail_msg("%s: %d rows", r->what, count);
        assert_string_equal(r->at(0).name, r->first);
        for (int i = 0; i < count; i++) {
            const listed row = r->at(i);
            if (!is_name(row.name)) fail_msg("%s: '%s'", r->what, row.name);
            if (!row.summary || !is_line(row.summary))
                fail_msg("%s '%s': summary '%s'", r->what, row.name,
                         row.summary);
            if (row.reason && !is_line(row.reason))
                fail_msg("%s '%s': reason '%s'", r->what, row.name, row.reason);
            for (int k = 0; k < i; k++)
                assert_string_not_equal(r->at(k).name, row.name);
        }
    }
}

/* Past the end, and before the beginning, is NULL however far. */
static void lists_end(void **state)
{
    (void)state;
    for (const struct registry *r = registries; r < registries + REGISTRIES;
         r++) {
        const int count = count_of(r);
        for (int k = 0; k < 100; k++) assert_null(r->at(count + k).name);
        for (int k = 1; k < 100; k++) assert_null(r->at(-k).name);
        assert_null(r->at(INT_MAX).name);
        assert_null(r->at(INT_MIN).name);
    }
    assert_null(tacit_format_at("nowhere", 0));
    assert_null(tacit_format_at(NULL, 0));
}

/* --- asking by name ------------------------------------------------------- */

/* A row is known by its name, and one that is not to be had says why. */
static void rows_are_known_by_their_names(void **state)
{
    (void)state;
    asked a;
    open_asked(&a);
    for (const struct registry *r = registries; r < registries + REGISTRIES;
         r++)
        for (int i = 0; r->at(i).name; i++) {
            const listed row = r->at(i);
            const tacit_status status = r->ask(&a, row.name);
            if (row.reason && (status != TACIT_UNSUPPORTED ||
                               strlen(tacit_error_message()) < 10))
                fail_msg("%s '%s': %s: %s", r->what, row.name,
                         tacit_status_name(status), tacit_error_message());
            if (status == TACIT_INVALID &&
                strstr(tacit_error_message(), "unknown"))
                fail_msg("%s '%s': %s", r->what, row.name,
                         tacit_error_message());
        }
    close_asked(&a);
}

static bool is_known(const struct registry *r, const char *word)
{
    for (int i = 0; r->at(i).name; i++)
        if (strcmp(r->at(i).name, word) == 0) return true;
    return strcmp(word, "auto") == 0;
}

/* Is a row's name suggested, or the family's that it begins with, or what
 * follows that? */
static bool suggests(const struct registry *r, const char *message)
{
    static const char ask[] = "did you mean '";
    const char *at = strstr(message, ask);
    if (!at) return false;
    at += sizeof ask - 1;
    const size_t n = strcspn(at, "'");
    for (int i = 0; r->at(i).name; i++) {
        const char *name = r->at(i).name, *colon = strchr(name, ':');
        if (!strncmp(name, at, n) && (!name[n] || name + n == colon))
            return true;
        if (colon && !strncmp(colon + 1, at, n) && !colon[1 + n]) return true;
    }
    return n == 4 && !strncmp(at, "auto", 4);
}

static void check_misspelt(asked *a, const struct registry *r, const char *word)
{
    if (!word[0] || is_known(r, word)) return;
    const tacit_status status = r->ask(a, word);
    const char *message = tacit_error_message(), *colon = strchr(word, ':');
    if (status != TACIT_INVALID || !strstr(message, colon ? colon + 1 : word))
        fail_msg("%s '%s': %s: %s", r->what, word, tacit_status_name(status),
                 message);
    if (r->nearest && !suggests(r, message))
        fail_msg("%s '%s': %s does not help", r->what, word, message);
}

/* `name` with one message left out, put in, changed, or changed with the
 * next. */
static void check_misspellings(asked *a, const struct registry *r,
                               const char *name)
{
    const size_t n = strlen(name);
    char word[80];
    for (size_t at = 0; at < n; at++) {
        if (strchr(":(@", name[at]) || (at + 1 < n && name[at + 1] == ':'))
            continue; /* another word */
        snprintf(word, sizeof word, "%.*s%s", (int)at, name, name + at + 1);
        if (strlen(word) > 1) check_misspelt(a, r, word);
        snprintf(word, sizeof word, "%.*sq%s", (int)at, name, name + at);
        check_misspelt(a, r, word);
        snprintf(word, sizeof word, "%s", name);
        word[at] = name[at] == 'q' ? 'k' : 'q';
        check_misspelt(a, r, word);
        if (at + 1 == n) continue;
        word[at] = name[at + 1];
        word[at + 1] = name[at];
        check_misspelt(a, r, word);
    }
}

static void misspelt_names_are_told_the_right_one(void **state)
{
    (void)state;
    asked a;
    open_asked(&a);
    for (const struct registry *r = registries; r < registries + REGISTRIES;
         r++)
        for (int i = 0; r->at(i).name; i++)
            check_misspellings(&a, r, r->at(i).name);
    close_asked(&a);
}

/* Far from every name, with what formats or paths are made of, and very
 * long. */
static void no_word_does_harm(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "%s%s%n", "zzzzzzzzzzzzzzzz", "()", " ", "\xff\xfe", "CG", "-1"};
    asked a;
    char longest[4096];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    open_asked(&a);
    for (const struct registry *r = registries; r < registries + REGISTRIES;
         r++) {
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            if (r->ask == ask_gallery) continue; /* it would be a file */
            const tacit_status status = r->ask(&a, odd[k]);
            if (status != TACIT_INVALID)
                fail_msg("%s '%s': %s", r->what, odd[k],
                         tacit_status_name(status));
            assert_true(strlen(tacit_error_message()) > 10);
        }
        assert_true(r->ask(&a, longest) < 0);
        assert_true(strlen(tacit_error_message()) < 1100);
    }
    close_asked(&a);
}

/* --- settings ------------------------------------------------------------- */

static void settings_refuse_what_makes_no_sense(void **state)
{
    (void)state;
    static const char *const junk[] = {"",    "-1", "nan", "inf", "1e999",
                                       "1x",  "0x", "--",  "1 2", "%n",
                                       "1,5", "zz", "1e-", "None"};
    asked a;
    open_asked(&a);
    for (int i = 0; tacit_solver_setting(i); i++) {
        const char *name = tacit_solver_setting(i)->name;
        for (size_t k = 0; k < sizeof junk / sizeof *junk; k++) {
            const tacit_status status = tacit_solver_set(a.s, name, junk[k]);
            if (status != TACIT_INVALID ||
                !strstr(tacit_error_message(), name) ||
                !strstr(tacit_error_message(), junk[k]))
                fail_msg("%s = '%s': %s: %s", name, junk[k],
                         tacit_status_name(status), tacit_error_message());
        }
        EXPECT(TACIT_INVALID, tacit_solver_set(a.s, name, NULL));
    }
    EXPECT(TACIT_INVALID, tacit_solver_set(a.s, NULL, "1"));
    EXPECT(TACIT_INVALID, tacit_solver_set(NULL, "rtol", "1"));
    close_asked(&a);
}

/* A setting whose summary or header names rows of a registry takes them all. */
static void settings_take_what_is_listed(void **state)
{
    (void)state;
    asked a;
    open_asked(&a);
    for (int i = 0; tacit_solver_setting(i); i++) {
        const char *name = tacit_solver_setting(i)->name;
        int taken = 0;
        for (const struct registry *r = registries; r < registries + REGISTRIES;
             r++)
            for (int k = 0; strcmp(r->what, name) == 0 && r->at(k).name; k++) {
                const listed row = r->at(k);
                const tacit_status status =
                    tacit_solver_set(a.s, name, row.name);
                if (status == TACIT_OK) taken++;
                else assert_int_equal(status, TACIT_UNSUPPORTED);
                if (k == 0) assert_int_equal(status, TACIT_OK);
            }
        const char *const value = strcmp(name, "basis") == 0         ? "newton"
                                  : strcmp(name, "pure") == 0        ? "off"
                                  : strcmp(name, "norm") == 0        ? "scaled"
                                  : strcmp(name, "relative-to") == 0 ? "r0"
                                                                     : "7";
        if (taken == 0) OK(tacit_solver_set(a.s, name, value));
    }
    close_asked(&a);
}

typedef struct {
    tacit_solver *s;
    int calls;
} busy;

static int set_all(void *ctx, int64_t iteration, double residual)
{
    busy *b = ctx;
    (void)iteration;
    (void)residual;
    for (int i = 0; tacit_solver_setting(i); i++) {
        const char *name = tacit_solver_setting(i)->name;
        EXPECT(TACIT_INVALID, tacit_solver_set(b->s, name, "1"));
        if (!strstr(tacit_error_message(), name) ||
            !strstr(tacit_error_message(), "run"))
            fail_msg("%s: %s", name, tacit_error_message());
    }
    EXPECT(TACIT_INVALID, tacit_solver_set_precond(b->s, NULL));
    b->calls++;
    return b->calls >= 3;
}

static void settings_stay_while_a_run_goes_on(void **state)
{
    (void)state;
    asked a;
    open_asked(&a);
    const size_t n = (size_t)tacit_operator_local_rows(a.A);
    double *b = NULL, *x = NULL;
    busy now = {.s = a.s};
    const tacit_stop stop = {
        .size = sizeof stop, .monitor = set_all, .monitor_ctx = &now};
    tacit_result result = {.size = sizeof result};
    OK(tacit_queue_alloc(a.q, n, &b));
    OK(tacit_queue_alloc(a.q, n, &x));
    OK(tacit_queue_fill(a.q, n, 1.0, b));
    OK(tacit_queue_fill(a.q, n, 0.0, x));
    EXPECT(TACIT_INTERRUPTED, tacit_solver_run(a.s, b, x, &stop, &result));
    assert_true(now.calls >= 3);
    for (int i = 0; tacit_solver_setting(i); i++) /* and may be set again */
        OK(ask_setting(&a, tacit_solver_setting(i)->name));
    tacit_queue_free(a.q, &b);
    tacit_queue_free(a.q, &x);
    close_asked(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_a_name_and_a_line),
        cmocka_unit_test(lists_end),
        cmocka_unit_test(rows_are_known_by_their_names),
        cmocka_unit_test(misspelt_names_are_told_the_right_one),
        cmocka_unit_test(no_word_does_harm),
        cmocka_unit_test(settings_refuse_what_makes_no_sense),
        cmocka_unit_test(settings_take_what_is_listed),
        cmocka_unit_test(settings_stay_while_a_run_goes_on),
    };
    TEST_GPU_MAIN(tests);
}

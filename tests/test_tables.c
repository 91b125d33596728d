/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_tables.c - public rows about loops agree with links and persistent
 * kernels. */
#include "comm/link/link.h"
#include "mpi_main.h"
#include "solver/driver.h"
#include <stdio.h>
#include <string.h>
#include <tacit/tacit.h>

static const tct_link *const links[] = {
#define X(name) &tct_link_##name,
    TCT_LINKS(X)
#undef X
};

static const tct_driver *const drivers[] = {
#define X(name) &tct_driver_##name,
    TCT_DRIVERS(X)
#undef X
};
enum {
    LINKS = sizeof links / sizeof *links,
    DRIVERS = sizeof drivers / sizeof *drivers
};

static const tacit_link *row_of(const char *name)
{
    const tacit_link *row;
    for (int i = 0; (row = tacit_link_at(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0) return row;
    return NULL;
}

static void links_say_their_loops(void **state)
{
    (void)state;
    for (int i = 0; i < LINKS; i++) {
        char loops[64] = "";
        for (int d = 0; d < DRIVERS; d++)
            if (drivers[d]->kind->needs <= links[i]->starter)
                snprintf(loops + strlen(loops), sizeof loops - strlen(loops),
                         "%s%s", d > 0 ? ", " : "", drivers[d]->about.name);
        assert_non_null(row_of(links[i]->name));
        assert_string_equal(row_of(links[i]->name)->loops, loops);
    }
}

static void rows_of_all_builds_have_loops(void **state)
{
    const tacit_link *row;
    (void)state;
    for (int i = 0; (row = tacit_link_at(i)) != NULL; i++)
        assert_memory_equal(row->loops, "host", 4);
}

/* Is `word` in `list`, between commas? */
static bool listed(const char *list, const char *word)
{
    char all[128], one[32];
    snprintf(all, sizeof all, ", %s,", list ? list : "");
    snprintf(one, sizeof one, ", %s,", word);
    return strstr(all, one) != NULL;
}

/* "with a," or "with a or b," in a list of kernels. */
static bool is_with(const char *text, const char *precond)
{
    char first[48], only[48], second[48];
    snprintf(only, sizeof only, "; with %s,", precond);
    snprintf(first, sizeof first, "; with %s or", precond);
    snprintf(second, sizeof second, " or %s,", precond);
    return strstr(text, only) || strstr(text, first) || strstr(text, second);
}

static void preconditioners_say_their_kernels(void **state)
{
    const tacit_method *m;
    const tacit_precond *p;
    (void)state;
    if (!TCT_HAVE_CUDA) {
        print_message("skipped: no kernels in a build without CUDA\n");
        skip();
    }
    for (int i = 0; (m = tacit_method_at(i)) != NULL; i++) {
        char text[768] = "";
        const bool any = tacit_method_resident(m->name, text, sizeof text);
        assert_int_equal(any, listed(tacit_precond_at(0)->resident, m->name));
        for (int k = 1; (p = tacit_precond_at(k)) != NULL; k++) {
            if (listed(p->resident, m->name) != is_with(text, p->name))
                fail_msg("%s with %s: '%s'", m->name, p->name, text);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_say_their_loops),
        cmocka_unit_test(rows_of_all_builds_have_loops),
        cmocka_unit_test(preconditioners_say_their_kernels),
    };
    TEST_MPI_MAIN(tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * test_mpi_start.c - worlds of MPI's processes before MPI_Init and after
 * MPI_Finalize: a status, where MPI itself would abort the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// after the headers that it needs
#include <cmocka.h>
#include <tacit/tacit.h>
#if TCT_HAVE_MPI
#include <tacit/mpi.h>

static void refused(const char *word)
{
    tacit_world *w = NULL;
    assert_int_equal(tacit_world_from_mpi(MPI_COMM_WORLD, &w), TACIT_INVALID);
    assert_null(w);
    assert_non_null(strstr(tacit_error_message(), word));
}

static void worlds_live_between_init_and_finalize(void **state)
{
    (void)state;
    refused("call MPI_Init first");
    assert_int_equal(MPI_Init(NULL, NULL), MPI_SUCCESS);
    tacit_world *w = NULL;
    assert_int_equal(tacit_world_from_mpi(MPI_COMM_WORLD, &w), TACIT_OK);
    assert_int_equal(tacit_world_size(w), 1);
    tacit_world_destroy(&w);
    MPI_Finalize();
    refused("MPI_Finalize has been called");
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__ /* leaks of MPI's modules have no names */
    puts("skipped: the leaks of MPI's modules cannot be told from ours");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_live_between_init_and_finalize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 77; /* skipped */
}
#endif

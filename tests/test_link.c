/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_link.c - links, plans and parts of a world on the host.
 *
 * RUN: np=1,2,3,4
 * THREADS: 2,3
 * PROCESSES: 2,3 */
#define TEST_DEVICE "host"
#include "links.h"

int main(int argc, char **argv)
{
    TEST_MPI_MAIN(link_tests);
}

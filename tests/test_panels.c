/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_panels.c - panels and block products on the host.
 *
 * RUN: np=1,2,3 */
#define TEST_DEVICE "host"
#include "panels.h"

int main(int argc, char **argv)
{
    TEST_MPI_MAIN(panel_tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_panels.c - panels and block products on the cuda device, which
 * ranks share if there is only one.
 *
 * LABEL: gpu
 * RUN: np=1,2 */
#include "panels.h"

int main(int argc, char **argv)
{
    TEST_GPU_MAIN(panel_tests);
}

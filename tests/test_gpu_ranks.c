/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_ranks.c - links, plans and parts of a world on the cuda
 * device, which ranks share if there is only one: messages by the CPU.
 *
 * LABEL: gpu
 * RUN: np=1,2,3
 * PROCESSES: 2 */
#include "links.h"

int main(int argc, char **argv)
{
    TEST_GPU_MAIN(link_tests);
}

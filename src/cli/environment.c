/* SPDX-License-Identifier: BSD-3-Clause
 * cli/environment.c - the environment: variables of launchers, and those
 * of the library that choose among words. It takes a word that it does not
 * know for none; the program refuses it. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *words;
} variables[] = {
    {"TACIT_ISA", "base avx2 avx512"},
    {"TACIT_AMG_SETUP", "auto host"},
    {"TACIT_STORE", "auto host"},
    {"TACIT_AMG_COARSE", "auto launches"},
    {"TACIT_GPU_AWARE_MPI", "auto yes no"},
    {"TACIT_EARLY", "auto no"},
    {"TACIT_NCCL_LEADS", "auto no"},
};
enum { VARIABLES = sizeof variables / sizeof *variables };

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

/* `lists`: the command has what is said of GPU-aware MPI in its list. */
static tacit_status check(bool lists)
{
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = getenv(variables[i].name);
        if (lists && strcmp(variables[i].name, "TACIT_GPU_AWARE_MPI") == 0)
            continue;
        if (value && !is_among(variables[i].words, value))
            FAIL(TACIT_INVALID,
                 "the environment variable %s is '%s': expected one of: %s",
                 variables[i].name, value, variables[i].words);
    }
    return TACIT_OK;
}

tacit_status cli_check_environment(const cli *c)
{
    const bool lists = c->set.command == &cli_command_devices;
    return tacit_world_agree(c->world, check(lists));
}

/* --- launchers ------------------------------------------------------------ */

/* Variables that mpirun and srun of Open MPI, MPICH and PMIx set. */
bool cli_is_launched(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i])) return true;
    return false;
}

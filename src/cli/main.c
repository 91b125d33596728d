/* SPDX-License-Identifier: BSD-3-Clause
 * cli/main.c - the start and the end of the program. MPI is started only if a
 * launcher has started several processes, or for --comm mpi; --ranks and --gpus
 * start processes of its own. */
#include "cli/cli.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef TCT_HAVE_MPI
#define TCT_HAVE_MPI 0
#endif
#if TCT_HAVE_MPI
#include <tacit/mpi.h>
#endif

#if TCT_HAVE_MPI
static bool mpi_started;

static tacit_status start_mpi(tacit_world **out)
{
    int provided = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) !=
        MPI_SUCCESS)
        FAIL(TACIT_COMM, "MPI could not be started");
    mpi_started = true;
    return tacit_world_from_mpi(MPI_COMM_WORLD, out);
}

static void stop_mpi(void)
{
    if (mpi_started) MPI_Finalize();
}
#else
static tacit_status start_mpi(tacit_world **out)
{
    *out = NULL;
    FAIL(TACIT_UNSUPPORTED, "comm 'mpi' is not available: not in this build: "
                            "configured without MPI");
}

static void stop_mpi(void) {}
#endif

/* The first of `names` that the environment has as a number, or `none`. */
static int64_t from_environment(const char *const names[3], int64_t none)
{
    int64_t value = none;
    for (int i = 0; i < 3; i++) {
        const char *text = getenv(names[i]);
        if (text && cli_parse_integer(text, &value)) return value;
    }
    return none;
}

/* Has a launcher started processes that must connect? A build without MPI can
 * run one; of more, the first prints the reason. */
static bool must_join(cli *c)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "MPI_LOCALNRANKS"};
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "PMIX_RANK"};
    if (!cli_is_launched()) return false;
    c->rank = (int)from_environment(ranks, 0);
    return TCT_HAVE_MPI || from_environment(sizes, 1) > 1;
}

static bool asks_for(const char *value, const char *name)
{
    return value && strcmp(value, name) == 0;
}

static tacit_status check_alone(const cli *c)
{
    if (c->set.ranks == 0 || !cli_is_launched()) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "--%s starts its own processes: leave it out under mpirun, which has "
         "started %d",
         c->set.gpus > 0 ? "gpus" : "ranks", c->ranks);
}

/* The world of --comm, none yet if processes are to be started. A launcher's
 * processes connect before the command line is read, so that its errors are
 * printed once. */
static tacit_status open_world(cli *c, int argc, char **argv)
{
    if (must_join(c)) TRY(start_mpi(&c->world));
    if (c->world) {
        c->rank = tacit_world_rank(c->world);
        c->ranks = tacit_world_size(c->world);
    }
    TRY(cli_parse(argc, argv, &c->set));
    TRY(check_alone(c));
    const char *comm = c->set.comm;
    if (asks_for(comm, "self") && c->ranks > 1)
        FAIL(
            TACIT_INVALID,
            "--comm self is for one process, and here are %d: use auto, shm or "
            "mpi",
            c->ranks);
    if (asks_for(comm, "self")) tacit_world_destroy(&c->world);
    if (c->world || c->set.ranks > 1) return TACIT_OK;
    return asks_for(comm, "mpi") ? start_mpi(&c->world)
                                 : tacit_world_self(&c->world);
}

static void note_deprecated(const cli *c)
{
    char text[800];
    if (cli_deprecated_note(&c->set, text, sizeof text))
        cli_log(c, CLI_WARN, "%s", text);
}

static tacit_status run(cli *c)
{
    cli_set_log(c);
    const cli_settings *set = &c->set;
    if (set->version) {
        if (c->rank == 0) printf("tacit %s\n", tacit_version());
        return TACIT_OK;
    }
    if (set->help) {
        if (c->rank == 0) cli_print_help(stdout, set->command);
        return TACIT_OK;
    }
    note_deprecated(c);
    TRY(cli_check_belongs(set, c->ranks));
    TRY(cli_check_environment(c));
    TRY(cli_check_paths(c));
    TRY(cli_settle(c));
    tacit_file_hold(c->world); /* all outputs or none */
    return tacit_file_release(c->world, set->command->run(c));
}

/* Has text been lost? errno then says why. An earlier write may have failed,
 * whose errno is gone: another newline fails alike. */
static bool is_output_lost(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return false;
    if (errno == 0 && putchar('\n') != EOF) fflush(stdout);
    return true;
}

/* Printed text must have been written, or the status is an error. */
static tacit_status flush_output(const cli *c, tacit_status status)
{
    if (status < 0) return status;
    tacit_status flushed = TACIT_OK;
    const bool lost = c->rank == 0 && is_output_lost();
    const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
    if (lost)
        flushed = tacit_error_set(full ? TACIT_NO_MEMORY : TACIT_IO,
                                  "standard output: cannot be written: %s: "
                                  "choose another place or make room",
                                  errno ? strerror(errno)
                                        : "an earlier write failed");
    flushed = tacit_world_agree(c->world, flushed);
    return flushed < 0 ? flushed : status;
}

/* A lost rank prevents an orderly end, and any rank may notice first: it prints
 * the error, unless a lower rank does, and ends the job. */
static void end_job(const cli *c, tacit_status status)
{
    char text[1100];
    const int before = c->rank < 3 ? c->rank : 3;
    snprintf(text, sizeof text, "rank %d: %s", c->rank, tacit_error_message());
    nanosleep(&(struct timespec){.tv_sec = before}, NULL);
    cli_complain(text);
    tacit_world_abort(c->world, cli_exit_code(status));
}

/* The exit status for `status`, after its message. */
static int finish(const cli *c, tacit_status status)
{
    status = flush_output(c, status);
    if (status == TACIT_COMM && c->ranks > 1) end_job(c, status);
    if (status < 0 && c->rank == 0) cli_complain(tacit_error_message());
    tacit_set_log(NULL, NULL);
    return cli_exit_code(status);
}

/* A process of --ranks. */
static int run_rank(tacit_world *world, void *ctx)
{
    cli *c = ctx;
    c->world = world;
    c->rank = tacit_world_rank(world);
    c->ranks = tacit_world_size(world);
    return finish(c, run(c));
}

static int run_ranks(cli *c)
{
    int worst = 0;
    const tacit_status status =
        tacit_world_processes((int)c->set.ranks, run_rank, c, &worst);
    return status < 0 ? finish(c, status) : worst;
}

int main(int argc, char **argv)
{
    cli c = {.rank = 0, .ranks = 1};
    signal(SIGXFSZ, SIG_IGN); /* ulimit -f then is an error of the write */
    /* only the library uses NCCL here: comm/link/gpu/link_nccl.c */
    (void)setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0);
    tacit_status status = open_world(&c, argc, argv);
    const bool starts = status >= 0 && !c.world;
    if (status >= 0 && !starts) status = run(&c);
    const int code = starts ? run_ranks(&c) : finish(&c, status);
    cli_settings_free(&c.set);
    if (starts) return code;
    tacit_world_destroy(&c.world);
    stop_mpi();
    return code;
}

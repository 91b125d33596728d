/* SPDX-License-Identifier: BSD-3-Clause
 * tests/silence.h - a rank that is silent until the others have done without
 * it, however long that takes them on a busy machine. A silent rank sends and
 * receives nothing: each of the others leaves an empty file as its mark. */
#ifndef TESTS_SILENCE_H
#define TESTS_SILENCE_H
#include "mpi_main.h"
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Thread_local char silence_[256]; /* what paths of marks begin with */

static inline const char *silence_path_(int rank)
{
    static _Thread_local char path[280];
    snprintf(path, sizeof path, "%s-%d", silence_, rank);
    return path;
}

/* Collective: there are no marks. */
static inline void silence_begin(void)
{
    const char *folder = getenv("TMPDIR");
    double id = tacit_world_rank(test_world()) == 0 ? (double)getpid() : 0.0;
    assert_int_equal(tacit_world_reduce(test_world(), TACIT_SUM, 1, &id), 0);
    snprintf(silence_, sizeof silence_, "%s/tacit-silence-%.0f",
             folder ? folder : "/tmp", id);
}

/* This rank has done without the silent one. */
static inline void silence_mark(void)
{
    const int fd = open(silence_path_(tacit_world_rank(test_world())),
                        O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static inline bool silence_marked(int rank)
{
    return access(silence_path_(rank), F_OK) == 0;
}

/* Have all others done without this rank? */
static inline bool silence_is_over(void)
{
    bool over = true;
    for (int r = 0; r < tacit_world_size(test_world()); r++)
        over =
            over && (r == tacit_world_rank(test_world()) || silence_marked(r));
    return over;
}

/* Be silent until `rank` has done without; a minute is too long. */
static inline void silence_until(int rank)
{
    for (int k = 0; k < 6000 && !silence_marked(rank); k++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(silence_marked(rank));
}

/* ... until all others have. */
static inline void silence_keep(void)
{
    for (int r = 0; r < tacit_world_size(test_world()); r++)
        if (r != tacit_world_rank(test_world())) silence_until(r);
}

/* Collective: all marks are made, and go. */
static inline void silence_end(void)
{
    assert_int_equal(tacit_world_agree(test_world(), TACIT_OK), TACIT_OK);
    unlink(silence_path_(tacit_world_rank(test_world())));
}

#endif

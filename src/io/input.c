/* SPDX-License-Identifier: BSD-3-Clause
 * io/input.c - opens input files, standard input and pipes. A descriptor is
 * reopened through /proc to get a position of its own. */
#include "io/input.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char standard[] = "standard input";

static _Thread_local const char *kept_path;
static _Thread_local int kept = -1;

const char *tct_input_path(const char *path)
{
    return strcmp(path, "-") == 0 ? standard : path;
}

static int open_again(int fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* A file on standard input is read from its start, unless part of it was read
 * before. */
static int open_standard(void)
{
    struct stat about;
    const bool whole = fstat(STDIN_FILENO, &about) == 0 &&
                       S_ISREG(about.st_mode) &&
                       lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
    const int fd = whole ? open_again(STDIN_FILENO) : -1;
    return fd >= 0 ? fd : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
}

int tct_input_open(const char *path)
{
    if (kept >= 0 && path == kept_path) return open_again(kept);
    if (path == standard) return open_standard();
    return open(path, O_RDONLY | O_CLOEXEC);
}

void tct_input_keep(const char *path, int fd)
{
    tct_input_forget();
    kept_path = path;
    kept = fd;
}

void tct_input_forget(void)
{
    if (kept >= 0) close(kept);
    kept = -1;
    kept_path = NULL;
}

int tct_input_spare(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/tacit-XXXXXX",
             folder && folder[0] ? folder : "/tmp");
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

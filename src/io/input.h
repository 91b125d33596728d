/* SPDX-License-Identifier: BSD-3-Clause
 * io/input.h - files to read, and what stands for one: standard input,
 * pipes. Readers open them by the path that they are given, as often as they
 * like: what can be read only once is first kept in a file without a name. */
#ifndef TCT_IO_INPUT_H
#define TCT_IO_INPUT_H
#include "base/base.h"

/* "-" as messages call it and readers open it, any other path as it is. The
 * answer is the path that is passed on: by this pointer it is known again. */
const char *tct_input_path(const char *path);

/* A new descriptor of `path`: at its beginning or, of what flows, where it
 * stands; below 0 with errno. */
int tct_input_open(const char *path);

/* From now on `path` is the file `fd`, which this takes over: what has been
 * read from a pipe. One at a time in a thread. */
void tct_input_keep(const char *path, int fd);
void tct_input_forget(void);

/* A file without a name, for what is kept; below 0 with errno. */
int tct_input_spare(void);

#endif

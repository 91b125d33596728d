/* SPDX-License-Identifier: BSD-3-Clause
 * io/input.h - input files, also standard input and pipes. Readers open a path
 * as often as they like: input that can be read only once is first copied to an
 * unnamed file. */
#ifndef TCT_IO_INPUT_H
#define TCT_IO_INPUT_H
#include "base/base.h"

/* Replace "-" by the name used in messages and by readers; other paths are
 * returned unchanged. The result is recognized by its pointer. */
const char *tct_input_path(const char *path);

/* Open a new descriptor of `path`, at its start, or at the current position of
 * a pipe; < 0: errno. */
int tct_input_open(const char *path);

/* From now on `path` refers to `fd`, a copy of what a pipe delivered; takes
 * ownership. One at a time per thread. */
void tct_input_keep(const char *path, int fd);
void tct_input_forget(void);

/* Create an unnamed file for such a copy; < 0: errno. */
int tct_input_spare(void);

#endif

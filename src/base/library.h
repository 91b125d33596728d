/* SPDX-License-Identifier: BSD-3-Clause
 * base/library.h - libraries that are loaded when they are first asked for, so
 * that no build needs them or their headers. */
#ifndef TCT_BASE_LIBRARY_H
#define TCT_BASE_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>

typedef struct tct_library {
    const char *name;      /* for people */
    const char *variable;  /* of the environment, which may say where it is */
    const char *file;      /* for the loader, where that is not set */
    const char *otherwise; /* a second one; NULL: none */
    bool ours;             /* it is looked for beside this library first */
} tct_library;

/* Its handle, which stays open for good; NULL, and why, in `text` [size]. */
void *tct_library_open(const tct_library *library, char *text, size_t size);

/* What is called `symbol` into the pointer to a function that `function` points
 * to. If there is none: NULL, and false, with the reason in `text` [size]. */
bool tct_library_find(const tct_library *library, void *handle,
                      const char *symbol, void *function, char *text,
                      size_t size);

#endif

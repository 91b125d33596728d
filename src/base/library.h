/* SPDX-License-Identifier: BSD-3-Clause
 * base/library.h - libraries that are loaded on first use: builds need neither
 * them nor their headers. */
#ifndef TCT_BASE_LIBRARY_H
#define TCT_BASE_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>

typedef struct tct_library {
    const char *name;      /* in messages */
    const char *variable;  /* environment variable with its path */
    const char *file;      /* for the loader, if it is not set */
    const char *otherwise; /* second file to try; NULL: none */
    bool ours;             /* look in this library's folder first */
} tct_library;

/* Open `library`; the handle is never closed. NULL: failed, with the reason in
 * `text` [size]. */
void *tct_library_open(const tct_library *library, char *text, size_t size);

/* Find `symbol` and write its address to the function pointer that `function`
 * points to. If it is missing: NULL, and false, with the reason in `text`
 * [size]. */
bool tct_library_find(const tct_library *library, void *handle,
                      const char *symbol, void *function, char *text,
                      size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * io/npy.h - the header of a NumPy array. */
#ifndef TCT_IO_NPY_H
#define TCT_IO_NPY_H
#include "io/arrays.h"

enum { TCT_NPY_DIMS = 4 };
typedef struct tct_npy {
    int most; /* set by the caller: dimensions that it can take; 0: two */
    int dims;
    int64_t shape[TCT_NPY_DIMS];
    bool fortran;  /* by columns */
    int64_t bytes; /* of the header */
} tct_npy;

/* Reads the next bytes of an array. */
typedef tacit_status (*tct_npy_read)(void *ctx, const char *what, void *out,
                                     size_t bytes);

/* Read a header; sets count, kind, width and big of `a`. `a->kind` is 'S' or
 * 'U' for text. */
tacit_status tct_npy_header(const char *path, const char *what,
                            tct_npy_read read, void *ctx, tct_npy *out,
                            tct_array *a);

/* Write the header for `type` ("<f8") and `shape` ("(3,)") into `out`
 * [TCT_NPY_HEAD], filling it. Values follow by columns if `fortran`. */
enum { TCT_NPY_HEAD = 128 };
void tct_npy_print(char *out, const char *type, const char *shape,
                   bool fortran);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_build.h - build layout.h in host memory, without a
 * GPU or its runtime; and what the files that do it share. */
#ifndef TCT_GPU_SLICES_BUILD_H
#define TCT_GPU_SLICES_BUILD_H
#include "operator/format.h"
#include "operator/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- slices_build.c ------------------------------------------------------ */

/* What was built, besides the arrays. */
typedef struct tct_gpu_about {
    int64_t stored;      /* values, with padding                   */
    double matrix_bytes; /* that one product reads                 */
    double bytes;        /* of all arrays                          */
    bool lossy;          /* values were rounded                    */
    int kernels;         /* that one product starts                */
    bool persistent;     /* solver/resident has kernels for it     */
    char detail[160];    /* what the slices are like, a sentence   */
} tct_gpu_about;

/* Build the arrays of `A`, which is left as it is, in host memory; `store` as
 * in tct_gpu_slices_bytes. On an error `*host` is empty.
 * Memory      the arrays, and 3 bytes per row.
 * Errors      UNSUPPORTED, NO_MEMORY. */
tacit_status tct_gpu_slices_build(const tct_local *A, int b,
                                  tct_gpu_kinds kinds, const char *store,
                                  tct_gpu_arrays *host, tct_gpu_about *about);
void tct_gpu_slices_build_free(tct_gpu_arrays *host);

/* A hash of the pattern: another one has another, but for bad luck. */
uint64_t tct_gpu_pattern(const tct_local *A);

/* --- slices_compare.c ------------------------------------------------------ */

/* The first entry in which the pattern of `a`, in host memory, and that of `A`
 * differ; where `a` has dense blocks, one in which they differ.
 * Errors      NO_MEMORY. */
tacit_status tct_gpu_slices_compare(const tct_gpu_arrays *a, const tct_local *A,
                                    tct_difference *out);

/* --- slices_size.c -------------------------------------------------------- */

/* Matrix bytes of one product if `A` were stored so, from a sample of its
 * windows; negative, with the reason, where it does not fit. `store` as the
 * text after the slash of a format: "auto" (as NULL), "f64", "f32", "dict8",
 * "dict16" (the last three only where they lose nothing), or a low one:
 * "low32", "low48". Blocks fit where they are nearly dense. */
double tct_gpu_slices_bytes(const tct_local *A, int b, tct_gpu_kinds kinds,
                            const char *store, const char **reason);

/* The block size (2 to 6) that takes the fewest bytes, fewer than rows would;
 * 0 if none does. With a low store it need not be fewer: whoever asks for that
 * has blocks already. */
int tct_gpu_best_block(const tct_local *A);

/* --- slices_values.c: how values can be stored ----------------------------- */

enum { TCT_GPU_VALUES_MOST = 65536 };

typedef struct tct_gpu_wish { /* a store's name, understood */
    bool automatic, low;
    bool consts;         /* GPU_CONST may be used             */
    tct_gpu_store store; /* unless automatic                  */
} tct_gpu_wish;

/* Errors      UNSUPPORTED. */
tacit_status tct_gpu_wish_read(const char *store, int b, tct_gpu_kinds kinds,
                               tct_gpu_wish *out);

/* Bit patterns of values, a hash table. +0 is always one of them, and not in
 * the table: a key of 0 is an empty slot. */
typedef struct tct_gpu_values {
    uint64_t *key;  /* [slots]                                           */
    uint16_t *code; /* [slots] once they are numbered                    */
    int64_t slots;  /* a power of two                                    */
    int64_t count;  /* TCT_GPU_VALUES_MOST + 1: too many, or no memory   */
    int64_t looked; /* values looked at                                  */
    bool floats;    /* each is exactly a float                           */
    bool in_range;  /* none is finite and as a float infinite            */
} tct_gpu_values;

void tct_gpu_values_open(tct_gpu_values *set);
void tct_gpu_values_close(tct_gpu_values *set);
void tct_gpu_values_look(tct_gpu_values *set, const double *val, int64_t n);
void tct_gpu_values_join(tct_gpu_values *into, const tct_gpu_values *from);

/* Can the store hold these values as it is meant to? */
bool tct_gpu_store_holds(tct_gpu_store store, bool low,
                         const tct_gpu_values *set);
/* The smallest that loses nothing. */
tct_gpu_store tct_gpu_store_best(const tct_gpu_values *set);
/* Why `store` does not hold a set. */
const char *tct_gpu_store_reason(tct_gpu_store store, bool low);
/* Bytes of a value in all. */
int tct_gpu_store_bytes(tct_gpu_store store);

/* Number the values by their bits, +0 first: `*dict` [set->count] is new, and
 * so are the set's codes. Errors NO_MEMORY. */
tacit_status tct_gpu_values_number(tct_gpu_values *set, double **dict);
uint16_t tct_gpu_values_code(const tct_gpu_values *set, double v);
/* The upper 48 bits of `v`, rounded to nearest but never to infinity. */
uint64_t tct_gpu_round48(double v);

/* --- slices_plan.c: windows of groups, and what their slices are like ------- */

enum {
    GPU_WINDOW_SLICES = GPU_WINDOW / GPU_LANES,
    GPU_LONG_ALWAYS = 8192 /* entries: longer rows are kept apart, b = 1 */
};

typedef struct tct_gpu_maker { /* what is to be made of which matrix */
    const tct_local *A;
    int b;
    tct_gpu_kinds kinds;
    tct_gpu_wish wish;
    tct_gpu_store store; /* so far               */
    int64_t groups, slices, windows;
} tct_gpu_maker;

typedef struct tct_gpu_window {
    int64_t first; /* group */
    int groups;
    const int32_t *col[GPU_WINDOW]; /* block columns of each, ascending   */
    int32_t length[GPU_WINDOW];     /* 0 for rows that are kept apart     */
    int32_t cut;                    /* longer rows are, INT32_MAX: none   */
} tct_gpu_window;

/* Does it divide, and so on? Errors UNSUPPORTED. */
tacit_status tct_gpu_maker_open(const tct_local *A, int b, tct_gpu_kinds kinds,
                                const char *store, tct_gpu_maker *out);

/* Entries that `scratch` of tct_gpu_window_read must have room for. */
int64_t tct_gpu_window_room(const tct_gpu_maker *M);
void tct_gpu_window_read(const tct_gpu_maker *M, int64_t window,
                         int32_t *scratch, tct_gpu_window *w);

/* Plan the slices of a window, and the order of its groups. Offsets are left
 * 0. False if a slice would be too wide. */
bool tct_gpu_window_plan(const tct_gpu_maker *M, const tct_gpu_window *w,
                         tct_gpu_slice slice[GPU_WINDOW_SLICES],
                         uint8_t order[GPU_WINDOW]);

typedef struct tct_gpu_view { /* the lanes of a slice */
    const int32_t *col[GPU_LANES];
    const double *val[GPU_LANES]; /* b = 1 only */
    int32_t length[GPU_LANES];
    int64_t group[GPU_LANES]; /* -1: none */
} tct_gpu_view;

/* Slice number `n` of a window; `order` NULL: as they come. */
void tct_gpu_view_open(const tct_gpu_maker *M, const tct_gpu_window *w, int n,
                       const uint8_t *order, tct_gpu_view *v);

typedef struct tct_gpu_runs { /* goes through the runs of a slice */
    const tct_gpu_view *view;
    int32_t at[GPU_LANES];   /* entries passed              */
    int32_t head[GPU_LANES]; /* column - lane, of the next  */
} tct_gpu_runs;

void tct_gpu_runs_open(tct_gpu_runs *r, const tct_gpu_view *v);
/* The next column and its lanes; the least base first. False at the end. */
bool tct_gpu_runs_next(tct_gpu_runs *r, tct_gpu_run *out);

/* Bytes of index of `width` columns; of a slice, all that a product reads. */
int tct_gpu_index_bytes(tct_gpu_slice_kind kind, int width);
double tct_gpu_slice_bytes(const tct_gpu_slice *s, int b, tct_gpu_store store);

/* --- slices_size.c: the plan of a matrix or of a sample of it ----------------- */

typedef struct tct_gpu_plan { /* of `count` windows, perhaps a sample */
    int64_t count;
    const int64_t *window; /* [count] NULL: all                        */
    tct_gpu_slice *slice;  /* [8 count] offsets are 0                  */
    uint8_t *order;        /* [256 count]                              */
    uint16_t *length;      /* [256 count] of each lane                 */
    int64_t *long_rows;    /* [count + 1] rows kept apart before each  */
    int64_t *long_entries; /* [count + 1] window, and their entries    */
    int64_t entries, blocks;
    int64_t const_entries; /* in slices of GPU_CONST                   */
    tct_gpu_values values; /* those in cells, as far as it matters */
    const char *reason;    /* why it failed, a constant            */
} tct_gpu_plan;

/* Choose the store, plan every window; clear it also after an error.
 * Errors      UNSUPPORTED (a store that loses something, a slice too wide),
 *             NO_MEMORY. */
tacit_status tct_gpu_plan_make(tct_gpu_maker *M, tct_gpu_plan *P);
void tct_gpu_plan_clear(tct_gpu_plan *P);
int64_t tct_gpu_plan_window(const tct_gpu_plan *P, int64_t i);
/* Bytes that a product reads of the slices, without the rows kept apart. */
double tct_gpu_plan_bytes(const tct_gpu_maker *M, const tct_gpu_plan *P);
/* Slices of a window: 8, but in the last. */
int tct_gpu_window_slices(const tct_gpu_maker *M, int64_t window);

#ifdef __cplusplus
}
#endif
#endif

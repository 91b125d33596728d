/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_build.h - builds layout.h in host memory, without a
 * GPU or its runtime; and declarations common to its files. */
#ifndef TCT_OPERATOR_LAYOUT_SLICES_BUILD_H
#define TCT_OPERATOR_LAYOUT_SLICES_BUILD_H
#include "operator/format.h"
#include "operator/layout/layout.h"
#include "operator/pattern/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- slices_build.c ------------------------------------------------------ */

/* About the result, besides the arrays. */
typedef struct tct_gpu_about {
    int64_t stored;      /* values, with padding                   */
    double matrix_bytes; /* read by one product                    */
    double bytes;        /* of all arrays                          */
    bool lossy;          /* values were rounded                    */
    int kernels;         /* started by one product                 */
    bool persistent;     /* solver/resident has kernels for it     */
    bool packed;         /* some value takes fewer bytes than a double */
    int b;
    tct_gpu_store store; /* of the values in cells                 */
    int64_t different;   /* of these, if they have a dictionary    */
    int64_t long_rows;   /* kept apart                             */
    tct_slice_census slices;
    double padding;   /* values that are not entries, per cent  */
    char detail[160]; /* the description, for people            */
} tct_gpu_about;

/* Build the arrays of `A`, which stays as it is, in host memory; `store` as in
 * tct_gpu_slices_bytes. On an error `*host` is empty.
 * Memory      the arrays, and 3 bytes per row.
 * Errors      UNSUPPORTED, NO_MEMORY. */
tacit_status tct_gpu_slices_build(const tct_local *A, int b,
                                  tct_gpu_kinds kinds, const char *store,
                                  tct_gpu_arrays *host, tct_gpu_about *about);
void tct_gpu_slices_build_free(tct_gpu_arrays *host);

/* --- slices_about.c ------------------------------------------------------- */

/* The description of the arrays `a`, of which the host needs `long_ptr` alone. */
struct tct_gpu_maker;
struct tct_gpu_plan;
void tct_gpu_tell(const struct tct_gpu_maker *M, const struct tct_gpu_plan *P,
                  const tct_gpu_arrays *a, tct_gpu_about *about);

/* --- slices_arrays.c ------------------------------------------------------ */

/* The slices of a plan in a GPU's form [a->slices], with their offsets; sets
 * a's cells, index bytes and widest. */
void tct_gpu_lay_out(const tct_slice *plan, tct_gpu_slice *slice,
                     tct_gpu_arrays *a);
/* Segments of the rows kept apart, in host memory, from a->long_ptr.
 * Errors      NO_MEMORY. */
tacit_status tct_gpu_cut_long_rows(tct_gpu_arrays *a);
/* Is a slice sorted; has one lanes of different lengths? */
bool tct_gpu_plan_is_sorted(const tct_slice *plan, int64_t slices);
bool tct_gpu_plan_is_ragged(const tct_slice *plan, int64_t slices);

/* All arrays except scratch; `entries` are those of rows kept apart. */
enum { TCT_GPU_ARRAYS = 15 };
typedef struct tct_gpu_array {
    const void *p;
    size_t bytes;
    size_t member; /* offset of its pointer in tct_gpu_arrays */
} tct_gpu_array;
void tct_gpu_list(const tct_gpu_arrays *a, int64_t entries,
                  tct_gpu_array out[TCT_GPU_ARRAYS]);

/* --- slices_compare.c ----------------------------------------------------- */

/* The first entry in which the pattern of `a`, in host memory, and that of `A`
 * differ; with dense blocks, one in the first such block.
 * Errors      NO_MEMORY. */
tacit_status tct_gpu_slices_compare(const tct_gpu_arrays *a, const tct_local *A,
                                    tct_difference *out);

/* A hash of the pattern; equal hashes may, rarely, be of different patterns. */
uint64_t tct_gpu_pattern(const tct_local *A);

/* --- slices_size.c -------------------------------------------------------- */

/* Matrix bytes of one product if `A` were stored so, from a sample of its
 * windows; negative, with the reason, if it does not fit. `store` as the text
 * after the slash of a format: "auto" (as NULL), "f64", "f32", "dict8",
 * "dict16" (the last three only if they lose nothing), or a reduced one:
 * "low32", "low48". Blocks fit if they are nearly dense. */
double tct_gpu_slices_bytes(const tct_local *A, int b, tct_gpu_kinds kinds,
                            const char *store, const char **reason);

/* The block size (2 to 6) with the fewest bytes, fewer than rows; 0 if none
 * has. With a reduced store, whose matrix has blocks already, it need not be
 * fewer than rows. */
int tct_gpu_best_block(const tct_local *A);
/* The same if the bytes of rows are `*bytes`, < 0: they do not fit; `*bytes`
 * becomes those of the blocks. */
int tct_gpu_fewer_bytes(const tct_local *A, double *bytes);

/* --- slices_values.c: stores of values ------------------------------------ */

enum { TCT_GPU_VALUES_MOST = 65536 };

typedef struct tct_gpu_wish { /* the parsed name of a store */
    bool automatic, low;
    bool consts;         /* SLICE_CONST may be used             */
    tct_gpu_store store; /* unless automatic                  */
} tct_gpu_wish;

/* Errors      UNSUPPORTED. */
tacit_status tct_gpu_wish_read(const char *store, int b, tct_gpu_kinds kinds,
                               tct_gpu_wish *out);

/* Can the store hold these values, lossless or rounded as asked? */
bool tct_gpu_store_holds(tct_gpu_store store, bool low,
                         const tct_value_set *set);
/* The smallest lossless store. */
tct_gpu_store tct_gpu_store_best(const tct_value_set *set);
/* The reason why `store` does not hold a set. */
const char *tct_gpu_store_reason(tct_gpu_store store, bool low);
/* Bytes of a value in all. */
int tct_gpu_store_bytes(tct_gpu_store store);

/* The upper 48 bits of `v`, rounded to nearest but never to infinity. */
uint64_t tct_gpu_round48(double v);

/* --- slices_size.c: the plan of a matrix or of a sample ------------------- */

enum { GPU_WINDOW_SLICES = GPU_WINDOW / GPU_LANES };

typedef struct tct_gpu_maker { /* the task: matrix, block size, kinds, store */
    tct_slicing slicing;
    tct_gpu_wish wish;
    tct_gpu_store store;        /* the store so far */
    const tct_value_set *known; /* see tct_local; NULL: values are read */
} tct_gpu_maker;

extern const tct_slicing_rules tct_gpu_rules;
/* Check size and store. Errors UNSUPPORTED. */
tacit_status tct_gpu_maker_open(const tct_local *A, int b, tct_gpu_kinds kinds,
                                const char *store, tct_gpu_maker *out);

void tct_gpu_set_store(tct_gpu_maker *M, tct_gpu_store store);
/* Does the set of values matter to the store asked for? */
static inline bool tct_gpu_values_matter(const tct_gpu_wish *wish)
{
    return wish->automatic ||
           (wish->store != GPU_F64 && wish->store != GPU_F48);
}

/* Bytes of index for `width` columns. */
int64_t tct_gpu_index_bytes(tct_slice_kind kind, int width);

typedef struct tct_gpu_plan { /* of `count` windows, perhaps a sample */
    int64_t count;
    const int64_t *window; /* [count] NULL: all                        */
    tct_slice *slice;      /* [8 count]                                */
    uint8_t *order;        /* [256 count]                              */
    uint16_t *length;      /* [256 count] of each lane                 */
    int64_t *long_rows;    /* [count + 1] rows kept apart before ...   */
    int64_t *long_entries; /* [count + 1] ... each, and entries        */
    int64_t entries, blocks;
    int64_t const_entries; /* in slices of SLICE_CONST                   */
    tct_value_set values;  /* those in cells, as far as needed */
    const char *reason;    /* of a failure, a constant             */
} tct_gpu_plan;

/* Choose the store, plan every window; clear the plan also after an error.
 * Errors      UNSUPPORTED (a store that loses something, a slice too wide),
 *             NO_MEMORY. */
tacit_status tct_gpu_plan_make(tct_gpu_maker *M, tct_gpu_plan *P);
void tct_gpu_plan_clear(tct_gpu_plan *P);
int64_t tct_gpu_plan_window(const tct_gpu_plan *P, int64_t i);
/* Bytes of a product's slices, without the rows kept apart. */
double tct_gpu_plan_bytes(const tct_gpu_maker *M, const tct_gpu_plan *P);
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * base/base.h - status and messages, memory, logging, timers, random numbers.
 * Knows nothing above it. */
#ifndef TCT_BASE_BASE_H
#define TCT_BASE_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tacit/status.h>

/* --- status ------------------------------------------------------------- */

#define FAIL(code, ...) return tacit_error_set((code), __VA_ARGS__)
#define REQUIRE(cond)                                                         \
    do {                                                                      \
        if (!(cond)) FAIL(TACIT_INVALID, "%s: expected %s", __func__, #cond); \
    } while (0)
#define TRY(call)                                \
    do {                                         \
        tacit_status try_status_ = (call);       \
        if (try_status_ < 0) return try_status_; \
    } while (0)

/* Replace the message of the last error (a peer's sentence, a file's name). */
void tct_set_error_message(const char *text);

/* `function`, which returns nothing, was to free `what` while a run needs it:
 * it is the message, INVALID, and a warning. */
void tct_leave(const char *function, const char *what);

/* --- log ---------------------------------------------------------------- */
enum { TCT_WARN = 0, TCT_NOTE = 1, TCT_DETAIL = 2 };
void tct_log(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- structs that grow --------------------------------------------------
 * A public struct that may get more members begins with its size, which the
 * caller sets: so a program that was compiled with another version's header
 * works. `type` is the struct's name. */

/* Errors      INVALID (`given` has no size, or none that can be). */
tacit_status tct_check_sized(const char *type, const void *given);
/* Bring what the caller gave into `own` [size bytes]; what his header does not
 * have is 0.
 * Errors      INVALID; UNSUPPORTED (he sets what this library does not have). */
tacit_status tct_read_sized(const char *type, const void *given, void *own,
                            size_t size);
/* As much of `own` [size bytes] as `to` has room for; what it has beyond is
 * 0. */
void tct_write_sized(const void *own, size_t size, void *to);

/* --- threads of OpenMP -------------------------------------------------- */

/* Until the end of this block OpenMP has at most `most` threads for the caller,
 * 0: as many as it would have; fewer where the system gives no more, and the
 * log tells. */
#define TCT_THREADS_AT_MOST(most)                                             \
    const int threads_before_ __attribute__((cleanup(tct_unlimit), unused)) = \
        tct_limit_threads(most)
int tct_limit_threads(int most);
void tct_unlimit(const int *before);

/* How many of `count` threads, 1024 at most, the system gives beside those
 * there are, each with `stack` bytes, 0: as is usual. They are made, and
 * ended. */
int tct_threads_had(int count, size_t stack);
size_t tct_stack_bytes(void); /* of a thread, as is usual */

/* --- memory ------------------------------------------------------------- */

/* Allocate `bytes` aligned to 64 bytes (large arrays: to huge pages), not
 * cleared. Returns NULL if there is none, also of much that could not be
 * written; 0 bytes give a valid pointer. */
void *tct_alloc(size_t bytes);
void *tct_calloc(size_t bytes);
/* Free what tct_alloc gave; NULL is fine. */
void tct_free(void *p);
/* The same for some, in their order; the last may hold the others. */
void tct_free_each(size_t count, void *const *p);
#define TCT_FREE(...)                                             \
    tct_free_each(sizeof(void *[]){__VA_ARGS__} / sizeof(void *), \
                  (void *[]){__VA_ARGS__})

/* Allocate `count` elements into `*out` or fail with NO_MEMORY, naming
 * `what`. */
tacit_status tct_alloc_array(size_t count, size_t size, const char *what,
                             void *out);
#define TCT_ALLOC(count, what, out) \
    tct_alloc_array((size_t)(count), sizeof **(out), (what), (out))

/* Give the pages wholly inside [p, p + bytes) back to the system, contents
 * lost: how a conversion frees its source while it goes. */
void tct_release_pages(void *p, size_t bytes);

/* Bytes this process may still allocate: by the system, its control groups and
 * its own limits. */
uint64_t tct_memory_available(void);

/* Fail with NO_MEMORY before anything is allocated if `bytes`, more than a MiB,
 * are not there; the message names `what` and says what to do. */
tacit_status tct_memory_require(double bytes, const char *what);
/* The same where `ranks` on this machine need `bytes` together. */
tacit_status tct_memory_require_of(int ranks, double bytes, const char *what);

/* Bytes allocated now, and blocks allocated now (tests look for leaks). */
size_t tct_memory_used(void);
size_t tct_memory_blocks(void);

/* Make the k-th allocation from now fail (1 is the next); 0 turns it off. */
void tct_memory_fail_at(long k);

/* --- time and numbers --------------------------------------------------- */
double tct_seconds(void); /* monotonic clock [s] */

/* A wait that is not to last for ever: has it taken `limit` seconds (0: it may
 * last)? Asked at every look in vain; few of them read the clock, and what has
 * passed between two counts for a second at most, since a process that was
 * stopped, perhaps with all the others, has not waited. */
typedef struct tct_timeout {
    double limit;
    double waited, last; /* the rest is 0 at first */
    unsigned looks;
} tct_timeout;
bool tct_is_over(tct_timeout *p);
/* How long to wait for a rank, for `limit`: what TACIT_PATIENCE says, or what
 * is long enough for one that was kept from its processor, and short enough for
 * who pays for the others.
 * Errors      INVALID (the variable). */
tacit_status tct_read_timeout(double *seconds);

/* `value` with the 24 bits of a float, but the range of doubles: nothing
 * overflows, and nothing becomes 0. */
static inline double tct_rounded(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits += 0x0fffffff + (bits >> 29 & 1);
    bits &= ~UINT64_C(0x1fffffff);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* splitmix64 of `z`; the base of all random numbers here. */
static inline uint64_t tct_mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* u(a, b) in [0, 1): the same for every rank and every order of calls. */
static inline double tct_uniform(uint64_t a, uint64_t b)
{
    return (double)(tct_mix(a * UINT64_C(0x9E3779B97F4A7C15) ^ tct_mix(b)) >>
                    11) *
           0x1p-53;
}

/* The largest Ritz value of `steps` (TCT_RITZ_STEPS at most) of conjugate
 * gradients: alpha [steps], and beta [steps - 1] between them. At most the
 * largest eigenvalue of M A, and mostly close to it. 0: they are not of a
 * positive definite matrix. */
enum { TCT_RITZ_STEPS = 32 };
double tct_ritz_largest(int steps, const double *alpha, const double *beta);

/* --- words -------------------------------------------------------------- */

/* The one of `names` [count] nearest to `word`, NULL if none is near. */
const char *tct_nearest(const char *word, const char *const *names,
                        size_t count);
/* Fail with INVALID: no `what` is called `name`; the nearest of `names`. */
tacit_status tct_unknown(const char *what, const char *name,
                         const char *const *names, size_t count);

/* Parse a whole string as a number; false if anything is left over. */
bool tct_parse_int64(const char *text, int64_t *out);
bool tct_parse_double(const char *text, double *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * base/base.h - status and messages, memory, logging, timers, random numbers.
 * It includes no other room. */
#ifndef TCT_BASE_BASE_H
#define TCT_BASE_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tacit/status.h>

/* --- status ------------------------------------------------------------- */

#define FAIL(code, ...) return tacit_error_set((code), __VA_ARGS__)
/* Of a caller's arguments, in functions that callers know by name: conditions,
 * as in REQUIRE(world != NULL, n == 0 || x != NULL). All of them are evaluated;
 * the message names the first that does not hold. */
#define REQUIRE(...)                                                    \
    do {                                                                \
        const bool holds_[] = {__VA_ARGS__};                            \
        for (size_t i_ = 0; i_ < sizeof holds_ / sizeof *holds_; i_++)  \
            if (!holds_[i_])                                            \
                return tct_refuse_argument(__func__, #__VA_ARGS__, i_); \
    } while (0)
/* Of this library's own calls. */
#define ENSURE(cond)                                               \
    do {                                                           \
        if (!(cond)) return tct_library_fault(__FILE__, __LINE__); \
    } while (0)
#define TRY(call)                                \
    do {                                         \
        tacit_status try_status_ = (call);       \
        if (try_status_ < 0) return try_status_; \
    } while (0)

/* INVALID: condition `i`, from 0, of `conditions` does not hold for the
 * arguments of `function`. */
tacit_status tct_refuse_argument(const char *function, const char *conditions,
                                 size_t i);
/* INVALID, with a sentence on a fault of the library itself. */
tacit_status tct_library_fault(const char *file, int line);

/* Replace the message of the last error (with a peer's sentence or a file's
 * name). */
void tct_set_error_message(const char *text);

/* Around a call of the user: hide the message, so that one that he sets shows.
 * The end shows it again where he has set none; after an error it says that,
 * with the status and the name of his `function`. */
char tct_user_call_begin(void);
tacit_status tct_user_call_end(char hidden, tacit_status status,
                               const char *function);

/* `function`, which returns no status, was called to free `what` during a run:
 * set the error message (INVALID) and log a warning. */
void tct_refuse_destroy(const char *function, const char *what);

/* --- log ---------------------------------------------------------------- */
enum { TCT_WARN = 0, TCT_NOTE = 1, TCT_DETAIL = 2 };
void tct_log(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- structs that grow --------------------------------------------------
 * A public struct that may get more members begins with its size, which the
 * caller sets, so that programs compiled with another version's header work.
 * `type` is the struct's name. */

/* Errors      INVALID (the size of `given` is 0 or not possible). */
tacit_status tct_check_sized(const char *type, const void *given);
/* Copy the caller's struct into `own` [size bytes]; members that his header
 * lacks are 0.
 * Errors      INVALID; UNSUPPORTED (he sets a member that this library
 * lacks). */
tacit_status tct_read_sized(const char *type, const void *given, void *own,
                            size_t size);
/* Copy `own` [size bytes] to the caller's struct `to`, up to its size; further
 * members of `to` are 0. */
void tct_write_sized(const void *own, size_t size, void *to);

/* --- threads ------------------------------------------------------------ */

/* Processors that this process may use. */
int tct_processors(void);
/* The first number of OMP_NUM_THREADS; 0: it is not set, or no number. */
int64_t tct_threads_wished(void);
/* Threads of this process, and a constant. */
long tct_tasks(void);
/* A joined thread counts against the limits for some us more: wait until there
 * are at most `tasks`, 10 ms at most. */
void tct_wait_for_exits(long tasks);

/* How many of `count` threads, 1024 at most, the system gives beside those
 * there are, each with `stack` bytes, 0: as is usual. They are made, and
 * ended. */
int tct_threads_had(int count, size_t stack);
size_t tct_stack_bytes(void); /* a thread's default */

/* --- memory ------------------------------------------------------------- */

/* Allocate `bytes` aligned to 64 bytes (large arrays: to huge pages), not
 * cleared; 0 bytes give a valid pointer. Returns NULL if memory is short, for
 * large blocks also if the system would give addresses without memory. */
void *tct_alloc(size_t bytes);
void *tct_calloc(size_t bytes);
/* The same in the system's own pages: for buffers that may stay unwritten in
 * parts, or that are released piece by piece. */
void *tct_alloc_small_pages(size_t bytes);
/* Do the arrays `a` [m] and `b` [n] share memory? */
static inline bool tct_overlap(const double *a, size_t m, const double *b,
                               size_t n)
{
    const uintptr_t at = (uintptr_t)a, other = (uintptr_t)b;
    return m > 0 && n > 0 && at < other + n * sizeof *b &&
           other < at + m * sizeof *a;
}
/* Free memory of tct_alloc; NULL is allowed. */
void tct_free(void *p);
/* Is the block kept for later calls? It is not counted then among those in
 * use. */
void tct_memory_keep(void *p, bool kept);
/* The same for some, in their order; the last may hold the others. */
void tct_free_each(size_t count, void *const *p);
#define TCT_FREE(...)                                             \
    tct_free_each(sizeof(void *[]){__VA_ARGS__} / sizeof(void *), \
                  (void *[]){__VA_ARGS__})

/* Allocate `count` elements into `*out`.
 * Errors      NO_MEMORY (the message names `what`). */
tacit_status tct_alloc_array(size_t count, size_t size, const char *what,
                             void *out);
#define TCT_ALLOC(count, what, out) \
    tct_alloc_array((size_t)(count), sizeof **(out), (what), (out))
/* The same by tct_alloc_small_pages. */
tacit_status tct_alloc_array_small_pages(size_t count, size_t size,
                                         const char *what, void *out);
#define TCT_ALLOC_SMALL_PAGES(count, what, out) \
    tct_alloc_array_small_pages((size_t)(count), sizeof **(out), (what), (out))

/* Give the pages wholly inside [p, p + bytes) back to the system; their
 * contents are lost. Conversions free their source in this way as they go. */
void tct_release_pages(void *p, size_t bytes);

/* Bytes this process may still allocate, by the system, its control groups and
 * its limits. */
uint64_t tct_memory_available(void);

/* Check that `bytes` are available, before they are allocated; up to one MiB is
 * not checked.
 * Errors      NO_MEMORY (the message names `what` and says what to do). */
tacit_status tct_memory_require(double bytes, const char *what);
/* The same for `ranks` on this machine that need `bytes` together. */
tacit_status tct_memory_require_of(int ranks, double bytes, const char *what);

/* Bytes allocated now, and blocks allocated now (tests look for leaks). */
size_t tct_memory_used(void);
size_t tct_memory_blocks(void);

/* Make the k-th allocation from now fail (1 is the next); 0 turns it off. */
void tct_memory_fail_at(long k);

/* --- time and numbers --------------------------------------------------- */
double tct_seconds(void); /* monotonic clock [s] */

/* A wait with a time limit: has it taken `limit` seconds (0: no limit)? Call it
 * at every failed check; it reads the clock once in 128 calls, and in each one
 * where these are slow. The time between two readings counts as at most one
 * second, and as an eighth of the limit, since a process that was stopped has
 * not waited. */
typedef struct tct_timeout {
    double limit;
    double waited, last; /* 0 at first, as is the rest */
    unsigned checks;
    bool slow; /* others have the processor between two checks */
} tct_timeout;
bool tct_is_over(tct_timeout *p);
/* The time limit [s] of waits for a rank: TACIT_PATIENCE, or a default that is
 * longer than a rank is likely to be kept from its processor.
 * Errors      INVALID (the variable). */
tacit_status tct_read_timeout(double *seconds);

/* `value` rounded to the 24 bits of a float, in the range of doubles: without
 * overflow or underflow. */
static inline double tct_rounded(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits += 0x0fffffff + (bits >> 29 & 1);
    bits &= ~UINT64_C(0x1fffffff);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* splitmix64 of `z`, the base of all random numbers. */
static inline uint64_t tct_mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* u(a, b) in [0, 1), the same on every rank and in every order of calls. */
static inline double tct_uniform(uint64_t a, uint64_t b)
{
    return (double)(tct_mix(a * UINT64_C(0x9E3779B97F4A7C15) ^ tct_mix(b)) >>
                    11) *
           0x1p-53;
}

/* The largest Ritz value of `steps` (TCT_RITZ_STEPS at most) of conjugate
 * gradients: alpha [steps], and beta [steps - 1] between them. A lower bound of
 * the largest eigenvalue of M A, mostly close. 0: the coefficients are not of a
 * positive definite matrix. */
enum { TCT_RITZ_STEPS = 32 };
double tct_ritz_largest(int steps, const double *alpha, const double *beta);
/* The largest over the smallest Ritz value, both within a factor of 1.1; 0 if
 * there are no steps. beta[i] = 0: the next step begins anew. */
double tct_ritz_condition(int64_t steps, const double *alpha,
                          const double *beta);

/* --- words -------------------------------------------------------------- */

/* The name in `names` [count] nearest to `word`; NULL if none is near. */
const char *tct_nearest(const char *word, const char *const *names,
                        size_t count);
/* Fail with INVALID: no `what` is called `name`; the nearest of `names`. */
tacit_status tct_unknown(const char *what, const char *name,
                         const char *const *names, size_t count);

/* Parse a whole string as a number; false if characters are left over. */
bool tct_parse_int64(const char *text, int64_t *out);
bool tct_parse_double(const char *text, double *out);

#endif

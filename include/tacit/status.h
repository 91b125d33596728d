/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/status.h - what a call came to.
 *
 * Every function that can fail returns a tacit_status: below 0 an error, with
 * a sentence in tacit_error_message(); 0 fine; above 0 an outcome, whose
 * results are valid. Outputs are written only on success.
 *
 * A struct that may get more members begins with its size:
 *
 *     tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
 *
 * and in C++ `tacit_stop stop{}; stop.size = sizeof stop;`. The library reads
 * and writes no more than that. So a program that was compiled with an older
 * header works with a newer library: what it does not know is 0 where it goes
 * in. And so does the reverse: what an older library does not know must be 0
 * where it goes in, or the call is UNSUPPORTED, and is 0 where it comes out.
 * A size that was not set is INVALID. Structs that the library owns and only
 * shows may get more members at their ends.
 *
 * Threads: all of this header may be called by any thread at any time, but
 * tacit_set_log. */
#ifndef TACIT_STATUS_H
#define TACIT_STATUS_H

#ifdef __cplusplus
#define TACIT_BEGIN_DECLS extern "C" {
#define TACIT_END_DECLS   }
#else
#define TACIT_BEGIN_DECLS
#define TACIT_END_DECLS
#endif

#if defined(__GNUC__) && !defined(TACIT_STATIC)
#define TACIT_API __attribute__((visibility("default")))
#else
#define TACIT_API
#endif

#ifdef __GNUC__ /* text as printf's, so that its arguments are checked */
#define TACIT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TACIT_PRINTF(text, first)
#endif

TACIT_BEGIN_DECLS

typedef enum tacit_status {
    TACIT_OK = 0,
    TACIT_NOT_CONVERGED = 1, /* the iteration limit, or no further progress */
    TACIT_INTERRUPTED = 2,   /* the monitor asked to stop                   */
    TACIT_BREAKDOWN = 3,     /* not positive definite, or not finite        */
    TACIT_INVALID = -1,      /* an argument or option that makes no sense   */
    TACIT_UNSUPPORTED = -2,  /* not in this build or not for this matrix    */
    TACIT_INPUT = -3,        /* bad data: a file, a matrix, a size          */
    TACIT_IO = -4,           /* reading or writing failed                   */
    TACIT_NO_MEMORY = -6,
    TACIT_DEVICE = -7, /* the device failed                           */
    TACIT_COMM = -8    /* a message or a peer failed                  */
} tacit_status;

/* The sentence that belongs to the last error of this thread, or to the last
 * outcome above 0, which it explains as an error: "not converged after ...";
 * "" if there was none. Success leaves it as it is: ask for it only after a
 * status that is not OK.
 * Returns     a string owned by the library, valid until the next error. */
TACIT_API const char *tacit_error_message(void);

/* Make that sentence, as printf does, and return `status`: for the caller's own
 * functions, whose errors the library's calls then hand on, and the ranks agree
 * on (tacit_world_agree). It is cut where it is longer than 1000 bytes; the
 * arguments may be of the sentence before. */
TACIT_API tacit_status tacit_error_set(tacit_status status, const char *format,
                                       ...) TACIT_PRINTF(2, 3);

/* The name of a status, such as "NO_MEMORY". */
TACIT_API const char *tacit_status_name(tacit_status status);

/* The version of the library that runs, such as "0.2.0". */
TACIT_API const char *tacit_version(void);

/* Receives what the library has to tell: level 0 warning, 1 note, 2 detail. */
typedef void (*tacit_log_fn)(void *ctx, int level, const char *text);

/* Send the library's messages to `fn`, which borrows `ctx`; NULL is silence,
 * the default. Not thread-safe: call it before anything else; `fn` is called by
 * every thread that uses the library. */
TACIT_API void tacit_set_log(tacit_log_fn fn, void *ctx);

TACIT_END_DECLS
#endif

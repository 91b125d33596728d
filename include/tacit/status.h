/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/status.h - the status of a call.
 *
 * Every function that can fail returns a tacit_status: below 0 an error, with a
 * message in tacit_error_message(); 0 success; above 0 an outcome, with valid
 * results. Outputs are written only on success.
 *
 * A struct that may get more members begins with its size:
 *
 *     tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
 *
 * and in C++ `tacit_stop stop{}; stop.size = sizeof stop;`. The library reads
 * and writes only that many bytes. So a program compiled with an older header
 * works with a newer library, which takes missing members as 0. Members unknown
 * to an older library must be 0 on input, or the call is UNSUPPORTED, and are 0
 * on output. A size that is not set is INVALID. Structs owned by the library
 * may get more members at their ends.
 *
 * Threads: any thread may call the functions of this header at any time, except
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
    TACIT_INVALID = -1,      /* an invalid argument or option               */
    TACIT_UNSUPPORTED = -2,  /* not in this build or not for this matrix    */
    TACIT_INPUT = -3,        /* bad data: a file, a matrix, a size          */
    TACIT_IO = -4,           /* reading or writing failed                   */
    TACIT_NO_MEMORY = -6,
    TACIT_DEVICE = -7, /* the device failed                           */
    TACIT_COMM = -8    /* a message or a peer failed                  */
} tacit_status;

/* The message of this thread's last error or outcome above 0: "not converged
 * after ..."; "" if there was none. Success does not change it: read it only
 * after a status other than OK.
 * Returns     a string owned by the library, valid until the next error. */
TACIT_API const char *tacit_error_message(void);

/* Set that message, as printf does, and return `status`: for the caller's own
 * functions, whose errors the library's calls return, and the ranks agree on
 * (tacit_world_agree). It is cut after 1000 bytes; arguments may point into the
 * last message. */
TACIT_API tacit_status tacit_error_set(tacit_status status, const char *format,
                                       ...) TACIT_PRINTF(2, 3);

/* The name of a status, such as "NO_MEMORY". */
TACIT_API const char *tacit_status_name(tacit_status status);

/* The version of the library that runs, such as "0.2.0". */
TACIT_API const char *tacit_version(void);

/* Receives the library's messages: level 0 warning, 1 note, 2 detail. */
typedef void (*tacit_log_fn)(void *ctx, int level, const char *text);

/* Send the library's messages to `fn`, which borrows `ctx`; NULL, the default,
 * is silence. Not thread-safe: call it first; `fn` is called by every thread
 * that uses the library. */
TACIT_API void tacit_set_log(tacit_log_fn fn, void *ctx);

TACIT_END_DECLS
#endif

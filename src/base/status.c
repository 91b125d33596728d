/* SPDX-License-Identifier: BSD-3-Clause
 * base/status.c - the message of the last error, and the log. */
#include "base/base.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];
static tacit_log_fn log_fn;
static void *log_ctx;

/* --- text ----------------------------------------------------------------- */

/* Bytes of the printable character at `s`, in UTF-8, a tab or a new line; 0:
 * there is none. */
static int character_at(const unsigned char *s)
{
    const int bytes = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == '\t' || s[0] == '\n') return 1;
    if (bytes == 1) return s[0] >= ' ' && s[0] != 0x7f;
    if (s[0] < 0xc2 || s[0] > 0xf4 || (s[0] == 0xc2 && s[1] < 0xa0)) return 0;
    for (int k = 1; k < bytes; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    return bytes;
}

/* Words of files and names stand in sentences, and may hold anything. */
static void make_printable(char *text)
{
    for (unsigned char *s = (unsigned char *)text; *s;) {
        const int bytes = character_at(s);
        if (bytes == 0) *s = '?';
        s += bytes ? bytes : 1;
    }
}

/* --- the last error ------------------------------------------------------- */

tacit_status tacit_error_set(tacit_status status, const char *format, ...)
{
    char text[sizeof message]; /* the arguments may point into `message` */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_printable(text);
    memcpy(message, text, sizeof message);
    return status;
}

/* The comma that ends the condition at `s`, or the end of all. */
static const char *end_of_condition(const char *s)
{
    for (int depth = 0; *s && (depth > 0 || *s != ','); s++)
        depth += (*s == '(') - (*s == ')');
    return s;
}

/* Where the last `word` of [s, end) begins; NULL: nowhere. */
static const char *last_word(const char *s, const char *end, const char *word)
{
    const char *found = NULL;
    const size_t n = strlen(word);
    for (; (size_t)(end - s) >= n; s++)
        if (strncmp(s, word, n) == 0) found = s;
    return found;
}

/* A condition ends with "x != NULL", or says itself what is expected. */
tacit_status tct_refuse_argument(const char *function, const char *conditions,
                                 size_t i)
{
    const char *s = conditions, *end = end_of_condition(s);
    for (; i > 0 && *end; i--, end = end_of_condition(s))
        s = end + 1 + strspn(end + 1, " ");
    const char *unless = last_word(s, end, "|| ");
    const char *name = unless ? unless + 3 : s;
    const char *is = last_word(name, end, " != ");
    if (!is)
        FAIL(TACIT_INVALID, "%s: expected %.*s", function, (int)(end - s), s);
    FAIL(TACIT_INVALID, "%s: %.*s is %.*s", function, (int)(is - name), name,
         (int)(end - is - 4), is + 4);
}

tacit_status tct_library_fault(const char *file, int line)
{
    const char *slash = strrchr(file, '/');
    FAIL(TACIT_INVALID,
         "a fault of this library, at line %d of %s: please report it", line,
         slash ? slash + 1 : file);
}

void tct_set_error_message(const char *text)
{
    snprintf(message, sizeof message, "%s", text);
    make_printable(message);
}

char tct_user_call_begin(void)
{
    const char hidden = message[0];
    message[0] = '\0';
    return hidden;
}

tacit_status tct_user_call_end(char hidden, tacit_status status,
                               const char *function)
{
    if (message[0] != '\0') return status;
    if (status < 0)
        FAIL(status,
             "the caller's function `%s` returned %s (%d) without a message: "
             "set one by tacit_error_set",
             function, tacit_status_name(status), (int)status);
    message[0] = hidden;
    return status;
}

void tct_refuse_destroy(const char *function, const char *what)
{
    tacit_error_set(TACIT_INVALID,
                    "%s: a run with this %s is under way: nothing is freed",
                    function, what);
    tct_log(TCT_WARN, "%s", message);
}

const char *tacit_error_message(void)
{
    return message;
}

const char *tacit_status_name(tacit_status status)
{
    switch (status) {
    case TACIT_OK: return "OK";
    case TACIT_NOT_CONVERGED: return "NOT_CONVERGED";
    case TACIT_INTERRUPTED: return "INTERRUPTED";
    case TACIT_BREAKDOWN: return "BREAKDOWN";
    case TACIT_INVALID: return "INVALID";
    case TACIT_UNSUPPORTED: return "UNSUPPORTED";
    case TACIT_INPUT: return "INPUT";
    case TACIT_IO: return "IO";
    case TACIT_NO_MEMORY: return "NO_MEMORY";
    case TACIT_DEVICE: return "DEVICE";
    case TACIT_COMM: return "COMM";
    }
    return "unknown status";
}

const char *tacit_version(void)
{
    return TACIT_VERSION;
}

void tacit_set_log(tacit_log_fn fn, void *ctx)
{
    log_fn = fn;
    log_ctx = ctx;
}

void tct_log(int level, const char *format, ...)
{
    if (!log_fn) return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_printable(text);
    log_fn(log_ctx, level, text);
}

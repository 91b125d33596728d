/* SPDX-License-Identifier: BSD-3-Clause
 * tests/said.h - calls that must succeed, and calls that must fail with a
 * text. */
#ifndef TESTS_SAID_H
#define TESTS_SAID_H
#include <string.h>
#include <tacit/tacit.h>

#ifndef OK /* gpu.h has one that names the place */
#define OK(call)                                              \
    do {                                                      \
        if ((call) != TACIT_OK)                               \
            fail_msg("%s: %s", #call, tacit_error_message()); \
    } while (0)
#endif
#define REFUSES(status, text, call)                        \
    do {                                                   \
        assert_int_equal((call), (status));                \
        if (!strstr(tacit_error_message(), (text)))        \
            fail_msg("%s: no '%s' in '%s'", #call, (text), \
                     tacit_error_message());               \
    } while (0)

#endif

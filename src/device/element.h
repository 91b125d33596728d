/* SPDX-License-Identifier: BSD-3-Clause
 * device/element.h - the types in which the elements of vectors are stored. A
 * type is a row: its name and that of C. Arithmetic is in doubles, with a load
 * and a store for each type, so a type of 16 bits is a row and these two. */
#ifndef TCT_DEVICE_ELEMENT_H
#define TCT_DEVICE_ELEMENT_H
#include <stddef.h>
#include <stdint.h>
#include <tacit/queue.h>

/* X(element, name, stored), in the order of tacit_element */
#define TCT_ELEMENT_TYPES(X) \
    X(TACIT_F64, "f64", double) X(TACIT_F32, "f32", float)

enum {
#define X(element, name, stored) +1
    TCT_ELEMENTS = TCT_ELEMENT_TYPES(X),
#undef X
#define X(element, name, stored) | 1 << (element)
    TCT_ALL_ELEMENTS = 0 TCT_ELEMENT_TYPES(X) /* a bit for each type */
#undef X
};

static inline size_t tct_element_bytes(tacit_element element)
{
    static const size_t bytes[] = {
#define X(element, name, stored) sizeof(stored),
        TCT_ELEMENT_TYPES(X)
#undef X
    };
    return bytes[element];
}

static inline const char *tct_element_name(tacit_element element)
{
    static const char *const names[] = {
#define X(element, name, stored) (name),
        TCT_ELEMENT_TYPES(X)
#undef X
    };
    return names[element];
}

/* The address of element `i` of a vector; `x` may be NULL if i is 0. */
static inline void *tct_element_at(tacit_element element, const void *x,
                                   int64_t i)
{
    return (char *)(uintptr_t)x + i * (int64_t)tct_element_bytes(element);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * base/constant.h - tables that C reads at run time, and that C++ evaluates
 * while it compiles. */
#ifndef TCT_BASE_CONSTANT_H
#define TCT_BASE_CONSTANT_H

#ifdef __cplusplus
#define TCT_CONSTANT          static constexpr
#define TCT_CONSTANT_FUNCTION static constexpr
#else
#define TCT_CONSTANT          static const
#define TCT_CONSTANT_FUNCTION static inline
#endif

#endif

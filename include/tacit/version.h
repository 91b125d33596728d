/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/version.h - the version of these headers, for the preprocessor; that of
 * the library that runs is tacit_version().
 *
 *     #if TACIT_VERSION_NUMBER >= 200
 *
 * Until 1.0 a new minor version may change the interface. */
#ifndef TACIT_VERSION_H
#define TACIT_VERSION_H

#define TACIT_VERSION_MAJOR 0
#define TACIT_VERSION_MINOR 2
#define TACIT_VERSION_PATCH 0

/* 10000 major + 100 minor + patch */
#define TACIT_VERSION_NUMBER                                   \
    (10000 * TACIT_VERSION_MAJOR + 100 * TACIT_VERSION_MINOR + \
     TACIT_VERSION_PATCH)

#endif

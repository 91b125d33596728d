/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/device/gpu/gpu.h - nothing: launches are not emulated. */
#ifndef TESTS_EMULATED_DEVICE_GPU_GPU_H
#define TESTS_EMULATED_DEVICE_GPU_GPU_H
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/device/gpu/epilogue.cuh - nothing: launches are not emulated. */
#ifndef TESTS_EMULATED_DEVICE_GPU_EPILOGUE_CUH
#define TESTS_EMULATED_DEVICE_GPU_EPILOGUE_CUH
#endif

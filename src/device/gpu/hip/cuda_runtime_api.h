/* SPDX-License-Identifier: BSD-3-Clause
 * device/gpu/hip/cuda_runtime_api.h - the one name of CUDA's runtime in
 * tacit/cuda.h, for builds for HIP. */
#ifndef TCT_DEVICE_GPU_HIP_CUDA_RUNTIME_API_H
#define TCT_DEVICE_GPU_HIP_CUDA_RUNTIME_API_H
#include <hip/hip_runtime_api.h>

typedef hipStream_t cudaStream_t;

#endif

# SPDX-License-Identifier: BSD-3-Clause
# The GPU code by HIP instead of CUDA: it compiles for AMD's GPUs, and has never
# run on one. Needs clang 18 or newer, HIP 5.2 or newer and ROCm's device libraries:
# scripts/setup --hip installs them. Sets TACIT_HAVE_HIP; and TACIT_HAVE_GPU,
# which is that or TACIT_HAVE_CUDA. Such a build has the tests of tests/hip alone.
option(TACIT_HIP "Compile the GPU code by HIP, for AMD: it has never run there" OFF)
set(TACIT_HIP_ARCHITECTURES gfx90a CACHE STRING "What HIP compiles for: gfx90a, gfx942")
set(TACIT_HIP_OPTIMISE -O3 CACHE STRING "How HIP optimises kernels")
mark_as_advanced(TACIT_HIP_OPTIMISE)
set(TACIT_HAVE_HIP OFF)
set(TACIT_HAVE_GPU ${TACIT_HAVE_CUDA})
if(NOT TACIT_HIP)
  return()
endif()
if(TACIT_HAVE_CUDA)
  message(FATAL_ERROR "TACIT_HIP=ON and TACIT_CUDA=${TACIT_CUDA}: a build has one "
    "of them; set TACIT_CUDA=OFF")
endif()
if(TACIT_NVSHMEM AND NOT TACIT_NVSHMEM STREQUAL "AUTO")
  message(FATAL_ERROR "TACIT_HIP=ON and TACIT_NVSHMEM=${TACIT_NVSHMEM}: HIP has "
    "no NVSHMEM; set TACIT_NVSHMEM=OFF")
endif()

find_program(TACIT_HIP_COMPILER NAMES clang++-19 clang++-18 amdclang++ clang++
  HINTS /opt/rocm/llvm/bin)
find_path(TACIT_HIP_INCLUDE hip/hip_runtime.h HINTS /opt/rocm/include)
find_library(TACIT_HIP_LIBRARY amdhip64 HINTS /opt/rocm/lib)
find_path(TACIT_HIP_BITCODE ocml.bc HINTS /opt/rocm/amdgcn/bitcode
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode /usr/lib/amdgcn/bitcode)
foreach(part IN ITEMS COMPILER INCLUDE LIBRARY BITCODE)
  if(NOT TACIT_HIP_${part})
    message(FATAL_ERROR "TACIT_HIP=ON, but TACIT_HIP_${part} is not found: "
      "run scripts/setup --hip, or set it")
  endif()
endforeach()
if(NOT CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_COMPILER ${TACIT_HIP_COMPILER})
endif()
enable_language(CXX)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang"
   OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 18)
  message(FATAL_ERROR "TACIT_HIP=ON needs clang 18 or newer, and "
    "${CMAKE_CXX_COMPILER} is not: set TACIT_HIP_COMPILER")
endif()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-resource-dir
  OUTPUT_VARIABLE tacit_hip_resources OUTPUT_STRIP_TRAILING_WHITESPACE)

# Libraries of ROCm 5.2 call gfx942 by the name of its samples, gfx940.
set(tacit_hip_bitcode ${TACIT_HIP_BITCODE})
set(tacit_hip_942 ${TACIT_HIP_BITCODE}/oclc_isa_version_942.bc)
set(tacit_hip_940 ${TACIT_HIP_BITCODE}/oclc_isa_version_940.bc)
if(EXISTS ${tacit_hip_940} AND NOT EXISTS ${tacit_hip_942})
  set(tacit_hip_bitcode ${PROJECT_BINARY_DIR}/hip-bitcode)
  file(COPY ${TACIT_HIP_BITCODE}/ DESTINATION ${tacit_hip_bitcode})
  file(COPY_FILE ${tacit_hip_940} ${tacit_hip_bitcode}/oclc_isa_version_942.bc)
endif()

# `table`: each kernel has the shared memory of the functions that it calls, not
# of all in its file.
set(tacit_hip_options -x hip -nogpuinc -isystem ${tacit_hip_resources}
  "SHELL:-include hip/hip_runtime.h" --rocm-device-lib-path=${tacit_hip_bitcode}
  -mcode-object-version=5 -fuse-ld=lld
  "SHELL:-mllvm -amdgpu-lower-module-lds-strategy=table"
  -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics
  -fvisibility=hidden -Wall -Wextra -Wno-pass-failed -Wno-sign-compare
  $<$<BOOL:${TACIT_WERROR}>:-Werror> ${TACIT_HIP_OPTIMISE})
foreach(arch IN LISTS TACIT_HIP_ARCHITECTURES)
  list(APPEND tacit_hip_options --offload-arch=${arch})
endforeach()

add_library(tacit_hip INTERFACE)
target_include_directories(tacit_hip SYSTEM INTERFACE ${TACIT_HIP_INCLUDE})
target_include_directories(tacit_hip INTERFACE ${PROJECT_SOURCE_DIR}/src/device/gpu/hip)
target_compile_definitions(tacit_hip INTERFACE
  TCT_HIP=1 GPU_WAVE=64 __HIP_PLATFORM_AMD__)
target_link_libraries(tacit_hip INTERFACE ${TACIT_HIP_LIBRARY})

set(TACIT_HAVE_HIP ON)
set(TACIT_HAVE_GPU ON)
set(TACIT_TESTS OFF)

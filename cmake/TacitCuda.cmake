# SPDX-License-Identifier: BSD-3-Clause
# The cuda device: built where nvcc is (12.4 or newer), needs no GPU to build.
# Sets TACIT_HAVE_CUDA. Architectures: CMAKE_CUDA_ARCHITECTURES, by default
# sm_80 and sm_90, and what newer ones can compile for themselves. Those in
# TACIT_CUDA_PROVE are compiled as far as PTX, without optimising and without
# becoming part of anything: scripts/check optimises for one, and proves another.
set(TACIT_CUDA_PROVE "" CACHE STRING
  "Architectures the kernels must compile for besides, such as 80")
set(TACIT_CUDA_OPTIMISE "" CACHE STRING
  "How kernels of the GPU are optimised, where nvcc's own way takes too long")
mark_as_advanced(TACIT_CUDA_OPTIMISE)
set(TACIT_HAVE_CUDA OFF)
if(TACIT_CUDA STREQUAL "AUTO" AND TACIT_SANITIZE)
  return() # the CUDA runtime and the sanitizers do not go together
endif()
if(NOT TACIT_CUDA)
  return()
endif()
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(TACIT_NVCC nvcc
    HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  if(TACIT_NVCC)
    set(CMAKE_CUDA_COMPILER ${TACIT_NVCC})
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80;90")
endif()
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  find_package(CUDAToolkit)
endif()
if(CUDAToolkit_FOUND AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.4)
  set(TACIT_HAVE_CUDA ON)
  set(CMAKE_CUDA_STANDARD 17)
  # Kernels are unpacked when they are first used, which a small matrix waits for.
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
    string(APPEND CMAKE_CUDA_FLAGS " --compress-mode=speed")
  endif()
elseif(NOT TACIT_CUDA STREQUAL "AUTO")
  message(FATAL_ERROR "TACIT_CUDA=${TACIT_CUDA}, but there is no CUDA toolkit "
    "12.4 or newer: put nvcc into PATH, or set CUDACXX")
endif()

# SPDX-License-Identifier: BSD-3-Clause
# The module for NVSHMEM's own device calls (src/comm/link/gpu/nvshmem_module.cu), built
# where NVSHMEM's headers and its device library are: nothing else needs them. Sets
# TACIT_HAVE_NVSHMEM, and the target tacit_nvshmem_device. TACIT_NVSHMEM_HOME has
# their include/ and lib/, as the environment's NVSHMEM_HOME, and as the Python
# package nvidia-nvshmem has.
set(TACIT_NVSHMEM_HOME "" CACHE PATH "Folder with NVSHMEM's include and lib")
set(TACIT_HAVE_NVSHMEM OFF)
if(NOT TACIT_NVSHMEM OR (TACIT_NVSHMEM STREQUAL "AUTO" AND NOT TACIT_HAVE_CUDA))
  return()
endif()
if(TACIT_HAVE_CUDA)
  set(tacit_nvshmem_places HINTS ${TACIT_NVSHMEM_HOME} ENV NVSHMEM_HOME)
  find_path(TACIT_NVSHMEM_INCLUDE nvshmemx.h ${tacit_nvshmem_places}
    PATH_SUFFIXES include nvshmem)
  find_file(TACIT_NVSHMEM_DEVICE libnvshmem_device.a ${tacit_nvshmem_places}
    PATHS /usr/lib /usr/local/lib PATH_SUFFIXES lib lib64)
  # without a link by the plain name in Python's package
  find_file(TACIT_NVSHMEM_HOST NAMES libnvshmem_host.so.3 libnvshmem_host.so
    ${tacit_nvshmem_places} PATHS /usr/lib /usr/local/lib PATH_SUFFIXES lib lib64)
endif()
if(TACIT_NVSHMEM_INCLUDE AND TACIT_NVSHMEM_DEVICE AND TACIT_NVSHMEM_HOST)
  add_library(tacit_nvshmem_device INTERFACE IMPORTED)
  set_target_properties(tacit_nvshmem_device PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${TACIT_NVSHMEM_INCLUDE}
    INTERFACE_LINK_LIBRARIES "${TACIT_NVSHMEM_DEVICE};${TACIT_NVSHMEM_HOST}")
  set(TACIT_HAVE_NVSHMEM ON)
elseif(TACIT_NVSHMEM STREQUAL "AUTO")
  message(STATUS "NVSHMEM is not here: link nvshmem will be without messages "
    "between GPUs that do not reach each other (TACIT_NVSHMEM_HOME says where "
    "its include and lib are)")
else()
  message(FATAL_ERROR "TACIT_NVSHMEM=${TACIT_NVSHMEM}, but there are no "
    "nvshmemx.h, libnvshmem_device.a and libnvshmem_host.so.3, or no CUDA: set "
    "TACIT_NVSHMEM_HOME to the folder of their include and lib")
endif()

# SPDX-License-Identifier: BSD-3-Clause
# What others keep well: threads, MPI, METIS, PT-Scotch, zlib, liblzma, libzip,
# cJSON. Sets TACIT_HAVE_ZIP.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
if(TACIT_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS C)
endif()
if(TACIT_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

# A library that brings neither a CMake package nor, everywhere, a pkg-config
# file: its header, in a folder of its own if need be, and its binary.
function(tacit_find_plain target header library package)
  find_path(${target}_INCLUDE ${header} PATH_SUFFIXES scotch)
  find_library(${target}_LIBRARY ${library})
  if(NOT ${target}_INCLUDE OR NOT ${target}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${library} is missing: "
                        "install ${package} (scripts/setup${ARGN} does)")
  endif()
  add_library(${target} INTERFACE IMPORTED)
  set_target_properties(${target} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${${target}_INCLUDE}
    INTERFACE_LINK_LIBRARIES ${${target}_LIBRARY})
endfunction()
tacit_find_plain(tacit_metis metis.h metis libmetis-dev)
tacit_find_plain(tacit_cjson cjson/cJSON.h cjson libcjson-dev)

# libzip's own CMake package asks for its programs, too.
set(TACIT_HAVE_ZIP OFF)
if(TACIT_ZIP STREQUAL "AUTO")
  find_path(tacit_zip_INCLUDE zip.h)
  find_library(tacit_zip_LIBRARY zip)
endif()
if(TACIT_ZIP STREQUAL "AUTO" AND NOT (tacit_zip_INCLUDE AND tacit_zip_LIBRARY))
  message(STATUS "libzip is missing: .npz files will be refused "
                 "(install libzip-dev; scripts/setup does)")
elseif(TACIT_ZIP)
  tacit_find_plain(tacit_zip zip.h zip libzip-dev)
  set(TACIT_HAVE_ZIP ON)
endif()

# Off unless asked for: its licence, CeCILL-C, asks more of who passes it on.
set(tacit_ptscotch_libraries "")
if(TACIT_PTSCOTCH)
  if(NOT TACIT_MPI)
    message(FATAL_ERROR "TACIT_PTSCOTCH needs TACIT_MPI: PT-Scotch talks through MPI")
  endif()
  set(tacit_ptscotch_libraries ptscotch scotch ptscotcherr)
  foreach(library IN LISTS tacit_ptscotch_libraries)
    tacit_find_plain(tacit_${library} ptscotch.h ${library} libptscotch-dev " --ptscotch")
  endforeach()
endif()

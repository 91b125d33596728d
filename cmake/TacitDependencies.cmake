# SPDX-License-Identifier: BSD-3-Clause
# What others keep well: threads, MPI, METIS, PT-Scotch, zlib, liblzma, libzip,
# cJSON. Sets TACIT_HAVE_ZIP and TACIT_HAVE_SUPERLU_DIST.
find_package(Threads REQUIRED)
macro(tacit_find_package name package)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} is missing: install ${package} (scripts/setup does)")
  endif()
endmacro()
tacit_find_package(ZLIB zlib1g-dev)
tacit_find_package(LibLZMA liblzma-dev)
if(TACIT_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  # Ranks may outnumber processors: Open MPI has to be told.
  set(tacit_mpirun ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none)
  if(MPI_C_INCLUDE_DIRS MATCHES "mpich")
    set(tacit_mpirun ${MPIEXEC_EXECUTABLE} -bind-to none)
    # gcc takes its MPI_STATUSES_IGNORE, 1, for an array that is too short
    target_compile_options(tacit_flags INTERFACE -Wno-stringop-overflow)
  endif()
endif()

# A library that brings neither a CMake package nor, everywhere, a pkg-config
# file: its header, in a folder of its own if need be, and its binary.
function(tacit_find_plain target header library package)
  find_path(${target}_INCLUDE ${header} PATH_SUFFIXES scotch superlu-dist suitesparse)
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
if(NOT SKBUILD) # of the program alone
  tacit_find_plain(tacit_cjson cjson/cJSON.h cjson libcjson-dev)
endif()

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

# Factors of others: the library takes their structs from the headers and calls
# none of their functions; tests and benchmarks are linked with them.
set(TACIT_HAVE_SUPERLU_DIST OFF)
if(TACIT_SUPERLU_DIST STREQUAL "AUTO")
  find_path(tacit_superlu_dist_INCLUDE superlu_ddefs.h PATH_SUFFIXES superlu-dist)
  find_library(tacit_superlu_dist_LIBRARY superlu_dist)
endif()
if(NOT TACIT_MPI)
  if(TACIT_SUPERLU_DIST STREQUAL "ON")
    message(FATAL_ERROR "TACIT_SUPERLU_DIST needs TACIT_MPI: its headers name MPI's types")
  endif()
elseif(TACIT_SUPERLU_DIST STREQUAL "AUTO" AND
       NOT (tacit_superlu_dist_INCLUDE AND tacit_superlu_dist_LIBRARY))
  message(STATUS "SuperLU_DIST is missing: its factors will be refused "
                 "(install libsuperlu-dist-dev; scripts/setup --factors does)")
elseif(TACIT_SUPERLU_DIST)
  tacit_find_plain(tacit_superlu_dist superlu_ddefs.h superlu_dist
                   "libsuperlu-dist-dev" " --factors")
  file(STRINGS ${tacit_superlu_dist_INCLUDE}/superlu_defs.h version
       REGEX "define SUPERLU_DIST_(MAJOR|MINOR)_VERSION")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2" version "${version}")
  if(version VERSION_GREATER_EQUAL 8.1)
    set(TACIT_HAVE_SUPERLU_DIST ON)
  elseif(TACIT_SUPERLU_DIST STREQUAL "AUTO")
    message(STATUS "SuperLU_DIST ${version} is older than 8.1: its factors will be refused")
  else()
    message(FATAL_ERROR "SuperLU_DIST ${version} is older than 8.1")
  endif()
endif()
if(TACIT_CHOLMOD)
  tacit_find_plain(tacit_cholmod cholmod.h cholmod libsuitesparse-dev " --factors")
endif()

# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` gives: headers, libraries, program, man page, a CMake
# package and pkg-config files. All of them find each other by relative paths,
# so that the tree may be moved, or installed with another --prefix.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tacit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp"
        PATTERN "mpi.h" EXCLUDE PATTERN "triggered_mpi.h" EXCLUDE
        PATTERN "cuda.h" EXCLUDE)
if(TACIT_MPI)
  install(FILES include/tacit/mpi.h include/tacit/triggered_mpi.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tacit)
endif()
if(TACIT_HAVE_CUDA)
  install(FILES include/tacit/cuda.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tacit)
endif()
install(TARGETS tacit)
if(TACIT_HAVE_NVSHMEM)
  install(TARGETS tacit_nvshmem DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES docs/tacit.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tacit)
foreach(kind IN ITEMS static shared)
  install(TARGETS tacit_${kind} EXPORT tacit_${kind}_targets)
  install(EXPORT tacit_${kind}_targets NAMESPACE tacit::
          FILE tacit-${kind}.cmake DESTINATION ${package_dir})
endforeach()
configure_package_config_file(cmake/tacitConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tacitConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tacitConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tacitConfig.cmake
              ${PROJECT_BINARY_DIR}/tacitConfigVersion.cmake
        DESTINATION ${package_dir})

# Programs link it as tacit::triggered_mpi, or by -ltacit-triggered-mpi.
if(TACIT_MPI)
  install(TARGETS tacit_triggered_mpi EXPORT tacit_triggered_mpi_targets)
  install(EXPORT tacit_triggered_mpi_targets NAMESPACE tacit::
          FILE tacit-triggered-mpi.cmake DESTINATION ${package_dir})
endif()

# From <libdir>/pkgconfig up to the prefix.
file(RELATIVE_PATH pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
set(pc_private "-lmetis -lz -llzma -lm -ldl -pthread")
if(TACIT_HAVE_ZIP)
  string(PREPEND pc_private "-lzip ")
endif()
foreach(library IN LISTS tacit_ptscotch_libraries)
  string(APPEND pc_private " -l${library}")
endforeach()
if(TACIT_MPI)
  string(REPLACE ";" " " pc_mpi "${MPI_C_LIBRARIES}")
  string(APPEND pc_private " ${pc_mpi}")
endif()
if(TACIT_HAVE_CUDA)
  string(APPEND pc_private
    " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
configure_file(cmake/tacit.pc.in ${PROJECT_BINARY_DIR}/tacit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tacit.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For programs that include tacit/mpi.h: the same, and MPI as it was found.
if(TACIT_MPI)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE pc_mpi_cflags)
  list(JOIN pc_mpi_cflags " " pc_mpi_cflags)
  configure_file(cmake/tacit-mpi.pc.in ${PROJECT_BINARY_DIR}/tacit-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tacit-mpi.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

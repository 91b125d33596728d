# SPDX-License-Identifier: BSD-3-Clause
# The parts of this build, and how missing ones are asked for.
function(tacit_says what has lack)
  if(has)
    message(STATUS "  ${what}: yes")
  else()
    message(STATUS "  ${what}: no (${lack})")
  endif()
endfunction()

# How a library is had that is off unless asked for.
function(tacit_says_optional what has option setup)
  tacit_says("${what}" "${has}" "-D${option}=ON; scripts/setup --${setup} installs it")
endfunction()

message(STATUS "Tacit ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}:")
tacit_says("MPI" "${TACIT_MPI}" "-DTACIT_MPI=ON")
tacit_says("GPUs by CUDA" "${TACIT_HAVE_CUDA}" "-DTACIT_CUDA=ON; needs nvcc")
tacit_says("link nvshmem between machines" "${TACIT_HAVE_NVSHMEM}" "-DTACIT_NVSHMEM=ON; needs CUDA and NVSHMEM")
tacit_says_optional("GPUs by HIP" "${TACIT_HAVE_HIP}" TACIT_HIP hip)
tacit_says("files .npz, by libzip" "${TACIT_HAVE_ZIP}" "-DTACIT_ZIP=ON; scripts/setup installs libzip-dev")
tacit_says_optional("partitioner PT-Scotch (CeCILL-C)" "${TACIT_PTSCOTCH}" TACIT_PTSCOTCH ptscotch)
tacit_says_optional("factors of CHOLMOD (GPL)" "${TACIT_CHOLMOD}" TACIT_CHOLMOD factors)
tacit_says_optional("factors of SuperLU_DIST" "${TACIT_HAVE_SUPERLU_DIST}" TACIT_SUPERLU_DIST factors)
tacit_says("tests" "${TACIT_TESTS}" "-DTACIT_TESTS=ON")

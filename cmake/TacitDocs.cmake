# SPDX-License-Identifier: BSD-3-Clause
# `cmake --build ... --target docs`: the API reference, where Doxygen is.
find_program(DOXYGEN doxygen)
if(DOXYGEN)
  configure_file(docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(docs
    COMMAND ${DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
    COMMENT "API reference: ${PROJECT_BINARY_DIR}/docs/html/index.html" VERBATIM)
else()
  add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -E echo "doxygen is missing: scripts/setup --docs"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()

# SPDX-License-Identifier: BSD-3-Clause
# One interface target carries the flags of every C file of the project.
add_library(tacit_flags INTERFACE)
target_compile_options(tacit_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wswitch-enum)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  # a loop that clang does not vectorise is slower, not wrong
  target_compile_options(tacit_flags INTERFACE -Wno-pass-failed)
endif()
target_compile_definitions(tacit_flags INTERFACE _GNU_SOURCE)
if(TACIT_WERROR)
  target_compile_options(tacit_flags INTERFACE -Werror)
endif()
if(TACIT_SANITIZE)
  target_compile_options(tacit_flags INTERFACE
    -fsanitize=${TACIT_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(tacit_flags INTERFACE -fsanitize=${TACIT_SANITIZE})
endif()

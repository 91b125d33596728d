# SPDX-License-Identifier: BSD-3-Clause
# A short way to say what CMake does; PRESET=host-asan make ... picks another
# configuration of CMakePresets.json.
PRESET ?= host
PREFIX ?= /usr/local
build = build/$(PRESET)

all: $(build)/build.ninja
	@cmake --build $(build)
$(build)/build.ninja:
	@cmake --preset $(PRESET)
check: all
	@ctest --preset $(PRESET)
lint: all
	@ctest --preset $(PRESET) -L lint
install: all
	@cmake --install $(build) --prefix $(PREFIX)
docs: all
	@cmake --build $(build) --target docs
bench: all
	@for part in spmv reduce exchange; do $(build)/src/tacit bench $$part poisson3d:100 || exit; done
format:
	@clang-format -i $$(git ls-files '*.[ch]' '*.[ch]pp' '*.cu' '*.cuh')
.PHONY: all check lint install docs bench format

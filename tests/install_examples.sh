#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Install into a folder of its own, build examples/ against what was installed,
# found as $1 says (find_package or pkg_config), and run them.
how=${1:?find_package or pkg_config}
: "${BUILD:?set it to the build folder}" "${SRC:?set it to the source folder}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD/CMakeCache.txt")

must() {
    "$@" >"$work/log" 2>&1 || { echo "FAILED: $*"; cat "$work/log"; exit 1; }
}

must cmake --install "$BUILD" --prefix "$prefix"
# The tree may be moved.
mv "$prefix" "$work/moved" && prefix=$work/moved
library=$(dirname "$(find "$prefix" -name 'libtacit.so')")
for file in bin/tacit include/tacit/tacit.h include/tacit/tacit.hpp share/man/man1/tacit.1; do
    [ -e "$prefix/$file" ] || { echo "FAILED: $file is not installed"; exit 1; }
done
[ -n "$MPIRUN" ] || [ ! -e "$prefix/include/tacit/mpi.h" ] ||
    { echo "FAILED: tacit/mpi.h without MPI"; exit 1; }
[ "$TACIT_HAS_CUDA" = 1 ] && [ ! -e "$prefix/include/tacit/cuda.h" ] &&
    { echo "FAILED: tacit/cuda.h is not installed"; exit 1; }
[ "$TACIT_HAS_CUDA" = 0 ] && [ -e "$prefix/include/tacit/cuda.h" ] &&
    { echo "FAILED: tacit/cuda.h without CUDA"; exit 1; }

build_with_cmake() { # TARGET
    must cmake -S "$SRC/examples" -B "$work/$1" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release -DTACIT_TARGET="tacit::$1"
    must cmake --build "$work/$1"
}

build_with_pkg_config() {
    export PKG_CONFIG_PATH="$library/pkgconfig"
    mkdir "$work/tacit"
    for name in serial_arrays read_file mpi_rows matrix_free new_values; do
        package=tacit
        mpi=
        [ -z "$MPIRUN" ] && [ $name = mpi_rows ] && continue
        case ${MPIRUN:+$name} in
        mpi_rows | matrix_free) package=tacit-mpi mpi=-DEXAMPLE_MPI=1 ;;
        esac
        flags=$(pkg-config --cflags --libs $package) || exit 1
        # shellcheck disable=SC2086 # a list of options
        must $cc -std=c11 -Wall -Wextra -Werror $mpi \
            "$SRC/examples/$name.c" -o "$work/tacit/$name" $flags -lm
    done
    [ -n "$MPIRUN" ] || ! pkg-config --exists tacit-mpi ||
        { echo "FAILED: tacit-mpi.pc without MPI"; exit 1; }
    flags=$(pkg-config --cflags --libs tacit) || exit 1
    # the headers in C++: those in C, and those of C++ by a newer standard
    if command -v c++ >/dev/null; then
        # shellcheck disable=SC2086 # a list of options
        must c++ -std=c++20 -Wall -Wextra -Werror "$SRC/examples/serial_arrays.cpp" \
            -o "$work/tacit/serial_arrays_cpp" $flags
        echo '#include <tacit/tacit.h>
int main() { return tacit_version()[0] == 0; }' >"$work/speaks.cpp"
        # shellcheck disable=SC2086 # a list of options
        must c++ -Wall -Wextra -Werror "$work/speaks.cpp" -o "$work/speaks" $flags
        must env LD_LIBRARY_PATH="$library" "$work/speaks"
    else
        echo "skipped: no C++ compiler, the headers are not tried with it"
    fi
}

# Those in C++, built where there is a compiler, say what those in C do.
run_cxx() { # FOLDER
    command -v c++ >/dev/null || { echo "skipped: no C++ compiler"; return; }
    must "$1/serial_arrays"
    grep '^500 iterations' "$work/log" >"$work/in_c"
    must "$1/serial_arrays_cpp"
    grep -q '^500 iterations' "$work/log" && [ -s "$work/in_c" ] ||
        { echo "FAILED: serial_arrays differs in C++"; cat "$work/log"; exit 1; }
    [ -x "$1/mpi_rows_cpp" ] || return 0
    for np in 1 3; do
        # shellcheck disable=SC2086 # a command and its options
        must $MPIRUN -np $np "$1/mpi_rows_cpp"
        grep -q "^$np ranks: " "$work/log" ||
            { echo "FAILED: mpi_rows.cpp on $np ranks"; cat "$work/log"; exit 1; }
    done
}

# Built where the CUDA toolkit is found; a GPU may still be missing.
run_cuda() { # FOLDER
    if [ ! -x "$1/cuda_stream" ]; then
        echo "skipped: cuda_stream, it is not built here"
    elif "$prefix/bin/tacit" solve poisson2d:10 --device cuda -q >/dev/null 2>&1; then
        must "$1/cuda_stream"
    else
        echo "skipped: cuda_stream, no GPU is usable here"
    fi
}

# Each example checks its own solution and says so with its exit status.
run_all() { # FOLDER
    (cd "$work" && must "$1/serial_arrays" && must "$1/read_file" && cat log &&
        must "$prefix/bin/tacit" convert poisson3d:12 p.mtx -q &&
        must "$1/read_file" p.mtx && must "$1/matrix_free" && must "$1/new_values") || exit 1
    run_cuda "$1"
    run_cxx "$1"
    [ -z "$MPIRUN" ] && { echo "skipped: mpi_rows, a build without MPI"; return; }
    for np in 1 2 3; do
        # shellcheck disable=SC2086 # a command and its options
        must $MPIRUN -np $np "$1/mpi_rows"
        # shellcheck disable=SC2086
        [ ! -x "$1/triggered_halo" ] || must $MPIRUN -np $np "$1/triggered_halo"
        # shellcheck disable=SC2086
        must $MPIRUN -np $np "$1/matrix_free"
        grep -q "^$np ranks: " "$work/log" ||
            { echo "FAILED: matrix_free on $np ranks"; cat "$work/log"; exit 1; }
    done
}

# In C++, with MPI: Tacit's header before MPI's, in $1/after.cpp behind it.
write_cxx() { # FOLDER
    mkdir -p "$1"
    echo '#include <tacit/mpi.h>
#include <tacit/tacit.h>
int main(int argc, char **argv)
{
    tacit_world *world = nullptr;
    MPI_Init(&argc, &argv);
    const int status = tacit_world_from_mpi(MPI_COMM_WORLD, &world);
    tacit_world_destroy(&world);
    MPI_Finalize();
    return status;
}' >"$1/before.cpp"
    { echo '#include <mpi.h>'; cat "$1/before.cpp"; } >"$1/after.cpp"
}

# MPI's bindings for C++, which lie in a library that nothing here names.
pkg_config_cxx() {
    [ -n "$MPIRUN" ] || return 0
    command -v c++ >/dev/null || return 0
    write_cxx "$work/cxx"
    flags=$(pkg-config --cflags --libs tacit-mpi) || exit 1
    for name in before after; do
        # shellcheck disable=SC2086 # a list of options
        must c++ "$work/cxx/$name.cpp" -o "$work/cxx/$name" $flags
        # shellcheck disable=SC2086 # a command and its options
        must $MPIRUN -np 2 "$work/cxx/$name"
    done
    # shellcheck disable=SC2086 # a list of options
    must c++ -std=c++20 -Wall -Wextra -Werror "$SRC/examples/mpi_rows.cpp" \
        -o "$work/cxx/mpi_rows" $flags
    # shellcheck disable=SC2086 # a command and its options
    must $MPIRUN -np 2 "$work/cxx/mpi_rows"
    # Tacit's header needs no options for it
    flags=$(printf '%s' "$flags" | sed 's/-D[A-Z]*_SKIP_MPICXX=1//g')
    # shellcheck disable=SC2086
    must c++ "$work/cxx/before.cpp" -o "$work/cxx/bare" $flags
}

# A project in these languages, which asks for MPI and names it nowhere.
build_cxx() { # LANGUAGES
    command -v c++ >/dev/null || { echo "skipped: no C++ compiler"; return; }
    rm -rf "$work/cxx"
    write_cxx "$work/cxx"
    echo "cmake_minimum_required(VERSION 3.24)
project(cxx LANGUAGES $1)
find_package(tacit 0.2 REQUIRED COMPONENTS mpi)
foreach(name before after)
  add_executable(\${name} \${name}.cpp)
  target_link_libraries(\${name} PRIVATE tacit::tacit)
endforeach()" >"$work/cxx/CMakeLists.txt"
    if [ -n "$MPIRUN" ]; then
        must cmake -S "$work/cxx" -B "$work/cxx/build" -DCMAKE_PREFIX_PATH="$prefix"
        must cmake --build "$work/cxx/build"
        # shellcheck disable=SC2086 # a command and its options
        must $MPIRUN -np 2 "$work/cxx/build/before"
        # shellcheck disable=SC2086
        must $MPIRUN -np 2 "$work/cxx/build/after"
    elif cmake -S "$work/cxx" -B "$work/cxx/build" \
        -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then
        echo "FAILED: the component mpi is found without MPI"; exit 1
    else
        grep -q 'built without MPI' "$work/log" ||
            { echo "FAILED: it is not said why"; cat "$work/log"; exit 1; }
    fi
}

case $how in
find_package)
    build_with_cmake tacit
    [ -z "$MPIRUN" ] || [ -x "$work/tacit/mpi_rows" ] ||
        { echo "FAILED: the component mpi is not found"; exit 1; }
    build_cxx CXX
    build_cxx "C CXX"
    run_all "$work/tacit"
    build_with_cmake static
    run_all "$work/static"
    ;;
pkg_config)
    build_with_pkg_config
    export LD_LIBRARY_PATH="$library"
    run_all "$work/tacit"
    pkg_config_cxx
    ;;
*) echo "FAILED: $how?"; exit 1 ;;
esac
echo "examples built and run ($how)"

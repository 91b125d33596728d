#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program built for HIP, without an AMD GPU: it says that it never ran on one,
# names what HIP lacks, and solves on the host. Usage: program.sh PROGRAM
set -u
failed=0

# expect STATUS WORDS COMMAND...: its status, and the words in its output.
expect() {
    status=$1 words=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    case $said in
    *"$words"*) [ "$got" = "$status" ] && return ;;
    esac
    echo "FAILED: $*: $got, not $status with '$words': $said"
    failed=1
}

expect 0 'never run on AMD' "$1" devices
expect 0 'nccl	no	not in this build: configured for HIP, without NCCL' "$1" devices
expect 1 'without NCCL' "$1" solve poisson2d:10 --comm nccl
expect 1 'without NVSHMEM' "$1" solve poisson2d:10 --comm nvshmem
expect 0 'iterations' "$1" solve poisson2d:10
[ -e /dev/kfd ] || expect 5 'no AMD GPU is usable here' "$1" solve poisson2d:10 --device cuda
exit $failed

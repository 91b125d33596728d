#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every unit of GPU code has kernels for the architectures of this build.
Usage: kernels.py ARCHITECTURES OBJECT..."""
import pathlib
import re
import sys

ARCHITECTURES = sys.argv[1].split(",")
# Kernels of CUDA alone: HIP's graphs have no while nodes.
NONE = {"record.cu.o"}
bad, kernels = [], set()
for path in map(pathlib.Path, sys.argv[2:]):
    code = path.read_bytes()
    found = set(re.findall(rb"(\w+)\.kd\0", code))
    for arch in ARCHITECTURES:
        if path.name not in NONE and b"amdgcn-amd-amdhsa--" + arch.encode() not in code:
            bad.append(f"{path}: no code for {arch}")
    if path.name not in NONE and not found:
        bad.append(f"{path}: no kernels")
    kernels |= {(path, name) for name in found}
count = len(sys.argv) - 2
print("\n".join(bad) or f"{count} units with {len(kernels)} kernels are compiled for {' and '.join(ARCHITECTURES)}")
sys.exit(1 if bad or count < 20 else 0)

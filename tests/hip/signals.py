#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The signals of the protocol reach all GPUs and processors: the assembly of
signals.cu has the scope of the system, for gfx90a and gfx942. A scope of one GPU,
planted into the same file, is found. Usage: signals.py COMPILER OPTION..."""
import re
import subprocess
import sys

FILE = sys.path[0] + "/signals.cu"
STORE, LOAD = r"(?:global|flat)_store_dwordx2\b.*", r"(?:global|flat)_load_dwordx2\b.*"
# Lines that follow each other, other instructions aside.
WANTED = {
    "gfx90a": {"release": [r"buffer_wbl2", r"s_waitcnt vmcnt\(0\).*", STORE],
               "acquire": [LOAD + r" glc", r"s_waitcnt vmcnt\(0\).*", r"buffer_invl2", r"buffer_wbinvl1_vol"]},
    "gfx942": {"release": [r"buffer_wbl2 sc0 sc1", r"s_waitcnt vmcnt\(0\).*", STORE + r" sc0 sc1"],
               "acquire": [LOAD + r" sc0 sc1", r"s_waitcnt vmcnt\(0\).*", r"buffer_inv sc0 sc1"]}}


def kernels(arch, planted):
    """The instructions of each kernel."""
    command = sys.argv[1:] + [f"--offload-arch={arch}", "--cuda-device-only", "-O1", "-S", FILE, "-o", "-"]
    if planted:
        command.append("-DTCT_OF_ALL=__HIP_MEMORY_SCOPE_AGENT")
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^((?:release|acquire)_\w+):.*?\n(.*?)^\s*s_endpgm", text, re.M | re.S)
    return {name: [re.sub(r"\s*;.*", "", line).strip() for line in body.splitlines()] for name, body in found}


def has(lines, wanted):
    at = 0
    for line in lines:
        at += at < len(wanted) and re.fullmatch(wanted[at], line) is not None
    return at == len(wanted)


def lacking(arch, planted):
    found = kernels(arch, planted)
    if len(found) != 7:
        sys.exit(f"{arch}: {len(found)} of 7 kernels are in the assembly")
    return sorted(name for name, lines in found.items() if not has(lines, WANTED[arch][name.split("_")[0]]))


bad = []
for arch in WANTED:
    bad += [f"{arch}: {name} is not of the system's scope" for name in lacking(arch, False)]
    # release_done and acquire_message also have fences of the system
    missed = {"release_signal", "acquire_signal", "release_slot", "acquire_slot", "acquire_copy"} - set(lacking(arch, True))
    bad += [f"{arch}: the planted scope of one GPU is not found in {name}" for name in sorted(missed)]
print("\n".join(bad) or "7 kernels for gfx90a and gfx942: signals have the system's scope")
sys.exit(1 if bad else 0)

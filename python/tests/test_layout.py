# SPDX-License-Identifier: BSD-3-Clause
"""The structs in Python are those of the C headers, member by member. Headers
may have more members at the ends: structs say their size."""

import os
import shutil
import subprocess

import pytest
from tacit import _structs

INCLUDE = os.path.join(os.path.dirname(__file__), "..", "..", "include")


def _program():
    lines = ["#include <stddef.h>", "#include <stdio.h>",
             "#include <tacit/tacit.h>", "int main(void) {"]
    for name, struct in _structs.NAMES.items():
        for member, *_ in struct._fields_:
            lines.append(
                f'printf("{name}.{member} %zu %zu\\n", '
                f"offsetof({name}, {member}), sizeof((({name} *)0)->{member}));"
            )
    return "\n".join(lines + ["return 0;", "}"])


def _ours():
    for name, struct in _structs.NAMES.items():
        for member, *_ in struct._fields_:
            field = getattr(struct, member)
            yield f"{name}.{member} {field.offset} {field.size}"


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_layout(tmp_path):
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text(_program())
    subprocess.run(["cc", "-I", INCLUDE, source, "-o", program], check=True)
    told = subprocess.run([program], check=True, capture_output=True, text=True)
    assert told.stdout.splitlines() == list(_ours())

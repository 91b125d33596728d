# SPDX-License-Identifier: BSD-3-Clause
"""The Python blocks of the documentation run, page by page."""

import os
import re

import pytest

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
PAGES = ["tutorial.md", "guide/python.md"]


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    with open(os.path.join(DOCS, page)) as text:
        blocks = re.findall(r"^```python\n(.*?)^```", text.read(), re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)

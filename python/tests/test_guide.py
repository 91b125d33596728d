# SPDX-License-Identifier: BSD-3-Clause
"""The Python blocks of the documentation and the notebooks run."""

import glob
import json
import os
import re

import pytest

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
PAGES = ["guide/python.md"]  # tests/cli_docs.sh runs the tutorial


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    with open(os.path.join(DOCS, page)) as text:
        blocks = re.findall(r"^```python\n(.*?)^```", text.read(), re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


NOTEBOOKS = glob.glob(os.path.join(DOCS, "..", "examples", "python", "*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=os.path.basename)
def test_notebook(path):
    with open(path) as text:
        cells = json.load(text)["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), path, "exec"), names)
    assert names["report"]._repr_html_().startswith("<table>")
    assert names["report"]["result"]["converged"] is not False

# SPDX-License-Identifier: BSD-3-Clause
"""Errors and interrupts come out, with the sentence that belongs to them."""

import numpy as np
import pytest
import scipy.sparse as sparse
import tacit
from problems import laplacian, residual

A = laplacian(20)
b = np.random.default_rng(1).standard_normal(400)
one = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(20, 20)).tolil()
one[0, 0] = one[-1, -1] = 1.0
NEUMANN = sparse.kronsum(one, one).tocsr()


@pytest.mark.parametrize("precond", ["auto", "jacobi"])
def test_an_error_names_its_column(precond):
    for column in (1, 2, 3):
        B = np.ones((400, 4))
        B[3, column] = np.inf
        with pytest.raises(tacit.InputError, match=f"^column {column + 1}: "):
            tacit.solve(A, B, precond=precond)
    inside = b - b.mean()
    for column in range(3):
        B = np.column_stack([inside] * 3)
        B[:, column] = b
        with pytest.raises(tacit.NotConverged) as raised:
            tacit.solve(NEUMANN, B, precond=precond)
        assert str(raised.value).startswith(f"column {column + 1}: singular")
        ends = raised.value.report["results"]
        assert [r["converged"] for r in ends].count(False) == 1
        assert not ends[column]["converged"]
    with pytest.raises(tacit.NotConverged, match="^column 1: not converged"):
        tacit.solve(A, np.column_stack([b] * 3), max_iterations=2)

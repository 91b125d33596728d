# SPDX-License-Identifier: BSD-3-Clause
"""Small systems for the tests."""

import numpy as np
import scipy.sparse as sparse


def laplacian(n):
    """The five-point Laplacian of an n x n grid, csr."""
    one = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return sparse.kronsum(one, one).tocsr()


def residual(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)

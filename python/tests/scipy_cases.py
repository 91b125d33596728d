# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest: SciPy's own tests of cg and minres, as installed, run
with Tacit's functions in their place.

    python -m pytest -p scipy_cases --pyargs \
        scipy.sparse.linalg._isolve.tests.test_iterative \
        scipy.sparse.linalg._isolve.tests.test_minres
"""

import pytest
import scipy.sparse.linalg._isolve as isolve
import tacit

OURS = (tacit.cg, tacit.minres)
for function in OURS:
    setattr(isolve, function.__name__, function)

# Tests that ask for what is no property of a solution.
NOT_OURS = {
    "test_reentrancy": "asks for an error where SciPy 1.10 was not re-entrant",
}


def _solver_of(item):
    """The method that a test is about; None: it says so in its body."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if "solver" in parameters:
        return parameters["solver"]
    return getattr(parameters.get("case"), "solver", None)


def pytest_collection_modifyitems(config, items):
    kept = []
    for item in items:
        solver, module = _solver_of(item), item.module
        if hasattr(getattr(module, "params", None), "solvers"):
            module.params.solvers = list(OURS)
        if hasattr(module, "_SOLVERS"):
            module._SOLVERS = list(OURS)
        if solver is not None and solver not in OURS:
            continue
        if item.cls is not None or item.originalname == "test_show":
            continue  # of gmres, qmr and tfqmr
        if solver is None and "gmres" in item.name:
            continue
        name = item.originalname
        if name in NOT_OURS:
            item.add_marker(pytest.mark.skip(reason=NOT_OURS[name]))
        kept.append(item)
    items[:] = kept



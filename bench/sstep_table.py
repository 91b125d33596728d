#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What s-step conjugate gradients come to, beside figures of a prototype.

usage: sstep_table.py --tacit PROGRAM [--steps 4,8,16] [--basis NAME]
                      [--device NAME] [--max N] [PROBLEM ...]

b = 1, x0 = 0. A PROBLEM is a gallery name, or the name of a matrix in
$TACIT_MATRICES; with jacobi where the table says so, or after a +: nos5+jacobi.
For cg and for each number of steps: iterations to 1e-6 and to 1e-9, reductions
an iteration (to 1e-9), the iteration from which another method went on, and the
relative residual reached at all. The last column is what a prototype of blocks
of 8 and 16 took, where there are figures of it.
"""
import argparse
import glob
import json
import os
import subprocess
import sys

# iterations to 1e-6 and 1e-9, residual reached: cg; blocks of 8; blocks of 16,
# with r formed anew every 5 blocks
PROTOTYPE = {
    "poisson2d:64": "101,- 4.7e-13 | 104 6.5e-13 | 112 7e-12",
    "poisson2d:256": "411,512 1.3e-11 | 416,512 1.9e-11 | 416,512 7.6e-13",
    "poisson3d:32": "64,- 8.1e-14 | 64 2.5e-12 | 64 3.3e-11",
    "poisson3d:64": "129,169 4.6e-13 | 136,176 2e-11 | 160,208 6.8e-14",
    "jump3d:24,1000,1+jacobi": "275,342 1.8e-12 | 280,344 4.5e-13 | "
                               "276,356 1.4e-13 (of another seed)",
    "bcsstk09+jacobi": "173,191 1.5e-12 | 176,192 7e-13 | 176,192 2.6e-13",
    "bcsstk13+jacobi": "1449,1578 5.5e-10 | 3000-4100 5e-11 | 3400-4800",
    "bcsstk24+jacobi": "8497 2.6e-7 | fails 1e-3 | fails",
}
ENV = dict(os.environ, OMP_NUM_THREADS="1")


def path_of(name):
    if ":" in name or os.path.exists(name):
        return name
    folder = os.environ.get("TACIT_MATRICES") or sys.exit("set TACIT_MATRICES")
    found = glob.glob(os.path.join(folder, "*", name + ".mtx*"))
    return found[0] if found else sys.exit(f"no {name} in {folder}")


def solve(a, problem, rtol, method):
    name, _, precond = problem.partition("+")
    done = subprocess.run(
        [a.tacit, "solve", path_of(name), "--rhs", "ones", "--rtol", rtol,
         "--max-iterations", str(a.max), "--threads", "1", "--device", a.device,
         "--precond", precond or "none", "--json", "-", "--method", *method],
        capture_output=True, text=True, env=ENV)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{problem}: {done.stderr}")


def cell(a, problem, method):
    runs = [solve(a, problem, rtol, method) for rtol in ("1e-6", "1e-9", "1e-17")]
    its = [str(r["result"]["iterations"]) if r["result"]["converged"] else "never"
           for r in runs[:2]]
    sums = runs[1]["operations"]["reduce"]["count"]
    rescued = runs[1]["result"]["rescued_at"]
    return (f"{','.join(its)} {sums / max(1, runs[1]['result']['iterations']):.2f} "
            f"{'-' if rescued is None else int(rescued)} "
            f"{runs[2]['result']['true_relative_residual']:.1e}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("problems", nargs="*", default=list(PROTOTYPE))
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--steps", default="4,8,16")
    p.add_argument("--basis", default="chebyshev")
    p.add_argument("--device", default="host")
    p.add_argument("--max", type=int, default=20000)
    a = p.parse_args()
    steps = a.steps.split(",")
    print("problem\tcg\t" + "\t".join("steps " + s for s in steps) + "\tprototype")
    for problem in a.problems:
        cells = [cell(a, problem, ["cg"])]
        cells += [cell(a, problem, ["sstep", "--steps", s, "--basis", a.basis])
                  for s in steps]
        print("\t".join([problem, *cells, PROTOTYPE.get(problem, "-")]), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What s-step conjugate gradients come to, beside figures of a prototype.

usage: sstep_table.py --tacit PROGRAM [--steps 4,8,16] [--basis NAME,...]
                      [--goals 1e-6,1e-9] [--device NAME] [--max N]
                      [PROBLEM ...]

b = 1, x0 = 0. A PROBLEM is a gallery name, or the name of a matrix in
$TACIT_MATRICES; with a preconditioner where the table says so, or after a +:
nos5+jacobi. For cg and for each number of steps: iterations to each goal,
reductions an iteration (to the last goal), the iteration from which another
method went on, and the relative residual reached at all. The last column is what
the prototype took: blocks of 8 and 16, or of moments ("of 4, 5, 8": so call
for them). A line for each basis.

Basis monomial tells for each goal how far it comes alone: where its recurrence
met the goal and b - A x did not, and what that was (wrong at 208: 2.5e-06), or
where W was not positive definite (breaks at 160: 1.1e-06); and after that, in all, the
iterations with what went on. The third goal, 1e-17, is what it attains.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

# iterations to 1e-6 and 1e-9, residual reached: cg; blocks of 8; blocks of 16,
# with r formed anew every 5 blocks
PROTOTYPE = {
    "poisson2d:64": "101,- 4.7e-13 | 104 6.5e-13 | 112 7e-12",
    "poisson2d:256": "411,512 1.3e-11 | 416,512 1.9e-11 | 416,512 7.6e-13",
    "poisson3d:32": "64,- 8.1e-14 | 64 2.5e-12 | 64 3.3e-11",
    "poisson3d:64": "129,169 4.6e-13 | 136,176 2e-11 | 160,208 6.8e-14",
    "anisotropic2d:128,0.001": "523,777 5.8e-12 | 528,800 8e-12 | "
                               "562,817 2.3e-13 (adaptive)",
    "jump3d:24,1000,1+jacobi": "275,342 1.8e-12 | 280,344 4.5e-13 | "
                               "276,356 1.4e-13 (of another seed)",
    "bcsstk09+jacobi": "173,191 1.5e-12 | 176,192 7e-13 | 176,192 2.6e-13",
    "bcsstk13+jacobi": "1449,1578 5.5e-10 | 3000-4100 5e-11 | 3400-4800",
    "bcsstk24+jacobi": "8497 2.6e-7 | fails 1e-3 | fails",
    "poisson3d:64+amg": "22,32 | 24,32 | 32,48 (of another amg)",
    "poisson2d:1000": "1633,1944 3.7e-10 | 1636,1948 1.2e-11 | "
                      "1636,1956 1.1e-11",
    "poisson3d:250": "514,664 1.4e-11 | 516,668 7e-12 | 516,676 3.4e-11",
}
# the residual reached, or that it fails: moments, blocks of 4; 5; 8
MOMENTS = {
    "poisson2d:64": "1.1e-11 | 1.6e-10 | fails 1.3e-6",
    "poisson2d:256": "2.9e-10 | 4.7e-9 | fails",
    "poisson3d:32": "1.3e-12 | 1.5e-11 | fails 5.5e-8",
    "poisson3d:64": "9.7e-12 | 1.4e-10 | fails 1.2e-6",
    "anisotropic2d:128,0.001": "fails | fails | fails",
    "jump3d:24,1000,1+jacobi": "1.3e-10 | 1.2e-9 | fails",
    "bcsstk09+jacobi": "3e-10 | 6.5e-9 | fails",
    "bcsstk13+jacobi": "fails | fails | fails",
    "bcsstk24+jacobi": "fails | fails | fails",
    "poisson3d:64+amg": "24,32 | - | 24,40, then fails (of another amg)",
    "poisson2d:1000": "1636, never 6.4e-9 | fails 4.8e-7 | -",
    "poisson3d:250": "516,668 2.8e-10 | 515, never 4.7e-9 | -",
}
LARGE = ["poisson2d:1000", "poisson3d:250"]  # when they are asked for
ALL = "1e-17"  # more than can be had
WRONG = re.compile(r"iteration (\d+): the recurrence has .* but "
                   r"\|\|b - A x\|\|/\|\|b\|\| = ([-+.\de]+)")
BREAKS = re.compile(r"iteration (\d+): rounding errors have grown too large")
ENV = dict(os.environ, OMP_NUM_THREADS="1")


def anisotropic(work, n, eps):
    """-u_xx - eps u_yy on n x n points, which the gallery does not have."""
    path = os.path.join(work, f"anisotropic2d_{n}_{eps}.mtx")
    with open(path, "w") as f:
        f.write("%%MatrixMarket matrix coordinate real symmetric\n"
                f"{n * n} {n * n} {3 * n * n - 2 * n}\n")
        for i in range(1, n * n + 1):
            f.write(f"{i} {i} {2 + 2 * eps!r}\n")
            if i % n != 0:
                f.write(f"{i + 1} {i} -1\n")
            if i + n <= n * n:
                f.write(f"{i + n} {i} {-eps!r}\n")
    return path


def path_of(name, work):
    if name.startswith("anisotropic2d:"):
        n, eps = name.split(":")[1].split(",")
        return anisotropic(work, int(n), float(eps))
    if ":" in name or os.path.exists(name):
        return name
    folder = os.environ.get("TACIT_MATRICES") or sys.exit("set TACIT_MATRICES")
    found = glob.glob(os.path.join(folder, "*", name + ".mtx*"))
    return found[0] if found else sys.exit(f"no {name} in {folder}")


def solve(a, problem, rtol, method, most=None):
    """What the solve came to, and what was noted on the way."""
    name, _, precond = problem.partition("+")
    done = subprocess.run(
        [a.tacit, "solve", path_of(name, a.work), "--rhs", "ones", "--rtol", rtol,
         "--max-iterations", str(most or a.max), "--threads", "1", "-v",
         "--device", a.device, "--precond", precond or "none", "--json", "-",
         "--method", *method],
        capture_output=True, text=True, env=ENV)
    try:
        return json.loads(done.stdout), done.stderr
    except ValueError:
        sys.exit(f"{problem}: {done.stderr}")


def iterations(run):
    return str(run["result"]["iterations"]) if run["result"]["converged"] \
        else "never"


def cell(a, problem, method):
    runs = [solve(a, problem, rtol, method)[0] for rtol in a.goals + [ALL]]
    last = runs[-2]
    sums = last["operations"]["reduce"]["count"]
    rescued = last["result"]["rescued_at"]
    return (f"{','.join(map(iterations, runs[:-1]))} "
            f"{sums / max(1, last['result']['iterations']):.2f} "
            f"{'-' if rescued is None else int(rescued)} "
            f"{runs[-1]['result']['true_relative_residual']:.1e}")


def alone(a, problem, rtol, method):
    """How far moments come before anything else goes on."""
    run, notes = solve(a, problem, rtol, method)
    ends = [(int(m.group(1)), m) for m in (WRONG.search(notes),
                                           BREAKS.search(notes)) if m]
    if not ends:
        return iterations(run)
    at, first = min(ends, key=lambda e: e[0])
    if first.re is WRONG:
        how = f"wrong at {at}: {float(first.group(2)):.1e}"
    else:
        there = solve(a, problem, rtol, method, at)[0]["result"]
        how = f"breaks at {at}: {there['true_relative_residual']:.1e}"
    return how if rtol == ALL else f"{how}, {iterations(run)}"


def cells(a, problem, basis):
    for s in a.steps:
        method = [f"sstep(steps={s},basis={basis})"]
        if basis == "monomial":
            yield "; ".join(alone(a, problem, rtol, method)
                            for rtol in a.goals + [ALL] * a.attained)
        else:
            yield cell(a, problem, method)


def table(a):
    print("problem\tbasis\tcg\t" + "\t".join("steps " + s for s in a.steps) +
          "\tprototype")
    for problem in a.problems:
        for basis in a.basis.split(","):
            moments = basis == "monomial"
            first = "-" if moments else cell(a, problem, ["cg"])
            told = (MOMENTS if moments else PROTOTYPE).get(problem, "-")
            print("\t".join([problem, basis, first, *cells(a, problem, basis),
                             told]), flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("problems", nargs="*",
                   default=[x for x in PROTOTYPE if x not in LARGE])
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--steps", default="4,8,16")
    p.add_argument("--basis", default="chebyshev")
    p.add_argument("--goals", default="1e-6,1e-9")
    p.add_argument("--no-attained", dest="attained", action="store_false",
                   help="of moments, which take long to that")
    p.add_argument("--device", default="host")
    p.add_argument("--max", type=int, default=20000)
    a = p.parse_args()
    a.steps, a.goals = a.steps.split(","), a.goals.split(",")
    with tempfile.TemporaryDirectory() as a.work:
        table(a)


if __name__ == "__main__":
    main()

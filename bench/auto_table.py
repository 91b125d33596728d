#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners side by side, and what choosing among them costs.

usage: auto_table.py --tacit PROGRAM [--preconds none,jacobi,amg] [--repeat N]
                        [--ranks N] [--rtol 1e-8] [--device NAME] [MATRIX...]

Without MATRIX: all symmetric positive definite ones of $TACIT_MATRICES (spd,
derived, fe) but Laplacians of graphs, which take b to 0, and some of the gallery.
b = 1, x0 = 0. One tab-separated line per matrix:
of each preconditioner, and of auto, iterations, seconds of its set-up, of the
solve, and true residual, with the exit status where it is not 0 (the fastest of
N runs); what auto took; its total over that of the best one, and the best one's
name. The last lines are the geometric mean and the worst of the ratios, also of
matrices whose best solve takes 10 ms or more.
"""
import argparse
import glob
import json
import math
import os
import subprocess
import sys

GALLERY = ["poisson3d:64", "jump3d:60,1e4,1", "anisotropic3d:80,0.01", "tet3d:60,1",
           "elasticity3d:24"]


def once(a, matrix, precond):
    command = [a.tacit, "solve", matrix, "--rhs", "ones", "--rtol", a.rtol, "--precond", precond,
               "--max-iterations", str(a.max), "--device", a.device, "--json", "-"]
    command += ["--ranks", str(a.ranks)] if a.ranks > 1 else []
    command += ["--threads", str(a.threads)] if a.threads else []
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        r = json.loads(done.stdout)
    except ValueError:
        return {"status": done.returncode, "total": math.inf, "said": done.stderr.strip()}
    setup = r["precond"]["setup"] if r["precond"] else 0.0
    if r["precond_race"]:
        setup = sum(t["setup"] for t in r["precond_race"])
    solve, result = r["time"]["solve"], r["result"]
    return {"status": done.returncode, "iterations": result["iterations"], "setup": setup, "solve": solve,
            "true": result["true_relative_residual"], "took": r["path"]["precond"],
            "total": setup + solve if done.returncode == 0 else math.inf}


def best_of(runs):
    return min(runs, key=lambda r: (r["total"], r.get("solve", 0)))


def cell(r):
    if "iterations" not in r:
        return f"({r['status']})\t\t\t"
    status = f" ({r['status']})" if r["status"] else ""
    return f"{r['iterations']}{status}\t{r['setup']:.4f}\t{r['solve']:.4f}\t{r['true']:.1e}"


def all_matrices():
    folder = os.environ.get("TACIT_MATRICES") or sys.exit("set TACIT_MATRICES, or name matrices")
    files = [f for d in ("spd", "derived", "fe") for f in glob.glob(os.path.join(folder, d, "*.mtx.gz"))]
    return GALLERY + sorted(f for f in files if "/lap_" not in f)


def mean(what, ratios):
    if ratios:
        worst = max(ratios)
        print(f"# {what}: {len(ratios)} matrices, auto over the best {math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios)):.3f} "
              f"in the geometric mean, at most {worst[0]:.2f} ({worst[1]})")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--preconds", default="none,jacobi,amg")
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--ranks", type=int, default=1)
    p.add_argument("--threads", type=int)
    p.add_argument("--rtol", default="1e-8")
    p.add_argument("--max", type=int, default=20000)
    p.add_argument("--device", default="host")
    p.add_argument("matrix", nargs="*")
    a = p.parse_args()
    names = a.preconds.split(",") + ["auto"]
    print("matrix\t" + "\t".join(f"{n} iterations\tset-up\tsolve\ttrue residual" for n in names) +
          "\ttook\tauto/best\tbest")
    ratios = []
    for matrix in a.matrix or all_matrices():
        # in turn, so that a busy machine is so for all
        rounds = [{n: once(a, matrix, n) for n in names} for _ in range(a.repeat)]
        rows = {n: best_of([r[n] for r in rounds]) for n in names}
        best = min(names[:-1], key=lambda n: rows[n]["total"])
        ratio = rows["auto"]["total"] / rows[best]["total"]
        name = os.path.basename(matrix).split(".mtx")[0]
        if math.isfinite(ratio):
            ratios.append((ratio, name, rows[best]["total"]))
        print(f"{name}\t" + "\t".join(cell(rows[n]) for n in names) +
              f"\t{rows['auto'].get('took')}\t{ratio:.2f}\t{best}", flush=True)
    mean("all", [r[:2] for r in ratios])
    mean("10 ms or more", [r[:2] for r in ratios if r[2] >= 0.01])


if __name__ == "__main__":
    main()

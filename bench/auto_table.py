#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners side by side, and what choosing among them costs.

usage: auto_table.py --tacit PROGRAM [--preconds none,jacobi,amg] [--repeat N]
                        [--ranks N] [--rtol 1e-8] [--device NAME] [--hard N]
                        [MATRIX...]

Without MATRIX: all symmetric positive definite ones of $TACIT_MATRICES (spd,
derived, fe) and some of the gallery. b = 1, but a manufactured one for Laplacians
of graphs, which take 1 to itself; x0 = 0. One tab-separated line per matrix:
of each preconditioner, and of auto, iterations, seconds of its set-up, of the
solve, true residual, and MiB at the peak, with the exit status where it is not 0
(the median of N runs by the time in all); what auto took; its total over that of
the best one, and the best one's name. What was refused, or did not converge, is
told in a line of its own. The last lines are the geometric mean and the worst of
the ratios, also of matrices whose best solve takes 10 ms or more; of matrices for
which cg alone needs more than N iterations (500) how often amg is faster in all,
and those for which it is slower; the ten worst of amg over the best one.
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
    rhs = "manufactured" if "/lap_" in matrix else "ones"
    command = [a.tacit, "solve", matrix, "--rhs", rhs, "--rtol", a.rtol, "--precond", precond,
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
    return {"status": done.returncode, "said": done.stderr.strip(), "MiB": r["memory"]["peak_bytes"] / 2**20, "iterations": result["iterations"], "setup": setup, "solve": solve,
            "true": result["true_relative_residual"], "took": r["path"]["precond"],
            "total": setup + solve if done.returncode == 0 else math.inf}


def median_of(runs):
    return sorted(runs, key=lambda r: (r["total"], r.get("solve", 0)))[(len(runs) - 1) // 2]


def cell(r):
    if "iterations" not in r:
        return f"({r['status']})\t\t\t\t"
    status = f" ({r['status']})" if r["status"] else ""
    return f"{r['iterations']}{status}\t{r['setup']:.4f}\t{r['solve']:.4f}\t{r['true']:.1e}\t{r['MiB']:.0f}"


def all_matrices():
    folder = os.environ.get("TACIT_MATRICES") or sys.exit("set TACIT_MATRICES, or name matrices")
    files = [f for d in ("spd", "derived", "fe") for f in glob.glob(os.path.join(folder, d, "*.mtx.gz"))]
    return GALLERY + sorted(files)


def mean(what, ratios):
    if ratios:
        worst = max(ratios)
        print(f"# {what}: {len(ratios)} matrices, auto over the best {math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios)):.3f} "
              f"in the geometric mean, at most {worst[0]:.2f} ({worst[1]})")


def say_amg(table, hard):
    """table: of each matrix its name, and the rows of preconditioners; amg beside cg alone, and beside the best."""
    slow = [(n, r) for n, r in table if r["none"].get("iterations", 0) > hard]
    lost = [n for n, r in slow if not r["amg"]["total"] < r["none"]["total"]]
    print(f"# cg alone needs more than {hard} iterations: amg is faster in all for {len(slow) - len(lost)} of {len(slow)}; "
          f"not for: {', '.join(lost) or 'none'}")
    quick = [n for n, r in table if r["none"]["total"] < min(r[p]["total"] for p in r if p != "none" and p != "auto")]
    print(f"# cg alone is the fastest: {', '.join(quick) or 'none'}")
    over = [(r["amg"]["total"] / max(1e-9, min(r[p]["total"] for p in r if p != "auto")), n) for n, r in table
            if math.isfinite(r["amg"]["total"])]
    print("# amg over the best, worst ten: " + ", ".join(f"{n} {x:.1f}" for x, n in sorted(over, reverse=True)[:10]))


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
    p.add_argument("--hard", type=int, default=500)
    p.add_argument("matrix", nargs="*")
    a = p.parse_args()
    names = a.preconds.split(",") + ["auto"]
    print("matrix\t" + "\t".join(f"{n} iterations\tset-up\tsolve\ttrue residual\tMiB" for n in names) +
          "\ttook\tauto/best\tbest")
    ratios, table = [], []
    for matrix in a.matrix or all_matrices():
        # in turn, so that a busy machine is so for all
        rounds = [{n: once(a, matrix, n) for n in names} for _ in range(a.repeat)]
        rows = {n: median_of([r[n] for r in rounds]) for n in names}
        best = min(names[:-1], key=lambda n: rows[n]["total"])
        ratio = max(1e-9, rows["auto"]["total"]) / max(1e-9, rows[best]["total"])
        name = os.path.basename(matrix).split(".mtx")[0]
        table.append((name, rows))
        if math.isfinite(ratio):
            ratios.append((ratio, name, rows[best]["total"]))
        print(f"{name}\t" + "\t".join(cell(rows[n]) for n in names) +
              f"\t{rows['auto'].get('took')}\t{ratio:.2f}\t{best}", flush=True)
        for n in names:
            if rows[n]["status"]:
                print(f"# {name}, {n}: {rows[n]['said'].splitlines()[-1]}")
    mean("all", [r[:2] for r in ratios])
    mean("10 ms or more", [r[:2] for r in ratios if r[2] >= 0.01])
    if {"none", "amg"} <= set(names):
        say_amg(table, a.hard)


if __name__ == "__main__":
    main()

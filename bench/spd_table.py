#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solve every symmetric positive definite matrix of $TACIT_MATRICES.

usage: spd_table.py --tacit PROGRAM [--petsc PEER] [--ranks 1,4]
                    [--methods cg,pipelined] [--rtol 1e-8] [--max N]
                    [--precond NAME] [--device NAME]

b = 1, x0 = 0. NAME none or jacobi; both stop on the residual of the system. One tab-separated line per matrix: rows,
non-zeros, iterations and seconds of PETSc's KSPCG (PEER is bench/peer_petsc), then for
each method and number of ranks iterations, true residual and seconds; a solve
that did not converge shows its exit status instead of "0". The last lines
compare the iterations of cg on one rank with PETSc's.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    return done.returncode, done.stdout, done.stderr


def mpi(ranks):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-np",
            str(ranks)] if ranks > 1 else []


def solve(a, matrix, method, ranks):
    code, out, err = run(mpi(ranks) + [
        a.tacit, "solve", matrix, "--rhs", "ones", "--rtol", a.rtol,
        "--method", method, "--max-iterations", str(a.max), "--threads", "1",
        "--precond", a.precond, "--device", a.device,
        "--json", "-"])
    try:
        r = json.loads(out)
    except ValueError:
        sys.exit(f"{matrix}: {err}")
    return (code, r["result"]["iterations"],
            r["result"]["true_relative_residual"], r["time"]["solve"],
            r["matrix"])


def petsc(a, matrix, work):
    if not a.petsc:
        return None
    binary = os.path.join(work, "a.petsc")
    code, _, err = run([a.tacit, "convert", matrix, binary, "-q"])
    if code:
        sys.exit(err)
    code, out, err = run([a.petsc, "-matrix", binary, "-rhs", "ones", "-rtol",
                          a.rtol, "-max_it", str(a.max), "-repeat", "1",
                          "-pc_type", a.precond])
    head, line = [x.split("\t") for x in out.strip().splitlines()[-2:]]
    row = dict(zip(head, line))
    its = int(row["iterations"])
    return its, row["reason"], 1e-6 * its * float(row["us/iteration"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--petsc")
    p.add_argument("--ranks", default="1,4")
    p.add_argument("--methods", default="cg,pipelined")
    p.add_argument("--rtol", default="1e-8")
    p.add_argument("--max", type=int, default=100000)
    p.add_argument("--precond", default="none")
    p.add_argument("--device", default="host")
    a = p.parse_args()
    folder = os.environ.get("TACIT_MATRICES") or sys.exit("set TACIT_MATRICES")
    files = sorted(f for d in ("spd", "derived", "fe")
                   for f in glob.glob(os.path.join(folder, d, "*.mtx.gz")))
    cases = [(m, int(n)) for m in a.methods.split(",")
             for n in a.ranks.split(",")]
    print("matrix\trows\tnonzeros\tpetsc\tseconds\t" + "\t".join(
        f"{m}/{n} exit\tits\ttrue residual\tseconds" for m, n in cases))
    easy, hard = [], []
    for f in files:
        name = os.path.basename(f).split(".")[0]
        with tempfile.TemporaryDirectory() as work:
            peer = petsc(a, f, work)
        cells, first = [], None
        for method, ranks in cases:
            code, its, true, seconds, matrix = solve(a, f, method, ranks)
            first = first or its
            cells.append(f"{code}\t{its}\t{true:.2e}\t{seconds:.3f}")
        print(f"{name}\t{matrix['rows']}\t{matrix['nonzeros']}\t"
              f"{peer[0] if peer else '-'}\t"
              f"{f'{peer[2]:.4f}' if peer else '-'}\t" + "\t".join(cells), flush=True)
        if peer and peer[0] > 0 and peer[1] == "CONVERGED_RTOL":
            gap = first / peer[0] - 1
            (easy if peer[0] < matrix["rows"] / 10 else hard).append((gap, name))
    for what, limit, gaps in (("fewer iterations than rows / 10", .02, easy),
                              ("elsewhere", .25, hard)):
        out = [f"{n} {g:+.1%}" for g, n in gaps if abs(g) > limit]
        print(f"# {what}: {len(gaps) - len(out)} of {len(gaps)} within "
              f"{limit:.0%} of PETSc; outside: {', '.join(out) or 'none'}")


if __name__ == "__main__":
    main()

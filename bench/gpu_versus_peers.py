#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time per iteration on a GPU beside the baselines peer-style, in one table.

usage: gpu_versus_peers.py --tacit PROGRAM [--set targets|spd|like|meshes ...]
                           [--matrices FOLDER] [--device cuda|host]
                           [--method NAME] [--max-iterations N]
                           [--large-iterations N] [--largest ENTRIES]
                           [--again FORMAT,...] [--limit SECONDS]
                           [--json FILE] [MATRIX ...]

One `tacit compare` for each matrix: b = 1, x0 = 0, no preconditioner; each time
is the median of 3 solves after one that warms up. No solve converges (rtol 0):
where rounding ends one before N iterations, all are run once more with half of
what that one did. Mixed precision is a run of its own, with rtol 1e-8, since
for 0 it takes more bits; its time is over the iterations that it did. A line shows the fastest row in double precision (auto); the fastest
whose operator keeps every value as a double of its own and so would be as fast
with any values on this pattern (general: compare runs csr, sell32, sell/f64
and bsell/f64 with cg; --again sell/f64,bsell/f64 runs all methods in these);
the row in mixed precision; the fastest baseline, and its time over ours. What
a row lacks is "-"; a matrix that fails is a line with the reason. The last
lines are geometric means and the worst matrix.

Sets spd and meshes are in --matrices (or $TACIT_MATRICES). On the host there
are no baselines and no mixed row.
"""
import argparse
import glob
import gzip
import json
import lzma
import math
import os
import re
import subprocess
import sys

LARGE = 30e6  # entries from which --large-iterations will do
TARGETS = ["poisson2d:200", "poisson2d:1000", "poisson3d:100", "poisson3d:200",
           "poisson3d27:150", "elasticity3d:30", "elasticity3d:80"]
LIKE = ["like:apache2", "like:ecology2", "like:g3_circuit", "like:ldoor",
        "like:flan_1565", "like:queen_4147"]
MESHES = ["heart_cbcbeat_6k,refine=3,kind=mass:0.05",
          "z88_b21_piston_lin,refine=1,kind=elasticity:73000:.33",
          "z88_b20_fan_quad,kind=elasticity:1.7e6:.335",
          "z88_b21_piston_lin,refine=2,kind=elasticity:73000:.33"]
SETS = ("targets", "spd", "like", "meshes")

# Dimensions and entries per row.
FAMILIES = {"poisson1d": (1, 3), "poisson2d": (2, 5), "poisson3d": (3, 7),
            "poisson2d9": (2, 9), "poisson3d27": (3, 27), "jump3d": (3, 7),
            "anisotropic3d": (3, 7), "elasticity3d": (3, 243),
            "tet3d": (3, 15)}
LIKE_LARGE = {"bump_2911", "cube_coup_dt6", "flan_1565", "geo_1438",
              "hook_1498", "ldoor", "nlpkkt120", "nlpkkt160", "queen_4147",
              "s2d9pt2048", "serena"}
COLUMNS = ["matrix", "rows", "nonzeros", "method", "loop", "format",
           "precision", "us/iteration", "bytes/entry", "of copy",
           "general", "us/iteration", "bytes/entry", "of copy",
           "mixed", "us/iteration", "bytes/entry",
           "peer", "us/iteration", "peer/auto", "peer/general", "note"]


# --- sizes, before a run -----------------------------------------------------

def first_lines(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path[-3:], open)
    with opener(path, "rt", errors="replace") as f:
        yield from f


def market_entries(path):
    """Entries of a Matrix Market file's full matrix, by its header: twice the
    stored ones where one triangle is."""
    symmetric = None
    for line in first_lines(path):
        if symmetric is None:
            symmetric = "general" not in line.lower()
        elif line.strip() and not line.startswith("%"):
            n, _, stored = map(int, line.split()[:3])
            return 2 * stored - min(n, stored) if symmetric else stored
    return 0


def mesh_entries(arguments):
    base, *options = arguments.split(",")
    option = dict(o.split("=", 1) for o in options if "=" in o)
    path = next(p for p in (base + ".ele", base + ".ele.xz", base + ".ele.gz")
                if os.path.exists(p))
    elements, corners = map(int, next(first_lines(path)).split()[:2])
    elements *= 8 ** int(option.get("refine", 0))
    freedoms = 3 if option.get("kind", "").startswith("elasticity") else 1
    return elements * (2.55 if corners == 4 else 40) * freedoms**2


def estimate(matrix):
    """About how many entries; 0 where that cannot be told."""
    family, _, arguments = matrix.partition(":")
    try:
        if family == "mesh":
            return mesh_entries(arguments)
        if family == "like":
            return 1e8 if arguments in LIKE_LARGE else 0
        if family in FAMILIES:
            dimensions, per_row = FAMILIES[family]
            size = [int(n) for n in arguments.split(",")[0].split("x")]
            size *= dimensions if len(size) == 1 else 1
            return math.prod(size) * per_row
        if ".mtx" in matrix:
            return market_entries(matrix)
    except (OSError, ValueError, StopIteration, lzma.LZMAError):
        pass
    return 0


# --- sets --------------------------------------------------------------------

def matrices_of(a, name):
    if name in ("targets", "like"):
        return TARGETS if name == "targets" else LIKE
    if not a.matrices:
        sys.exit(f"--set {name}: give --matrices FOLDER or set TACIT_MATRICES")
    if name == "meshes":
        return ["mesh:" + os.path.join(a.matrices, "mesh", m) for m in MESHES]
    files = glob.glob(os.path.join(a.matrices, "spd", "*.mtx*"))
    sized = sorted((market_entries(f), f) for f in files)
    return [f for entries, f in sized if entries > 1e5]


def short(matrix):
    return re.sub(r"[^:,]*/", "", re.sub(r"\.mtx(\.[gx]z)?$", "", matrix))


# --- one matrix --------------------------------------------------------------

def compare(a, matrix, iterations, precision="double", rtol="0", more=()):
    """The report of one run; what it said besides."""
    # No --warmup and --repeat: 1 and 3 are what the rows on a GPU get, and
    # the row of the host is then one run.
    command = [a.tacit, "compare", matrix, "--device", a.device, "--rhs",
               "ones", "--precond", "none", "--rtol", rtol, "--max-iterations", str(iterations),
               "--precision", precision, "--json", "-", *more]
    if a.method and "--method" not in more:
        command += ["--method", a.method]
    print(" ".join(command), file=sys.stderr, flush=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=a.limit)
    except subprocess.TimeoutExpired:
        raise ValueError(f"stopped after {a.limit:g} s") from None
    lines = done.stderr.strip().splitlines() or ["nothing said"]
    try:
        report = json.loads(done.stdout)
    except ValueError:
        raise ValueError(f"exit {done.returncode}: {lines[-1]}") from None
    return report, lines[-1] if done.returncode not in (0, 3) else ""


def time_of(row):
    return row["time"]["per_iteration"] or math.inf


def is_general(row):
    """Every value is kept, as a double of its own."""
    format_, detail = row["path"]["format"], row["path"]["format_detail"] or ""
    return re.split(r"[/+]", format_)[0] in ("csr", "sell32") or (
        re.search(r"\bdoubles?\b", detail) is not None
        and "constant" not in detail)


def best(rows):
    return min(rows, key=time_of, default=None)


def complete(rows, iterations, notes):
    """Rows that made most of the iterations; others, where the recurrence
    broke down after convergence, do not count, and are named."""
    kept = []
    for row in rows:
        done, p = row["result"]["iterations"], row["path"]
        if done >= iterations / 3:
            kept.append(row)
        else:
            notes.append(f"{p['method']} {p['loop']} {p['format']} "
                         f"{p['precision']}: {done} iterations")
    return kept


def ended(report):
    """Iterations of the first of our solves that rounding ended; 0: of none."""
    return min((r["result"]["iterations"] for r in report["rows"]
                if not r["baseline"]
                and r["result"]["stop"] in ("stagnation", "breakdown")
                and not r["result"]["rescued_by"]), default=0)


def unended(a, matrix, iterations):
    """A report of solves that do what they are asked for, and how much that
    is; what the last run said besides."""
    report, said = compare(a, matrix, iterations)
    if ended(report) > 1:
        iterations = ended(report) // 2
        report, said = compare(a, matrix, iterations)
    return report, said, iterations


def mixed_rows(a, matrix, iterations, notes):
    if a.device == "host":
        return []
    try:
        report, _ = compare(a, matrix, iterations, "mixed", "1e-8",
                            ["--method", a.method or "cg"])
    except ValueError as e:
        notes.append(f"mixed: {e}")
        return []
    return [r for r in report["rows"] if not r["baseline"]
            and r["path"]["device"] == a.device
            and not r["result"]["rescued_by"]]


def measure(a, matrix):
    entries = estimate(matrix)
    if entries > a.largest:
        raise ValueError(f"skipped: about {entries:.2g} entries")
    large = entries > LARGE
    iterations = a.large_iterations if large else a.max_iterations
    report, said, iterations = unended(a, matrix, iterations)
    notes = [said] if said else []
    for format_ in filter(None, a.again.split(",")):
        try:
            again, _ = compare(a, matrix, iterations, more=["--format", format_])
            report["rows"] += again["rows"]
        except ValueError as e:
            notes.append(f"{format_}: {e}")
    rows = complete(report["rows"], iterations, notes)
    mixed = mixed_rows(a, matrix, iterations, notes)
    for row in rows + mixed:
        if row["result"]["rescued_by"]:
            notes.append(f"{row['path']['method']} {row['path']['loop']} went "
                         f"on as {row['result']['rescued_by']}: left out")
        if row["result"]["fallback"]:
            notes.append("mixed took more bits")
    for missing in report["unavailable"]:
        if missing["what"] == "baseline" and a.device != "host":
            notes.append(f"{missing['name']}: {missing['reason']}")
    peers = [r for r in rows if r["baseline"]]
    ours = [r for r in rows if r["path"]["device"] == a.device
            and not r["baseline"] and not r["result"]["rescued_by"]]
    return {"matrix": short(matrix), "command": matrix,
            "rows": report["matrix"]["rows"],
            "nonzeros": report["matrix"]["nonzeros"],
            "iterations": iterations,
            "copy_gbytes_per_second": report["copy_gbytes_per_second"],
            "auto": best(ours), "general": best(filter(is_general, ours)),
            "mixed": best(mixed),
            "peer": best(peers), "notes": notes,
            "report": report["rows"] + mixed, "unavailable": report["unavailable"]}


# --- the table ---------------------------------------------------------------

def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def us(row):
    return number(row and 1e6 * time_of(row), 2)


def per_entry(row):
    return number(row and row["path"]["bytes_per_nonzero"], 2)


def of_copy(row):
    return number(row and row["fraction_of_copy"], 3)


def name_of(row, *keys):
    return " ".join(row["path"][k] for k in keys) if row else "-"


def ratio(m, which):
    if not m["peer"] or not m[which]:
        return None
    return time_of(m["peer"]) / time_of(m[which])


def line_of(m):
    if "failed" in m:
        return [m["matrix"]] + ["-"] * (len(COLUMNS) - 2) + [m["failed"]]
    auto, general = m["auto"], m["general"]
    return [m["matrix"], str(m["rows"]), str(m["nonzeros"]),
            *(name_of(auto, k)
              for k in ("method", "loop", "format", "precision")),
            us(auto), per_entry(auto), of_copy(auto),
            name_of(general, "method", "loop", "format"), us(general),
            per_entry(general), of_copy(general),
            name_of(m["mixed"], "method", "loop", "format"), us(m["mixed"]),
            per_entry(m["mixed"]), name_of(m["peer"], "method"), us(m["peer"]),
            number(ratio(m, "auto"), 3), number(ratio(m, "general"), 3),
            "; ".join(dict.fromkeys(m["notes"])) or "-"]


def summary(measured):
    for which in ("auto", "general"):
        found = [(ratio(m, which), m["matrix"]) for m in measured
                 if "failed" not in m and ratio(m, which)]
        if not found:
            print(f"# peer/{which}: no matrix has both")
            continue
        mean = math.exp(sum(math.log(r) for r, _ in found) / len(found))
        print(f"# peer/{which}: {len(found)} matrices, geometric mean "
              f"{mean:.3f}, worst {min(found)[0]:.3f} ({min(found)[1]})")
    failed = [m["matrix"] for m in measured if "failed" in m]
    if failed:
        print(f"# without a result: {', '.join(failed)}")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--device", default="cuda", choices=("cuda", "host"))
    p.add_argument("--set", action="append", default=[], choices=SETS)
    p.add_argument("--matrices", default=os.environ.get("TACIT_MATRICES"))
    p.add_argument("--method", help="this one alone, not all")
    p.add_argument("--max-iterations", type=int, default=300)
    p.add_argument("--large-iterations", type=int, default=100,
                   help="for over 30 million entries")
    p.add_argument("--largest", type=float, default=math.inf,
                   help="skip matrices of more entries, as estimated")
    p.add_argument("--again", default="",
                   help="formats to run once more, with all methods")
    p.add_argument("--limit", type=float, default=180,
                   help="seconds for a run")
    p.add_argument("--json", help="all rows, for programs")
    p.add_argument("matrix", nargs="*")
    a = p.parse_intermixed_args()
    names = [m for s in a.set for m in matrices_of(a, s)] + a.matrix
    if not names:
        p.error("give matrices or --set")
    measured = []
    print("\t".join(COLUMNS), flush=True)
    for matrix in names:
        try:
            m = measure(a, matrix)
        except ValueError as e:
            m = {"matrix": short(matrix), "command": matrix, "failed": str(e)}
        except OSError as e:
            sys.exit(f"{a.tacit}: {e}")
        measured.append(m)
        print("\t".join(line_of(m)), flush=True)
        if a.json:  # after each matrix: a run that is cut short has its rows
            with open(a.json, "w") as f:
                json.dump(measured, f, indent=1)
    summary(measured)


if __name__ == "__main__":
    main()

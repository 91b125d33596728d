#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strong and weak scaling of links and loops, and what a message costs.

usage: scaling.py --tacit PROGRAM [--device host|cuda] [--ranks 1,2]
                  [--links shm,mpi] [--loops host] [--methods cg,pipe-pr]
                  [--strong MATRIX ...] [--weak FAMILY:N ...]
                  [--sizes FAMILY:N,N,...] [--bench-loops PROGRAM]
                  [--iterations 200] [--rounds 3] [--page FILE.html]
                  [--plot FILE.svg]

Each rank has one thread or one GPU; b = 1, x0 = 0, no test of convergence, so
choose fewer ITERATIONS than lead to where rounding ends a solve. The matrix of
weak scaling has N nodes along a side on one rank and, on P ranks, so many that
it has P times as many. Prints tab-separated tables:

  strong, weak   ranks, link, loop, method, microseconds of an iteration (the
                 median over rounds that take turns), the ratio of one rank's
                 time to it, that divided by the ranks (strong scaling's
                 efficiency; weak scaling's is the ratio), true residual
  sizes          rows, ranks, link, loop, method, microseconds, ratio to one
                 rank's best loop and method; then, for each link, loop and
                 method, from how many rows on all ranks together are faster.
                 Of the program bench/loops, which has all sizes in one run
  split          what an iteration consists of, from one more run in loop host
                 with every operation timed alone: product, exchange, sum,
                 vector work, in microseconds
  message        for each link alpha (microseconds) and beta (GB/s) that fit one
                 way best, relatively, and alpha of a sum of one scalar

A link that has not the loop, or cannot be had, is left out, with a note. With
--page the curves of the first three are drawn into a page of its own, of sizes the
best loop and method of each link; with --plot those of the last sizes alone.
"""
import argparse
import html
import json
import math
import os
import statistics
import subprocess
import sys

ENV = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(a, ranks, words, program=None):
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np",
             str(ranks)] if ranks > 1 else []
    done = subprocess.run(start + [program or a.tacit] + words, env=ENV,
                          capture_output=True, text=True)
    if done.returncode not in (0, 3, 4):
        raise OSError(done.stderr.strip().splitlines()[0])
    return done.stdout


def solve(a, ranks, link, loop, method, matrix, more=()):
    words = ["solve", matrix, "--rhs", "ones", "--rtol", "0", "--device",
             a.device, "--loop", loop, "--method", method, "--threads", "1",
             "--max-iterations", str(a.iterations), "--json", "-", *more]
    if ranks > 1:
        words += ["--comm", link]
    return json.loads(run(a, ranks, words))


def sized(word, ranks):
    """FAMILY:N with `ranks` times as many nodes."""
    family, n = word.split(":")[:2]
    sides = 2 if "2d" in family else 3
    return f"{family}:{round(int(n) * ranks ** (1 / sides))}"


def cases(a):
    for ranks in a.ranks:
        for link in a.links if ranks > 1 else ["self"]:
            for loop in a.loops:
                for method in a.methods:
                    yield ranks, link, loop, method


def measure(a, matrix_of):
    """Microseconds and true residuals by (ranks, link, loop, method), and rows."""
    times, residual, rows = {}, {}, 0
    for _ in range(a.rounds):
        for case in cases(a):
            if case in a.without:
                continue
            try:
                r = solve(a, *case, matrix_of(case[0]),
                          ["--repeat", "3", "--warmup", "1"])
            except OSError as refusal:
                a.without.add(case)
                print("# without", *case, refusal)
                continue
            times.setdefault(case, []).append(
                1e6 * statistics.median(r["time"]["all_solves"]) /
                max(1, r["result"]["iterations"]))
            residual[case] = r["result"]["true_relative_residual"]
            rows = r["matrix"]["rows"]
    return ({c: statistics.median(t) for c, t in times.items()}, residual, rows)


def table(a, kind, word):
    """Rows (ranks, link, loop, method, us), printed."""
    mid, residual, _ = measure(
        a, lambda ranks: sized(word, ranks) if kind == "weak" else word)
    print(f"# {kind}: {word}\nranks\tlink\tloop\tmethod\tus\tratio\teach\t"
          "residual")
    for c, us in mid.items():
        one = [v for k, v in mid.items() if k[0] == 1 and k[2:] == c[2:]]
        ratio = one[0] / us if one else math.nan
        print(*c, f"{us:.2f}", f"{ratio:.2f}", f"{ratio / c[0]:.2f}",
              f"{residual[c]:.2e}", sep="\t", flush=True)
    return mid


def crossing(points):
    """Where a ratio that grows with the rows comes to 1, between two sizes."""
    for (n, r), (m, s) in zip(points, points[1:]):
        if r < 1.0 <= s:
            t = math.log(1.0 / r) / math.log(s / r)
            return f"{math.exp(math.log(n) + t * math.log(m / n)):.0f}"
    return "all" if all(r >= 1.0 for _, r in points) else "none"


def rows_of_loops(a, ranks, link, words):
    """What bench/loops says: (rows, case, microseconds, residual)."""
    device = a.device + (f"@{link}" if ranks > 1 else "")
    lines = run(a, ranks, ["-d", device, "-m", ",".join(a.methods), "-l",
                           ",".join(a.loops), "-n", str(a.iterations), "-r",
                           str(a.rounds), *words], a.bench_loops)
    for line in lines.splitlines():
        cells = line.split("\t")
        if len(cells) < 11 or not cells[1].isdigit():
            continue
        case = (ranks, link, cells[5], cells[4])
        if cells[8] == "-":
            if case not in a.without:
                print("# without", *case, cells[-1])
            a.without.add(case)
        else:
            yield int(cells[1]), case, float(cells[10]), cells[9]


def over_sizes(a, word):
    """{(ranks, link, loop, method): [(rows, us)]}, printed."""
    family, numbers = word.split(":")
    words = [f"{family}:{n}" for n in numbers.split(",")]
    found = []
    for ranks in a.ranks:
        for link in a.links if ranks > 1 else ["self"]:
            try:
                found += rows_of_loops(a, ranks, link, words)
            except OSError as refusal:
                print("# without", ranks, link, refusal)
    one = {}
    for rows, case, us, _ in found:
        if case[0] == 1:
            one[rows] = min(us, one.get(rows, us))
    lines, ratios = {}, {}
    print(f"# sizes: {word}\nrows\tranks\tlink\tloop\tmethod\tus\tratio\t"
          "residual")
    for rows, case, us, residual in found:
        ratio = one.get(rows, math.nan) / us
        lines.setdefault(case, []).append((rows, us))
        ratios.setdefault(case, []).append((rows, ratio))
        print(rows, *case, f"{us:.2f}", f"{ratio:.2f}", residual, sep="\t")
    print("# faster than one\nranks\tlink\tloop\tmethod\tfrom rows")
    for case, points in ratios.items():
        if case[0] > 1:
            print(*case, crossing(points), sep="\t", flush=True)
    return lines


def split(a, word):
    print(f"# split: {word}\nranks\tlink\tmethod\tproduct\texchange\tsum\t"
          "vectors")
    for ranks, link, loop, method in cases(a):
        if loop != a.loops[0]:
            continue
        r = solve(a, ranks, link, "host", method, word, ["--profile"])
        n, ops = max(1, r["result"]["iterations"]), r["operations"]
        parts = [ops["spmv"], ops["exchange"], ops["reduce"]]
        us = [1e6 * p["seconds"] / n for p in parts]
        us.append(1e6 / n * sum(ops[k]["seconds"]
                                for k in ("dot", "nrm2", "axpy")))
        print(ranks, link, method, *(f"{t:.2f}" for t in us), sep="\t",
              flush=True)


def fit(points):
    """alpha + bytes / beta nearest to the times, relatively."""
    s = [[0.0] * 3 for _ in range(2)]
    for size, us in points:
        for i, v in enumerate((1.0, size)):
            for j, w in enumerate((1.0, size, us)):
                s[i][j] += v * w / us ** 2
    d = s[0][0] * s[1][1] - s[0][1] * s[1][0]
    alpha = (s[0][2] * s[1][1] - s[0][1] * s[1][2]) / d
    slope = (s[0][0] * s[1][2] - s[0][2] * s[1][0]) / d
    return alpha, 1e-3 / slope if slope > 0 else math.inf


def messages(a):
    print("# message\nlink\tranks\talpha us\tbeta GB/s\tsum us")
    ranks = max(a.ranks)
    for link in a.links if ranks > 1 else []:
        words = ["--device", a.device, "--comm", link, "--repeat", "5"]
        lines = run(a, ranks, ["bench", "exchange", *words]).splitlines()[1:]
        rows = [line.split("\t") for line in lines]
        alpha, beta = fit([(float(r[1]), float(r[2])) for r in rows])
        sums = run(a, ranks, ["bench", "reduce", *words]).splitlines()[1]
        print(link, ranks, f"{alpha:.2f}", f"{beta:.2f}",
              sums.split("\t")[3], sep="\t", flush=True)


def over_ranks(mid):
    """Lines of microseconds over ranks."""
    lines = {}
    for (ranks, link, loop, method), us in mid.items():
        lines.setdefault((loop, method, link), []).append((ranks, us))
    for key, line in lines.items():
        if key[2] != "self":
            line[:0] = lines.get((*key[:2], "self"), [])
    return lines


def best_of_links(lines):
    """Of each link the fastest loop and method, over sizes."""
    best = {}
    for (ranks, link, _, _), line in lines.items():
        name = ("one",) if ranks == 1 else (link,)
        for rows, us in line:
            at = best.setdefault(name, {})
            at[rows] = min(us, at.get(rows, us))
    return {name: sorted(at.items()) for name, at in best.items()}


def ticks(low, high):
    """1, 2 and 5 times powers of ten between two logarithms."""
    every = [m * 10.0 ** e for e in range(-2, 12) for m in (1, 2, 5)]
    return [v for v in every if low <= math.log(v) <= high]


def curves(title, unit, lines):
    """A chart: microseconds, both axes logarithmic."""
    lines = {k: v for k, v in lines.items() if len(v) > 1}
    if not lines:
        return ""
    xs = [math.log(p[0]) for v in lines.values() for p in v]
    ys = [math.log(p[1]) for v in lines.values() for p in v]
    wide, high = max(xs) - min(xs) or 1, max(ys) - min(ys) or 1
    out = ["<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 340' "
           f"font-family='sans-serif'><title>{html.escape(title)}</title>"
           "<rect width='760' height='340' fill='#fff'/>"]
    for v in ticks(min(xs), max(xs)):
        x = 40 + 480 * (math.log(v) - min(xs)) / wide
        out.append(f"<path d='M{x:.1f} 30V310' stroke='#ddd'/><text x='{x:.1f}'"
                   f" y='325' font-size='11' text-anchor='middle'>{v:g}</text>")
    for v in ticks(min(ys), max(ys)):
        y = 310 - 280 * (math.log(v) - min(ys)) / high
        out.append(f"<path d='M40 {y:.1f}H520' stroke='#ddd'/><text x='35' "
                   f"y='{y + 4:.1f}' font-size='11' text-anchor='end'>{v:g}"
                   "</text>")
    out.append(f"<text x='40' y='18' font-size='13'>{html.escape(title)}: "
               f"microseconds over {unit}</text>")
    for i, (key, line) in enumerate(sorted(lines.items())):
        at = [(40 + 480 * (math.log(r) - min(xs)) / wide,
               310 - 280 * (math.log(us) - min(ys)) / high, r, us)
              for r, us in line]
        hue = f"hsl({i * 360 // len(lines)} 65% 42%)"
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in at)
        out.append(f"<polyline points='{path}' fill='none' stroke='{hue}' "
                   "stroke-width='2'/>")
        out += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='{hue}'>"
                f"<title>{r} {unit}: {us:.2f} us</title></circle>"
                for x, y, r, us in at]
        out.append(f"<text x='545' y='{24 + 16 * i}' fill='{hue}' "
                   f"font-size='13'>{html.escape(' '.join(map(str, key)))}, "
                   f"{line[-1][1]:.1f} us</text>")
    return "\n".join(out) + "</svg>"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--device", default="host")
    for name, default in (("ranks", "1,2"), ("links", "shm,mpi"),
                          ("loops", "host"), ("methods", "cg,pipe-pr")):
        p.add_argument(f"--{name}", default=default)
    p.add_argument("--strong", nargs="*",
                   default=["poisson2d:300", "poisson3d:60"])
    p.add_argument("--weak", nargs="*", default=["poisson3d:60"])
    p.add_argument("--sizes", nargs="*", default=[])
    p.add_argument("--bench-loops", default="loops")
    p.add_argument("--iterations", type=int, default=200)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--page")
    p.add_argument("--plot")
    a = p.parse_args()
    for name in ("links", "loops", "methods"):
        setattr(a, name, [w for w in getattr(a, name).split(",") if w])
    a.ranks = [int(w) for w in a.ranks.split(",")]
    a.without = set()
    charts = []
    for kind in ("strong", "weak"):
        for word in getattr(a, kind):
            charts.append(curves(f"{kind} scaling: {word}", "ranks",
                                 over_ranks(table(a, kind, word))))
    for word in a.sizes:
        charts.append(curves(word, "rows",
                             best_of_links(over_sizes(a, word))))
    if a.plot and a.sizes:
        with open(a.plot, "w", encoding="utf-8") as f:
            f.write(charts[-1] + "\n")
    try:
        for word in a.strong:
            split(a, word)
        messages(a)
    except OSError as refusal:
        sys.exit(str(refusal))
    if a.page:
        with open(a.page, "w", encoding="utf-8") as f:
            f.write("<!doctype html><meta charset='utf-8'><title>Scaling"
                    "</title><style>body{font:16px sans-serif;max-width:60em;"
                    "margin:2em auto}</style><h1>Microseconds of an iteration"
                    "</h1>" + "\n".join(charts) + "\n")


if __name__ == "__main__":
    main()

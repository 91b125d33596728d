#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of Jacobi iterations on grids: time of a step by way and by ranks.

usage: stencils.py --tacit PROGRAM [--device cuda] [--ranks 1,2]
                   [--study weak,strong,parts] [--ways free,tiles,...]
                   [--comm LINK] [--type float] [--steps 1000] [--rounds 3]
                   [--grids star2d1r:256x256,...] [--html PAGE]

weak    Each rank has as many cells, whatever their number: a GRID is one
        rank's part, and grows along its last direction.
strong  All ranks share a GRID.
parts   The whole step, its computing alone and its messages alone. What
        overlaps is computing + messages - whole, over messages.

Ways take turns in each round; the median over the rounds counts. Prints a
table, tab-separated; --html also writes a page with a curve for each way. Way
tiles takes the depth that it measures. A way that a device or link lacks has
"-" and its reason on standard error.
"""
import argparse
import html
import json
import math
import os
import statistics
import subprocess
import sys

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
GRIDS = ("star2d1r:256x256,star2d1r:512x256,star2d1r:512x512,"
         "star2d1r:1024x512,star2d1r:2048x2048,star2d1r:8192x8192,"
         "star3d1r:256x256x256")
COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7",
           "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0"]
DEEP = ("tiles", "cached")
refused = set()
depths = {}


def ways_of(tacit):
    """The ways that the program knows."""
    done = subprocess.run([tacit, "jacobi", "star2d1r:8x8", "--way", "?"],
                          capture_output=True, text=True)
    known = done.stderr.split("available:")[-1].strip(" ).\n")
    ways = [way.strip() for way in known.split(",")]
    return [way for way in ways if way != "auto"]


def grown(grid, ranks):
    """`ranks` times as many cells along the last direction."""
    name, size = grid.split(":")
    n = [int(k) for k in size.split("x")]
    n[-1] *= ranks
    return name + ":" + "x".join(map(str, n))


def cells_of(grid):
    return math.prod(int(k) for k in grid.split(":")[1].split("x"))


def seconds(a, grid, way, ranks, more=()):
    """Of a step, or None where the way is refused."""
    command = [a.tacit, "jacobi", grid, "--way", way, "--type", a.type,
               "--device", a.device, "--steps", str(a.steps), "--json", "-",
               *more]
    if ranks > 1:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np",
                   str(ranks), *command]
        link = way if way in ("mpi", "nccl") else a.comm
        if link:
            command += ["--comm", link]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    if done.returncode:
        reason = (done.stderr.strip() or "no reason").splitlines()[0]
        if (way, ranks, reason) not in refused:
            refused.add((way, ranks, reason))
            print(f"{way}, {ranks} ranks: {reason}", file=sys.stderr)
        return None
    report = json.loads(done.stdout)
    depths[way, grid, ranks] = report["path"]["depth"]
    return report["time"]["step_min"]


def medians(a, cases):
    """cases: {key: arguments of seconds}, in turn in each round."""
    times = {key: [] for key in cases}
    for _ in range(a.rounds):
        for key, case in cases.items():
            if None not in times[key]:
                times[key].append(seconds(a, *case))
    return {key: None if None in of else statistics.median(of)
            for key, of in times.items()}


def micro(value):
    return "-" if value is None else f"{1e6 * value:.2f}"


def scaling(a, study):
    """[(grid, way, [seconds by ranks])], and its table."""
    weak = study == "weak"
    out = []
    print("study\tgrid\tway\t" + "\t".join(
        f"us_{p}" for p in a.ranks) + "\tefficiency\tGCell/s")
    for grid in a.grids:
        cases = {(way, p): (grown(grid, p) if weak else grid, way, p)
                 for way in a.ways for p in a.ranks}
        times = medians(a, cases)
        for way in a.ways:
            row = [times[way, p] for p in a.ranks]
            first, last, p = row[0], row[-1], a.ranks[-1]
            share = cells = None
            if last:
                cells = 1e-9 * cells_of(cases[way, p][0]) / last
            if first and last:
                share = first / last / (1 if weak else p / a.ranks[0])
            print("\t".join([study, grid, way, *map(micro, row),
                             "-" if share is None else f"{share:.2f}",
                             "-" if cells is None else f"{cells:.4g}"]),
                  flush=True)
            out.append((grid, way, row))
    return out


def measured_depths(a, grid, ranks):
    """Each way with the options of a depth: the parts of a step have one."""
    for way in a.ways:
        known = way in DEEP and seconds(a, grid, way, ranks)
        yield way, (("--depth", str(depths[way, grid, ranks])) if known else ())


def parts(a):
    p = a.ranks[-1]
    print("study\tgrid\tway\tus_whole\tus_computing\tus_messages\toverlapped")
    for grid in a.grids:
        kinds = {"whole": (), "computing": ("--no-communication",),
                 "messages": ("--no-compute",)}
        times = medians(a, {(way, kind): (grid, way, p, (*more, *depth))
                            for way, depth in measured_depths(a, grid, p)
                            for kind, more in kinds.items()})
        for way in a.ways:
            whole, computing, messages = (times[way, k] for k in kinds)
            share = "-"
            if whole and computing and messages:
                hidden = computing + messages - whole
                share = f"{min(1.0, max(0.0, hidden / messages)):.2f}"
            print("\t".join(["parts", grid, way, micro(whole),
                             micro(computing), micro(messages), share]),
                  flush=True)


# --- the page ---------------------------------------------------------------

def points(row, a, low, top):
    """The logarithm of seconds, from `low` to `top`."""
    width = 300 / max(1, len(a.ranks) - 1)
    height = 160 / math.log(top / low)
    return [(40 + width * i, 180 - height * math.log(t / low))
            for i, t in enumerate(row) if t]


def drawing(grid, rows, a):
    """Microseconds of a step over ranks."""
    every = [t for _, row in rows for t in row if t]
    low, top = 0.9 * min(every), 1.1 * max(every)
    svg = [f'<svg viewBox="0 0 480 210" role="img" aria-label="{grid}">',
           '<path d="M40 20V180H340" fill="none" stroke="#888"/>',
           f'<text x="2" y="24">{1e6 * top:.3g}</text>',
           f'<text x="2" y="184">{1e6 * low:.3g}</text>']
    for x, p in zip([q for q, _ in points([1] * len(a.ranks), a, 0.5, 2)],
                    a.ranks):
        svg.append(f'<text x="{x:.0f}" y="198">{p}</text>')
    for k, (way, row) in enumerate(rows):  # a way has its colour on all grids
        colour = COLOURS[a.ways.index(way) % len(COLOURS)]
        at = points(row, a, low, top)
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        svg.append(f'<polyline points="{line}" fill="none" '
                   f'stroke="{colour}" stroke-width="2"/>')
        svg += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
                for x, y in at]
        svg.append(f'<text x="360" y="{30 + 16 * k}" fill="{colour}">'
                   f'{html.escape(way)}</text>')
    return "\n".join([*svg, "</svg>"])


def write_page(a, studies):
    text = ["<!doctype html><html lang=en><meta charset=utf-8>",
            "<title>Steps of grids</title><style>body{font:15px sans-serif;"
            "margin:2em auto;max-width:62em}svg{width:30em;font-size:12px}"
            "figure{display:inline-block;margin:0 1em 1em 0}</style>",
            "<h1>Steps of grids</h1>",
            f"<p>Type {a.type}, device {a.device}; microseconds of a step "
            "over the number of ranks; the axis is logarithmic.</p>"]
    for study, rows in studies.items():
        text.append(f"<h2>{study.capitalize()} scaling</h2>")
        for grid in dict.fromkeys(grid for grid, _, _ in rows):
            of = [(way, row) for g, way, row in rows
                  if g == grid and any(row)]
            if of:
                text.append(f"<figure><figcaption>{html.escape(grid)}"
                            f"</figcaption>{drawing(grid, of, a)}</figure>")
    with open(a.html, "w", encoding="utf-8") as page:
        page.write("\n".join(text) + "\n")


def main():
    split = lambda text: text.split(",")
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--tacit", required=True)
    p.add_argument("--device", default="cuda")
    p.add_argument("--ranks", default="1,2", type=lambda text: [
        int(k) for k in text.split(",")])
    p.add_argument("--study", default="weak,strong", type=split)
    p.add_argument("--ways", type=split)
    p.add_argument("--comm")
    p.add_argument("--type", default="float")
    p.add_argument("--steps", default=1000, type=int)
    p.add_argument("--rounds", default=3, type=int)
    p.add_argument("--grids", default=GRIDS, type=split)
    p.add_argument("--html")
    a = p.parse_args()
    a.ways = a.ways or ways_of(a.tacit)
    studies = {}
    for study in a.study:
        if study == "parts":
            parts(a)
        elif study in ("weak", "strong"):
            studies[study] = scaling(a, study)
        else:
            sys.exit(f"stencils.py: no study '{study}': weak, strong, parts")
    if a.html:
        write_page(a, studies)


if __name__ == "__main__":
    main()

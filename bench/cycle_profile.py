#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a multigrid cycle goes, by level.

usage: cycle_profile.py --tacit PROGRAM [--device NAME] [--cycle v|w]
                        [--option=OPTION ...] MATRIX ...

Solves with cg and --precond amg, every operation timed alone (--decorate
trace:), and prints tab-separated for each level of an iteration's cycle, and for
what cg does besides: rows, operations, microseconds (of each operation the median
over the iterations), bytes that they move in MB, GB/s, and that over what a copy
of as much memory as the report measures moves. Restriction to a level is counted
there, prolongation where it ends. Waiting for each operation takes some
microseconds: what small levels take in a solve is less.
"""
import argparse
import collections
import json
import re
import statistics
import subprocess
import sys

LINE = re.compile(r"rank 0 +(.+?) +n (\d+) +([\d.]+) us +(\d+) bytes")
CYCLE = {"prolongation", "restriction", "elementwise product", "product",
         "product+relaxation", "product+smoothing step", "product+pass"}


def iterations(text):
    """Operations of each iteration: name, n, microseconds, bytes."""
    one, found = [], []
    for name, n, us, size in LINE.findall(text):
        one.append((name, int(n), float(us), int(size)))
        if name == "cg update":
            found.append(one)
            one = []
    kinds = collections.Counter(tuple(o[:2] for o in i) for i in found)
    usual = kinds.most_common(1)[0][0]
    return [i for i in found if tuple(o[:2] for o in i) == usual]


def profile(args, matrix):
    command = [args.tacit, "solve", matrix, "--precond",
               f"amg(cycle={args.cycle})", "--device", args.device, "--loop",
               "host", "--rhs", "ones", "--json", "-"] + args.option
    plain = json.loads(subprocess.run(command, capture_output=True, text=True,
                                      check=True).stdout)
    traced = subprocess.run(command + ["--decorate", "trace:"], text=True,
                            capture_output=True, check=True)
    rows = [level["rows"] for level in plain["precond"]["levels"]]
    same = iterations(traced.stderr)
    took = collections.defaultdict(lambda: [0, 0.0, 0])
    for place, (name, n, _, size) in enumerate(same[0]):
        inside = name in CYCLE and n in rows
        sums = took[rows.index(n) if inside else "besides"]
        sums[0] += 1
        sums[1] += statistics.median(i[place][2] for i in same)
        sums[2] += size
    copy = plain["rate"]["copy_gbytes_per_second"]
    print(f"# {matrix}: {plain['result']['iterations']} iterations of "
          f"{1e6 * plain['time']['per_iteration']:.1f} us; a copy moves "
          f"{copy:.0f} GB/s")
    for level in list(range(len(rows))) + ["besides"]:
        count, us, size = took[level]
        rate = 1e-3 * size / us if us else 0.0
        print(level, rows[level] if level != "besides" else rows[0], count,
              f"{us:.1f}", f"{1e-6 * size:.3g}", f"{rate:.0f}",
              f"{rate / copy:.2f}" if copy else "-", sep="\t")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tacit", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--cycle", default="v")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("matrix", nargs="+")
    args = parser.parse_args()
    print("level", "rows", "operations", "us", "MB", "GB/s", "of a copy", sep="\t")
    for matrix in args.matrix:
        profile(args, matrix)


if __name__ == "__main__":
    sys.exit(main())

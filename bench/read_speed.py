#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast a large Matrix Market file is read: Tacit against scipy.io.mmread
and fast_matrix_market (pip install scipy fast_matrix_market).

usage: read_speed.py [--reader build/bench/read_file] [--file FILE]
                     [--megabytes N] [--repeat N] [--threads 1,2,...]

Without --file one is made in a temporary folder: the pattern of a 3D
Laplacian, random values of full precision, entries by columns. Each reading is
a process of its own, the readers take turns, and the median counts. Tacit's
time ends with sorted rows (CSR); for the others the time of mmread alone, which
gives unsorted triples, and of mmread and tocsr() are given.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PEER = """
import sys, time, json
name, path, threads, csr = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
if name == "scipy":
    import scipy.io, scipy.io._fast_matrix_market as backend
    backend.PARALLELISM = threads
    read = scipy.io.mmread
else:
    import fast_matrix_market
    read = lambda p: fast_matrix_market.mmread(p, parallelism=threads)
start = time.perf_counter()
A = read(path)
if csr == "csr":
    A = A.tocsr()
seconds = time.perf_counter() - start
status = open("/proc/self/status").read()
peak = 1024.0 * int(status.split("VmHWM:")[1].split()[0])
print(json.dumps({"seconds": seconds, "nonzeros": int(A.nnz),
                  "sum": float(A.data.sum()), "peak_bytes": peak}))
"""


def make_file(path, megabytes):
    """Write about `megabytes` of a matrix; some 37 bytes an entry."""
    import numpy as np
    rows = int(megabytes * 1e6 / 37 / 7)
    n = round(rows ** (1 / 3)) + 1
    i = np.arange(n ** 3, dtype=np.int64)
    x, y, z = i % n, i // n % n, i // n // n
    random = np.random.default_rng(1)
    parts = []
    for step, keep in ((-n * n, z > 0), (-n, y > 0), (-1, x > 0),
                       (0, i >= 0), (1, x < n - 1), (n, y < n - 1),
                       (n * n, z < n - 1)):
        parts.append(np.stack([i[keep], i[keep] + step]))
    col, row = np.concatenate(parts, axis=1)
    order = np.lexsort((row, col))
    row, col = row[order] + 1, col[order] + 1
    with open(path, "w") as f:
        f.write("%%MatrixMarket matrix coordinate real general\n")
        f.write(f"{n ** 3} {n ** 3} {len(row)}\n")
        for k in range(0, len(row), 100000):
            some = slice(k, k + 100000)
            values = random.standard_normal(len(row[some])).tolist()
            f.write("".join(f"{a} {b} {v!r}\n" for a, b, v in
                            zip(row[some].tolist(), col[some].tolist(),
                                values)))


def measure(command, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run(command, env=environment, capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:2])} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def compare(reader, path, threads, repeat):
    peer = [sys.executable, "-c", PEER]
    commands = {"tacit (CSR)": [reader, path]}
    for name in ("scipy", "fast_matrix_market"):
        for kind in ("triples", "csr"):
            label = f"{name} ({'CSR' if kind == 'csr' else kind})"
            commands[label] = peer + [name, path, str(threads), kind]
    runs = {label: [] for label in commands}
    for _ in range(repeat):
        for label, command in commands.items():
            runs[label].append(measure(command, threads))
    megabytes = os.path.getsize(path) / 1e6
    ours = statistics.median(r["seconds"] for r in runs["tacit (CSR)"])
    print(f"{megabytes:.0f} MB, {threads} thread(s), median of {repeat}:")
    print(f"{'reader':30} {'seconds':>8} {'MB/s':>6} {'theirs/ours':>12} "
          f"{'peak MB':>8}")
    for label, results in runs.items():
        seconds = statistics.median(r["seconds"] for r in results)
        peak = statistics.median(r["peak_bytes"] for r in results) / 1e6
        print(f"{label:30} {seconds:8.3f} {megabytes / seconds:6.0f} "
              f"{seconds / ours:12.2f} {peak:8.0f}")
    result = runs["tacit (CSR)"][0]
    print(f"peak over the matrix itself ({result['csr_bytes'] / 1e6:.0f} MB): "
          f"{result['peak_bytes'] / result['csr_bytes']:.2f}\n")
    for label, results in runs.items():
        if results[0]["nonzeros"] != result["nonzeros"] or \
                abs(results[0]["sum"] - result["sum"]) > 1e-6:
            sys.exit(f"{label} read something else")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", default="build/bench/read_file")
    parser.add_argument("--file")
    parser.add_argument("--megabytes", type=float, default=250)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    given = parser.parse_args()
    reader = os.path.abspath(given.reader)
    if not os.access(reader, os.X_OK):
        sys.exit(f"{reader} is missing: build it, or give --reader")
    with tempfile.TemporaryDirectory() as folder:
        path = given.file
        if path is None:
            path = os.path.join(folder, "large.mtx")
            make_file(path, given.megabytes)
        for threads in given.threads.split(","):
            compare(reader, path, int(threads), given.repeat)


if __name__ == "__main__":
    main()

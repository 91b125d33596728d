#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the others do when a rank is stopped or killed, by link and loop.

usage: failures.py --tacit PROGRAM [--device host|cuda] [--ranks 2]
                   [--cases LINK:LOOP,...] [--signals STOP,KILL]
                   [--launchers mpirun,own] [--patience 3] [--after 6]
                   [--limit 60] [MATRIX]

Starts a long solve for each case, under mpirun or by the program's own --ranks
(--gpus on cuda), and sends the last rank the signal when it has run for AFTER
seconds: longer than set-up, whose waits have no limit. Then waits until the
launcher has ended, LIMIT seconds at most; ranks wait for each other for PATIENCE
(TACIT_PATIENCE). One tab-separated line each: signal, launcher, link, loop, exit
status, seconds from the signal to the end, processes that were left then, and
the first line that says what was wrong. On cuda what nvidia-smi says of the GPUs
afterwards follows.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CASES = {"host": "shm:host,mpi:host",
         "cuda": "mpi:host,nccl:host,nccl:graph,peer:host,peer:graph,"
                 "peer:resident,nvshmem:host,nvshmem:graph,nvshmem:resident"}
SAYS = re.compile(r"answered|killed by|signal \d|was lost|deserted", re.I)


def ranks_of(mark):
    """Processes of the job, the last rank's last."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                name = f.read().strip()
        except OSError:
            continue
        if mark in words and name == "tacit":
            rank = [w for w in words if w.startswith(b"OMPI_COMM_WORLD_RANK=")]
            found.append((int(rank[0].split(b"=")[1]) if rank else 0, int(pid)))
    return [pid for _, pid in sorted(found)]


def start(a, launcher, link, loop, log):
    mark = f"TACIT_BENCH_JOB={os.getpid()}.{time.monotonic_ns()}"
    env = dict(os.environ, TACIT_PATIENCE=str(a.patience), OMP_NUM_THREADS="1",
               OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    env.update([mark.split("=")])
    words = [a.tacit, "solve", a.matrix, "--rhs", "ones", "--rtol", "1e-8",
             "--repeat", "1000000", "--device", a.device, "--comm", link,
             "--loop", loop, "--threads", "1", "--quiet"]
    if a.device == "cuda":  # which loop resident has whatever is fastest
        words += ["--format", "sell"]
    if launcher == "mpirun":
        words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np",
                 str(a.ranks)] + words
    else:
        words += ["--gpus" if a.device == "cuda" else "--ranks", str(a.ranks)]
    job = subprocess.Popen(words, stdout=log, stderr=log, env=env,
                           start_new_session=True)
    return job, mark.encode()


def finish(job, limit):
    try:
        return str(job.wait(limit))
    except subprocess.TimeoutExpired:
        return f"none in {limit} s"


def clear(job, mark):
    left = ranks_of(mark)
    for pid in left + ([job.pid] if job.poll() is None else []):
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                os.kill(pid, number)
            except OSError:
                pass
    job.wait()
    return len(left)


def try_one(a, name, launcher, link, loop):
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        job, mark = start(a, launcher, link, loop, log)
        try:
            time.sleep(a.after)
            pids = ranks_of(mark)
            begun = time.monotonic()
            early = job.poll() is not None or not pids
            if not early:
                os.kill(pids[-1], getattr(signal, "SIG" + name))
            status = finish(job, a.limit)
            seconds = time.monotonic() - begun
        finally:
            left = clear(job, mark)
        log.seek(0)
        lines = [x.strip() for x in log if x.strip()]
    says = [x for x in lines if SAYS.search(x)] or lines or [""]
    cells = ["-", "-"] if early else [f"{seconds:.1f}", str(left)]
    return [name, launcher, link, loop, status] + cells + [says[0]]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", default="tacit")
    p.add_argument("--device", default="host")
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--cases")
    p.add_argument("--signals", default="STOP,KILL")
    p.add_argument("--launchers", default="mpirun,own")
    p.add_argument("--patience", type=float, default=3)
    p.add_argument("--after", type=float, default=6)
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("matrix", nargs="?", default="poisson3d:60")
    a = p.parse_args()
    # who ends this program early would leave a job without an end
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print("signal\tlauncher\tlink\tloop\tstatus\tseconds\tleft\tsays")
    for case in (a.cases or CASES[a.device]).split(","):
        link, loop = case.split(":")
        for launcher in a.launchers.split(","):
            if launcher == "own" and link == "mpi":
                continue
            for name in a.signals.split(","):
                print("\t".join(try_one(a, name, launcher, link, loop)),
                      flush=True)
    if a.device == "cuda" and shutil.which("nvidia-smi"):
        time.sleep(1)
        subprocess.run(["nvidia-smi", "--format=csv,noheader",
                        "--query-gpu=index,utilization.gpu,memory.used"],
                       check=False)


main()

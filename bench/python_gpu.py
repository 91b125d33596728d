#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries on a GPU: what a solve copies, and its gradients.

    PYTHONPATH=python TACIT_LIBRARY=build/gpu/src/libtacit.so \\
        bench/python_gpu.py [--matrix poisson3d:100]

Needs PyTorch with CUDA, whose profiler sees the copies of the process, and
takes CuPy and JAX where they are. A line for each library:

to, from, within   bytes copied by one solve: to the GPU, back, and on it, which
                   has the copies of the method itself; "numpy" has b, x0 and x
memory             bytes that the solve takes from the GPU and keeps
in place           the solver was given the addresses of b and x themselves
stream             b was still being computed on a stream of the caller's

Then the gradients of torch_solve and jax_solve beside central differences of
solves on the GPU. The exit status is 1 if anything is not as it should be."""

import argparse
import importlib
import json
import os
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np  # noqa: E402
import tacit  # noqa: E402
import torch  # noqa: E402
from tacit._library import lib  # noqa: E402

faults = []


def expect(good, what):
    """Note a fault; the word for the table."""
    if not good:
        faults.append(what)
    return "yes" if good else "NO"


class Library:
    """Arrays of one library on the GPU."""

    def __init__(self, name):
        self.name = name
        m = self.module = importlib.import_module(name)
        self.side = None
        if name == "torch":
            self.put = lambda a: m.tensor(a, device="cuda")
            self.get = lambda x: x.cpu().numpy()
            self.address = lambda x: x.data_ptr()
            self.side = m.cuda.Stream
            self.within = m.cuda.stream
            self.number = lambda stream: stream.cuda_stream
        elif name == "cupy":
            self.put, self.get = m.asarray, m.asnumpy
            self.address = lambda x: x.data.ptr
            self.side = lambda: m.cuda.Stream(non_blocking=True)
            self.within = lambda stream: stream
            self.number = lambda stream: stream.ptr
        elif name == "jax":
            m.config.update("jax_enable_x64", True)
            self.put = lambda a: m.block_until_ready(m.numpy.asarray(a))
            self.get = np.asarray
            self.address = lambda x: x.unsafe_buffer_pointer()
        else:
            self.put = self.get = np.asarray
            self.address = lambda x: x.ctypes.data


def copies(work):
    """Bytes by kind of copy, HtoD, DtoH and DtoD, and what work returns."""
    kinds = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        out = work()
        torch.cuda.synchronize()
    path = os.path.join(tempfile.mkdtemp(), "trace.json")
    profile.export_chrome_trace(path)
    with open(path) as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    seen = {"HtoD": 0, "DtoH": 0, "DtoD": 0}
    for event in events:
        if event.get("cat") == "gpu_memcpy":
            for kind in seen:
                if kind in event["name"]:
                    seen[kind] += int(event["args"]["bytes"])
    return seen, out


def given_addresses(work):
    """The addresses of b and x in the last solve, and what work returns."""
    taken, run = [], lib.tacit_solver_run

    def look(solver, b, x, *rest):
        taken.append([getattr(p, "value", p) for p in (b, x)])
        return run(solver, b, x, *rest)

    lib.tacit_solver_run = look
    try:
        out = work()
    finally:
        lib.tacit_solver_run = run
    return taken[-1], out


def late(library, solver, b):
    """Solve while b is still being computed on the caller's stream."""
    if library.side is None:
        return "-"
    stream, wanted = library.side(), library.put(b)
    given = library.put(0.0 * b)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.ExternalStream(library.number(stream))):
        torch.cuda._sleep(100_000_000)  # cycles: some 50 ms
    with library.within(stream):
        given[:] = wanted
        x, _ = solver.solve(given)
        twice = library.get(x + x)  # on that stream again
    torch.cuda.synchronize()
    residual = np.linalg.norm(b - solver.operator @ (0.5 * twice))
    good = residual <= 1e-7 * np.linalg.norm(b)
    return expect(good, f"{library.name}: the caller's stream")


def row(library, solver, b):
    given = library.put(b)
    work = lambda: solver.solve(given)[0]  # noqa: E731
    x = work()
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    addresses, y = given_addresses(work)
    kept = free - torch.cuda.mem_get_info()[0]
    start = time.perf_counter()
    x = work()
    seconds = time.perf_counter() - start
    seen, x = copies(work)
    n = library.name
    there = n != "numpy"
    in_place = addresses == [library.address(given), library.address(y)]
    few = b.nbytes // 8
    residual = np.linalg.norm(b - solver.operator @ library.get(x))
    expect(residual <= 1e-7 * np.linalg.norm(b), f"{n}: the solution")
    if there:
        expect(in_place, f"{n}: arrays in place")
        expect(type(x) is type(given), f"{n}: the type of x")
        expect(seen["HtoD"] < few and seen["DtoH"] < few, f"{n}: copies")
    else:  # else the profiler has seen nothing
        expect(seen["HtoD"] >= b.nbytes <= seen["DtoH"], "the profile")
    print(n, *seen.values(), kept, "yes" if in_place else "no",
          late(library, solver, b) if there else "-", f"{1e3 * seconds:.3f}",
          sep="\t", flush=True)


def libraries():
    yield Library("numpy")
    for name in ("torch", "cupy", "jax"):
        try:
            yield Library(name)
        except ImportError as error:
            print(f"{name}: not here ({error})")


def differences(loss, A, values, chosen):
    """Central differences of loss by symmetric changes of chosen entries."""
    C = A.tocoo()
    where = {(i, j): k for k, (i, j) in enumerate(zip(C.row, C.col))}
    for k in chosen:
        mirror = where[C.col[k], C.row[k]]
        sides = []
        for step in (1e-4, -1e-4):
            changed = values.copy()
            for entry in {k, mirror}:
                changed[entry] += step
            sides.append(float(loss(changed)))
        yield k, mirror, (sides[0] - sides[1]) / 2e-4


def compare(name, gradient, loss, A, values):
    """The gradient beside differences, at every 97th entry."""
    worst, scale = 0.0, np.abs(gradient).max()
    for k, mirror, slope in differences(loss, A, values,
                                        range(0, len(values), 97)):
        ours = sum(gradient[entry] for entry in {k, mirror})
        worst = max(worst, abs(ours - slope) / scale)
    print(name, f"{worst:.2e}", expect(worst < 1e-5, f"{name}: gradients"),
          sep="\t", flush=True)


def torch_gradients(A, b, weights):
    f = tacit.torch_solve(A, device="cuda", rtol=1e-12, precond="jacobi")
    g = torch.tensor(weights, device="cuda")
    rhs = torch.tensor(b, device="cuda", requires_grad=True)
    values = torch.tensor(A.data, device="cuda", requires_grad=True)
    (f(values, rhs) * g).sum().backward()

    def loss(v):
        return (f(torch.tensor(v, device="cuda"), rhs.detach()) * g).sum()

    compare("torch", values.grad.cpu().numpy(), loss, A, A.data)
    back = rhs.grad.cpu().numpy()
    good = np.linalg.norm(A @ back - weights) < 1e-9 * np.linalg.norm(weights)
    expect(rhs.grad.is_cuda and good, "torch: the gradient of b")


def jax_gradients(A, b, weights):
    try:
        import jax
    except ImportError:
        return
    jax.config.update("jax_enable_x64", True)
    f = tacit.jax_solve(A, device="cuda", rtol=1e-12, precond="jacobi")
    loss = jax.jit(lambda v, r: (f(v, r) * weights).sum())
    g = jax.grad(loss, argnums=(0, 1))(A.data, b)
    compare("jax", np.asarray(g[0]), lambda v: loss(v, b), A, A.data)
    good = np.linalg.norm(A @ np.asarray(g[1]) - weights)
    expect(good < 1e-9 * np.linalg.norm(weights), "jax: the gradient of b")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--matrix", default="poisson3d:100")
    name = parser.parse_args().matrix
    A = tacit.gallery(name)
    b = np.sin(np.arange(float(A.shape[0])))
    print("arrays\tto\tfrom\twithin\tmemory\tin place\tstream\tms a solve")
    with tacit.Solver(A, device="cuda", precond="jacobi") as solver:
        for library in libraries():
            row(library, solver, b)
    print("gradients\tlargest difference\tbelow 1e-5")
    A = tacit.gallery("poisson2d:40")
    i = np.arange(float(A.shape[0]))
    torch_gradients(A, np.sin(i), np.cos(i))
    jax_gradients(A, np.sin(i), np.cos(i))
    for fault in faults:
        print(f"not as it should be: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

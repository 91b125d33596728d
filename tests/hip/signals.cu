/* SPDX-License-Identifier: BSD-3-Clause
 * tests/hip/signals.cu - what ranks wait for, each in a kernel of its own, for
 * signals.py to find the scopes in their assembly. */
#include "device/gpu/lane.cuh"
#include "device/protocol.h"

extern "C" __global__ void release_done(unsigned *ticket, uint64_t *counter)
{
    tct_part_done(ticket, 2, counter, 7);
}
extern "C" __global__ void acquire_message(const uint64_t *arrived, int *out)
{
    *out = tct_await_message(arrived, 7, {0, nullptr});
}
extern "C" __global__ void release_signal(double *before, uint64_t *signal)
{
    *before = 1.0;
    tct_signal_send(signal, 7);
}
extern "C" __global__ void acquire_signal(const uint64_t *signal, uint64_t *out)
{
    *out = tct_signal_value(signal);
}
extern "C" __global__ void release_slot(tct_slots S)
{
    tct_slot_send(S, 0, 7, 1.0, 1);
}
extern "C" __global__ void acquire_slot(tct_slots S, double *out)
{
    tct_slot_receive(S, 0, 0, 7, {0, nullptr}, out);
}
extern "C" __global__ void acquire_copy(const tct_numbered *from, double *out)
{
    __shared__ tct_numbered box;
    tct_copy(&box, from);
    tct_await_copies();
    *out = box.value;
}

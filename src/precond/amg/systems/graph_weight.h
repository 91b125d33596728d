/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/graph_weight.h - weights of the graph of nodes (nodes.c),
 * one text for host and device. */
#ifndef TCT_PRECOND_AMG_SYSTEMS_GRAPH_WEIGHT_H
#define TCT_PRECOND_AMG_SYSTEMS_GRAPH_WEIGHT_H
#include "device/steps.h"
#include <stdint.h>
#include <string.h>

/* Frobenius norm of a block from its sum of squares, rounded to 24 bits as by
 * tct_rounded. */
TCT_BOTH double tct_node_norm(double squares)
{
    double value = sqrt(squares);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits += 0x0fffffff + (bits >> 29 & 1);
    bits &= ~UINT64_C(0x1fffffff);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* The diagonal of a node from the norm of its block and the sum of its edges:
 * a little more than the sum, so that a node with all edges in its aggregate
 * still counts. */
TCT_BOTH double tct_node_diagonal(double own, double sum)
{
    return fmax(own, (1.0 + 1e-3) * sum);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * device/operation.c - the tables of operations and passes. */
#include "device/operation.h"

static const tct_op_info op_table[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, ...) \
    [TCT_##code] = {text, spmv, dot, nrm2, axpy, moved, sums},
    TCT_OPS(X)
#undef X
};

static const tct_op_info pass_table[TCT_PASS_COUNT] = {
#define X(name, text, vectors, reads, writes, sums, held, dot, nrm2, axpy)  \
    [PASS_##name] = {                                                       \
        text, 0,    dot,                                                    \
        nrm2, axpy, __builtin_popcount(reads) + __builtin_popcount(writes), \
        sums},
    TCT_PASSES(X)
#undef X
};

/* As the pass, without t, which is not stored; x is one of its vectors. */
static const tct_op_info product_table[TCT_PASS_COUNT] = {
#define X(name, text, vectors, reads, writes, sums, held, dot, nrm2, axpy)   \
    [PASS_##                                                                 \
        name] = {"product+" text,                                            \
                 1,                                                          \
                 dot,                                                        \
                 nrm2,                                                       \
                 axpy,                                                       \
                 __builtin_popcount(reads) + __builtin_popcount(writes) - 1, \
                 sums},
    TCT_PASSES(X)
#undef X
};

const tct_op_info *tct_op_info_of(const tct_op *op)
{
    if (op->code == TCT_PASS) return &pass_table[op->pass];
    if (op->code == TCT_MULTIPLY_PASS) return &product_table[op->pass];
    return &op_table[op->code];
}

/* The element types of operations, and of passes, a bit for each. */
enum { OF_f64 = 1 << TACIT_F64, OF_all = TCT_ALL_ELEMENTS };
static const unsigned char op_elements[TCT_OPCODES] = {
#define X(code, text, spmv, dot, nrm2, axpy, moved, sums, line, host, take, \
          start, count, elements)                                           \
    [TCT_##code] = OF_##elements,
    TCT_OPS(X)
#undef X
};
static const unsigned char pass_elements[TCT_PASS_COUNT] = {
#define X(name) [PASS_##name] = 1 << TACIT_F32,
    TCT_FLOAT_PASSES(X)
#undef X
};

bool tct_op_has_element(const tct_op *op)
{
    if (op->element == TACIT_F64) return true;
    const unsigned of =
        op->code == TCT_PASS ? pass_elements[op->pass] : op_elements[op->code];
    return op->batch.count == 0 && (of >> op->element & 1);
}

tct_op tct_op_system(const tct_op *op, int j)
{
    tct_op one = *op;
    const ptrdiff_t scalars = (ptrdiff_t)j * TCT_SCALARS;
    one.batch = (tct_system_batch){.count = op->batch.count > 0};
    for (int k = 0; k < TCT_OP_VECTORS; k++)
        if (one.v[k] && !(op->batch.shared >> k & 1))
            one.v[k] += (size_t)j * op->batch.stride;
    const bool own = !(op->batch.shared & TCT_SHARED_SCALARS);
    if (one.alpha && own) one.alpha += scalars;
    if (one.beta && own) one.beta += scalars;
    if (one.out) one.out += scalars;
    return one;
}

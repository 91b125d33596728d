/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/store_values.h - tasks of store_tasks.h: which values there
 * are, and their codes in a dictionary, as pattern/values.c. */
#ifndef TCT_OPERATOR_LAYOUT_STORE_VALUES_H
#define TCT_OPERATOR_LAYOUT_STORE_VALUES_H
#include "operator/layout/store_work.h"

enum { TCT_STORE_PIECE = 16 * GPU_LANES }; /* values of a task */

/* --- values --------------------------------------------------------------- */

/* Put a value into the table, as long as it has not too many. */
TCT_BOTH void tct_store_add(const tct_store_work *g, uint64_t bits)
{
    const size_t mask = ((size_t)1 << g->bits) - 1;
    size_t at = tct_value_slot(bits, g->bits);
    for (size_t i = 0; i <= mask; i++, at = (at + 1) & mask) {
        uint64_t key = tct_shared_peek(&g->key[at]);
        if (key == bits) return;
        if (key != 0) continue;
        if (tct_shared_read(&g->state->values) >= TCT_GPU_VALUES_MOST) return;
        key = tct_shared_claim(&g->key[at], bits);
        if (key == 0) tct_shared_add(&g->state->values, 1);
        if (key == 0 || key == bits) return;
    }
}

/* Is nothing left to be known of the values? */
TCT_BOTH bool tct_store_knows(const tct_store_work *g)
{
    return tct_shared_read(&g->state->values) >= TCT_GPU_VALUES_MOST &&
           tct_shared_read(&g->state->no_float) != 0;
}

/* Look at a value; `last` is the one before. */
TCT_BOTH void tct_store_value(const tct_store_work *g, double v, uint64_t *last)
{
    const uint64_t bits = tct_bits_of(v);
    if (bits == *last) return;
    *last = bits;
    if (bits == 0) return;
    if (!tct_value_is_float(bits) && tct_shared_read(&g->state->no_float) == 0)
        tct_shared_set(&g->state->no_float);
    tct_store_add(g, bits);
}

/* All values of a piece. */
TCT_BOTH void tct_store_task_values(const tct_store_work *g, int64_t piece,
                                    int b)
{
    (void)b;
    if (tct_store_knows(g)) return;
    TCT_EACH_NUMBER(l)
    {
        uint64_t last = 0;
        const int64_t first = TCT_STORE_PIECE * piece;
        for (int64_t i = l; i < TCT_STORE_PIECE; i += GPU_LANES)
            if (first + i < g->entries)
                tct_store_value(g, g->val[first + i], &last);
    }
}

/* Those in the cells of slice `s`, b = 1. */
TCT_BOTH void tct_store_task_cells(const tct_store_work *g, int64_t s, int b)
{
    (void)b;
    if (g->plan[s].kind == SLICE_CONST || tct_store_knows(g)) return;
    TCT_EACH_NUMBER(l)
    {
        uint64_t last = 0;
        const int64_t at = GPU_LANES * s + l;
        const int64_t row = at / GPU_WINDOW * GPU_WINDOW + g->order[at];
        for (int64_t i = 0; i < g->length[at]; i++)
            tct_store_value(g, g->val[g->ptr[row] + i], &last);
    }
}

/* List the values of the table's slots; 32 slots a task. */
TCT_BOTH void tct_store_task_list(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    TCT_EACH_NUMBER(l)
    {
        const uint64_t bits = g->key[GPU_LANES * i + l];
        int64_t at = TCT_GPU_VALUES_MOST;
        if (bits) at = tct_shared_add(&g->state->listed, 1);
        if (at < TCT_GPU_VALUES_MOST) memcpy(&g->list[at], &bits, sizeof bits);
    }
}

/* The code of each slot: its value's place in the dictionary, where +0 is first
 * and the others ascend by their bits. */
TCT_BOTH void tct_store_task_number(const tct_store_work *g, int64_t i, int b)
{
    (void)b;
    TCT_EACH_NUMBER(l)
    {
        const uint64_t bits = g->key[GPU_LANES * i + l];
        int64_t low = 0, high = g->a.dict_count;
        while (low < high) {
            const int64_t mid = (low + high) / 2;
            if (tct_bits_of(g->a.dict[mid]) < bits) low = mid + 1;
            else high = mid;
        }
        g->code[GPU_LANES * i + l] = (uint16_t)low;
    }
}

TCT_BOTH uint16_t tct_store_code(const tct_store_work *g, uint64_t bits)
{
    const size_t mask = ((size_t)1 << g->bits) - 1;
    size_t at = tct_value_slot(bits, g->bits);
    if (bits == 0) return 0;
    while (g->key[at] != bits) at = (at + 1) & mask;
    return g->code[at];
}

#endif

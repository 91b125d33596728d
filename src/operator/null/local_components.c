/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/local_components.c - components among the rows of one rank.
 *
 * A sweep over each block of rows, forward and backward, rules out all rows of
 * many matrices without memory: a row stands if a neighbour does, mostly its
 * first. Rows that are left are joined by a union-find that all threads work on.
 * The parent of a row is lower than the row, so that there are no cycles and the
 * root of a component is its lowest row; TCT_RULED_OUT is lower than all. Threads
 * change roots by compare-and-swap (Anderson and Woll 1991). On the way to a root
 * they point each row at the parent of its parent, which stays a way to its root
 * whatever other threads do.
 *
 * Rows are joined to their first neighbour, then some of them to their last,
 * then those that are left, at last these to all neighbours: few entries join
 * most rows of a large component (Sutton, Ben-Nun and Barak 2018). Passes choose
 * entries by states, which change only between them: the result does not depend
 * on threads. */
#include "operator/null/local_components.h"
#include "device/parallel.h"
#include "operator/pattern/row_state.h"

/* Rows of a block. A sweep ends once it has looked at as many entries of rows
 * that it leaves. */
enum { BLOCK = 131072 };
/* One row of so many is joined to its last neighbour before the others are. */
enum { SOME = 4 };
/* Passes that skip most entries ask the memory for those of a row that they
 * come to so many rows later. */
enum { AHEAD = 8 };

typedef struct {
    const tct_csr *A;
    unsigned char *state;
    atomic_int_fast64_t *parent; /* [rows] of those that do not stand */
} joining;

/* The row of this rank other than i that entry k of row i couples it to; else
 * -1. */
static int64_t neighbour(const joining *s, int64_t i, int64_t k)
{
    const int64_t j = tct_csr_col(s->A, k) - s->A->first;
    return j >= 0 && j < s->A->rows && j != i && s->A->val[k] != 0.0 ? j : -1;
}

/* --- sweeps ---------------------------------------------------------------- */

/* Row i, if its sum vanishes, stands if a neighbour among rows [from, to) does.
 * Returns how many entries say that it is left. */
static int64_t carry(const joining *s, int64_t i, int64_t from, int64_t to)
{
    const int64_t *ptr = s->A->ptr;
    if (s->state[i] != TCT_ROW_VANISHES) return 0;
    for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {
        const int64_t j = neighbour(s, i, k);
        if (j < from || j >= to || s->state[j] != TCT_ROW_STANDS) continue;
        s->state[i] = TCT_ROW_STANDS;
        return 0;
    }
    return ptr[i + 1] - ptr[i];
}

static void sweep_block(const joining *s, int64_t from, int64_t to)
{
    int64_t looked = 0;
    for (int64_t i = from; i < to && looked < BLOCK; i++)
        looked += carry(s, i, from, to);
    if (looked == 0 || looked >= BLOCK) return;
    for (int64_t i = to; i-- > from && looked < 2 * BLOCK;)
        looked += carry(s, i, from, to);
}

/* Rows of other blocks are other threads'. */
static void sweep(void *of, int64_t from, int64_t to)
{
    const joining *s = of;
    const int64_t rows = s->A->rows;
    for (int64_t b = from; b < to; b++)
        sweep_block(s, b * BLOCK, b < rows / BLOCK ? (b + 1) * BLOCK : rows);
}

static int64_t count_left(const void *of, int64_t from, int64_t to)
{
    const joining *s = of;
    int64_t left = 0;
    for (int64_t i = from; i < to; i++) left += s->state[i] != TCT_ROW_STANDS;
    return left;
}

int64_t tct_sweep_local_rows(const tct_csr *A, unsigned char *state)
{
    joining s = {.A = A, .state = state};
    tct_parallel((A->rows + BLOCK - 1) / BLOCK, 1, sweep, &s);
    return tct_parallel_sum(A->rows, TCT_SHORT, count_left, &s);
}

/* --- union-find ------------------------------------------------------------ */

static void set_parent(const joining *s, int64_t i, int64_t up)
{
    atomic_store_explicit(&s->parent[i], up, memory_order_relaxed);
}

/* The root of row i; TCT_RULED_OUT is its own. */
static int64_t root_of(const joining *s, int64_t i)
{
    int64_t up = i;
    while (up >= 0 && (up = tct_parent_of(s->parent, i)) != i) i = up;
    return up;
}

/* The same, and shorter ways for those who come later. */
static int64_t shorten(const joining *s, int64_t i)
{
    if (i < 0) return i;
    int64_t up = tct_parent_of(s->parent, i);
    while (up >= 0 && up != i) {
        const int64_t next = tct_parent_of(s->parent, up);
        if (next != up) set_parent(s, i, next);
        i = up;
        up = next;
    }
    return up;
}

/* Hang the root `high` below `low`; false: it is a root no longer. */
static bool hang(const joining *s, int64_t high, int64_t low)
{
    int_fast64_t root = high;
    return atomic_compare_exchange_strong_explicit(&s->parent[high], &root, low,
                                                   memory_order_relaxed,
                                                   memory_order_relaxed);
}

static void join(const joining *s, int64_t i, int64_t j)
{
    int64_t a = shorten(s, i), b = shorten(s, j);
    while (a != b && !(a > b ? hang(s, a, b) : hang(s, b, a))) {
        a = shorten(s, a);
        b = shorten(s, b);
    }
}

/* Join row i to its neighbour j; a row that stands has no parent. */
static void join_to(const joining *s, int64_t i, int64_t j)
{
    join(s, i, s->state[j] == TCT_ROW_STANDS ? TCT_RULED_OUT : j);
}

/* --- passes ---------------------------------------------------------------- */

static int64_t first_neighbour(const joining *s, int64_t i)
{
    const int64_t *ptr = s->A->ptr;
    int64_t j = -1;
    for (int64_t k = ptr[i]; k < ptr[i + 1] && j < 0; k++)
        j = neighbour(s, i, k);
    return j;
}

static int64_t last_neighbour(const joining *s, int64_t i)
{
    const int64_t *ptr = s->A->ptr;
    int64_t j = -1;
    for (int64_t k = ptr[i + 1]; k-- > ptr[i] && j < 0;) j = neighbour(s, i, k);
    return j;
}

/* Ask the memory for an end of row i, of rows below `to`. It is inlined: gcc
 * takes a call that only fetches for one without effect, and drops it. */
static inline __attribute__((always_inline)) void
fetch(const joining *s, int64_t i, int64_t to, bool last)
{
    const tct_csr *A = s->A;
    if (i >= to || s->state[i] != TCT_ROW_VANISHES) return;
    const int64_t k = last ? A->ptr[i + 1] - 1 : A->ptr[i];
    if (A->col32) __builtin_prefetch(&A->col32[k]);
    else __builtin_prefetch(&A->col64[k]);
    __builtin_prefetch(&A->val[k]);
}

/* The first parent of row i, of rows from `from` on that have theirs already if
 * they are before i. A neighbour behind i stays for a later pass. */
static int64_t first_parent(const joining *s, int64_t from, int64_t i)
{
    if (s->state[i] == TCT_ROW_ZERO) return i;
    const int64_t j = first_neighbour(s, i);
    if (j < 0) return i;
    if (s->state[j] == TCT_ROW_STANDS) return TCT_RULED_OUT;
    if (j > i) return i;
    return j < from ? j : tct_parent_of(s->parent, j);
}

static void join_first(void *of, int64_t from, int64_t to)
{
    const joining *s = of;
    for (int64_t i = from; i < to; i++) {
        fetch(s, i + AHEAD, to, false);
        if (s->state[i] != TCT_ROW_STANDS)
            set_parent(s, i, first_parent(s, from, i));
    }
}

static void join_last(const joining *s, int64_t i)
{
    const int64_t j =
        s->state[i] == TCT_ROW_VANISHES ? last_neighbour(s, i) : -1;
    if (j >= 0) join_to(s, i, j);
}

static void join_some_last(void *of, int64_t from, int64_t to)
{
    const joining *s = of;
    for (int64_t i = (from + SOME - 1) / SOME * SOME; i < to; i += SOME) {
        fetch(s, i + AHEAD * SOME, to, true);
        join_last(s, i);
    }
}

static void join_each_last(void *of, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) join_last(of, i);
}

/* Most neighbours have the parent of row i already, and their values are left
 * alone. */
static void join_row(const joining *s, int64_t i)
{
    const tct_csr *A = s->A;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        if (j < 0 || j >= A->rows) continue;
        if (s->state[j] != TCT_ROW_STANDS &&
            tct_parent_of(s->parent, j) == tct_parent_of(s->parent, i))
            continue;
        if (A->val[k] != 0.0) join_to(s, i, j);
    }
}

static void join_all(void *of, int64_t from, int64_t to)
{
    const joining *s = of;
    for (int64_t i = from; i < to; i++)
        if (s->state[i] == TCT_ROW_VANISHES) join_row(s, i);
}

/* Point rows at their roots; those of TCT_RULED_OUT stand. Only the thread that
 * has a row changes its parent. */
static int64_t settle(const void *of, int64_t from, int64_t to)
{
    const joining *s = of;
    int64_t left = 0;
    for (int64_t i = from; i < to; i++) {
        if (s->state[i] == TCT_ROW_STANDS) continue;
        const int64_t root = root_of(s, i);
        set_parent(s, i, root);
        if (root < 0) s->state[i] = TCT_ROW_STANDS;
        left += root >= 0;
    }
    return left;
}

int64_t tct_join_local_rows(const tct_csr *A, unsigned char *state,
                            atomic_int_fast64_t *parent)
{
    static const tct_stretch_fn passes[] = {join_first, join_some_last,
                                            join_each_last, join_all};
    enum { PASSES = sizeof passes / sizeof *passes };
    joining s = {.A = A, .state = state, .parent = parent};
    int64_t left = A->rows;
    for (int p = 0; p < PASSES && left > 0; p++) {
        tct_parallel(A->rows, TCT_SHORT, passes[p], &s);
        left = tct_parallel_sum(A->rows, TCT_SHORT, settle, &s);
    }
    return left;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/ghost_numbers.c - numbers the distinct columns of ghost
 * entries. The columns of a row ascend, and rows near each other have the same
 * ones, so that a merge sort of the ascending runs that drops what it meets
 * twice has little left to do after a few passes. */
#include "operator/pattern/ghost_numbers.h"
#include "sparse/ghosts.h"

/* --- distinct numbers ----------------------------------------------------- */

/* The end of the strictly ascending run that begins at `from`. */
static int64_t run_end(const int64_t *id, int64_t from, int64_t count)
{
    if (from >= count) return count;
    int64_t k = from + 1;
    while (k < count && id[k - 1] < id[k]) k++;
    return k;
}

/* Merge the ascending `a` [m] and `b` [n] into `to`, each number once; returns
 * how many there are. */
static int64_t merge(const int64_t *a, int64_t m, const int64_t *b, int64_t n,
                     int64_t *to)
{
    int64_t i = 0, k = 0, count = 0;
    while (i < m && k < n) {
        const int64_t x = a[i], y = b[k];
        to[count++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    memcpy(to + count, a + i, (size_t)(m - i) * sizeof *to);
    count += m - i;
    memcpy(to + count, b + k, (size_t)(n - k) * sizeof *to);
    return count + n - k;
}

/* Merge the runs of `from` [count] in pairs into `to`; returns how many numbers
 * are left. `*runs`: of `to`. */
static int64_t merge_runs(const int64_t *from, int64_t count, int64_t *to,
                          int64_t *runs)
{
    int64_t left = 0;
    *runs = 0;
    for (int64_t start = 0; start < count; ++*runs) {
        const int64_t middle = run_end(from, start, count);
        const int64_t end = run_end(from, middle, count);
        left += merge(from + start, middle - start, from + middle, end - middle,
                      to + left);
        start = end;
    }
    return left;
}

/* The distinct numbers of `id` [count] into `out`, ascending; `spare` [count].
 * Returns how many there are. */
static int64_t sort_distinct(const int64_t *id, int64_t count, int64_t *out,
                             int64_t *spare)
{
    int64_t *to = out, *other = spare, runs = 0;
    int64_t left = merge_runs(id, count, to, &runs);
    while (runs > 1) {
        left = merge_runs(to, left, other, &runs);
        int64_t *const merged = other;
        other = to;
        to = merged;
    }
    if (to != out) memcpy(out, to, (size_t)left * sizeof *out);
    return left;
}

/* --- by threads ----------------------------------------------------------- */

enum { LEAST = 4096 }; /* numbers that are worth a thread */

/* Part t has the places from start[t] on, and count[t] distinct numbers. */
typedef struct {
    const int64_t *id;
    int64_t *out, *spare;   /* [entries]  */
    int64_t parts, apart;   /* `apart`: parts from one that is merged to its
                            * partner */
    int64_t *start, *count; /* [parts + 1] */
} sorting;

static void sort_part(void *work, int64_t t)
{
    const sorting *s = work;
    const int64_t at = s->start[t];
    s->count[t] = sort_distinct(s->id + at, s->start[t + 1] - at, s->out + at,
                                s->spare + at);
}

static void merge_parts(void *work, int64_t pair)
{
    const sorting *s = work;
    const int64_t t = 2 * pair * s->apart, other = t + s->apart;
    if (other >= s->parts) return;
    int64_t *to = s->spare + s->start[t], *out = s->out + s->start[t];
    s->count[t] =
        merge(out, s->count[t], s->out + s->start[other], s->count[other], to);
    memcpy(out, to, (size_t)s->count[t] * sizeof *to);
}

static tacit_status find_distinct(tct_team *team, int64_t entries,
                                  const int64_t *id, int64_t *spare,
                                  tct_parts *p)
{
    const int threads = tct_team_size(team);
    const int64_t most = entries / LEAST + 1;
    sorting s = {.id = id,
                 .out = p->ghost_id,
                 .spare = spare,
                 .parts = most < threads ? most : threads};
    TRY(TCT_ALLOC(2 * s.parts + 1, "ghost columns", &s.start));
    s.count = s.start + s.parts + 1;
    for (int64_t t = 0; t <= s.parts; t++)
        s.start[t] = entries / s.parts * t + entries % s.parts * t / s.parts;
    tct_team_run(team, threads, s.parts, NULL, sort_part, &s);
    for (s.apart = 1; s.apart < s.parts; s.apart *= 2)
        tct_team_run(team, threads, (s.parts + 2 * s.apart - 1) / (2 * s.apart),
                     NULL, merge_parts, &s);
    p->ghosts = s.count[0];
    tct_free(s.start);
    return TACIT_OK;
}

/* --- numbers -------------------------------------------------------------- */

typedef struct {
    const int64_t *id; /* of each entry */
    tct_parts *p;
} numbering;

/* Columns of a row often follow each other among the ghosts, too. */
static void number_entries(void *work, int64_t from, int64_t to)
{
    const numbering *n = work;
    const tct_ghosts all = {n->p->ghosts, n->p->ghost_id};
    for (int64_t e = from, at = 0; e < to; e++) {
        if (at >= all.count || all.id[at] != n->id[e])
            at = tct_ghost_place(&all, n->id[e]);
        n->p->ghost_col[e] = (int32_t)at++;
    }
}

tacit_status tct_number_ghosts(tct_team *team, int64_t entries,
                               const int64_t *id, int64_t *spare, tct_parts *p)
{
    TRY(TCT_ALLOC(entries, "ghost columns", &p->ghost_id));
    TRY(find_distinct(team, entries, id, spare, p));
    tct_team_stretches(team, entries, number_entries, &(numbering){id, p});
    return TACIT_OK;
}

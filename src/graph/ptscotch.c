/* SPDX-License-Identifier: BSD-3-Clause
 * graph/ptscotch.c - calls PT-Scotch, which uses MPI itself; no other file
 * does. */
#include "graph/ptscotch.h"
#include "comm/world/mpi.h"
#include <inttypes.h>
/* must precede ptscotch.h */
#include <scotch.h>

#include <ptscotch.h>

static const char *const what = "the graph for PT-Scotch";
static const double IMBALANCE = 0.03; /* as METIS's default */

/* The graph in PT-Scotch's integers. */
typedef struct {
    SCOTCH_Num nodes, edges;   /* of this rank */
    SCOTCH_Num *start, *next;  /* [nodes + 1], [edges] */
    SCOTCH_Num *weight, *part; /* [nodes] */
} lists;

static void free_lists(lists *l)
{
    TCT_FREE(l->start, l->next, l->weight, l->part);
}

static int64_t own_nodes(const tacit_world *w, const tct_distributed_graph *g)
{
    return g->starts[w->rank + 1] - g->starts[w->rank];
}

/* PT-Scotch counts all edges from both ends and sums all node weights; a node's
 * weight is one more than its edges. */
static tacit_status check(tacit_world *w, const tct_distributed_graph *g)
{
    const int64_t nodes = own_nodes(w, g);
    int64_t all = nodes + g->ptr[nodes];
    if (!tct_mpi_has(w))
        FAIL(TACIT_UNSUPPORTED,
             "partitioner 'ptscotch' needs ranks that MPI has started: use "
             "mpirun (one rank will do) or the partitioner 'metis'");
    TRY(tct_reduce_i64(w, TCT_SUM, 1, &all));
    if (all <= SCOTCH_NUMMAX) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "this PT-Scotch counts to %" PRId64 ", and here are %" PRId64
         " rows and entries: use the partitioner 'metis'",
         (int64_t)SCOTCH_NUMMAX, all);
}

static tacit_status allocate(lists *l)
{
    TRY(TCT_ALLOC(l->nodes + 1, what, &l->start));
    TRY(TCT_ALLOC(l->edges, what, &l->next));
    TRY(TCT_ALLOC(l->nodes, what, &l->weight));
    return TCT_ALLOC(l->nodes, "the parts", &l->part);
}

static void fill(const tct_distributed_graph *g, int64_t first, lists *l)
{
    for (SCOTCH_Num n = 0; n <= l->nodes; n++)
        l->start[n] = (SCOTCH_Num)g->ptr[n];
    for (SCOTCH_Num n = 0; n < l->nodes; n++) l->weight[n] = g->weight[n];
    for (SCOTCH_Num k = 0; k < l->edges; k++) {
        const int32_t j = g->next[k];
        l->next[k] =
            (SCOTCH_Num)(j < l->nodes ? first + j : g->ghost[j - l->nodes]);
    }
}

/* --- calls of PT-Scotch; nonzero: failed ---------------------------------- */

/* One thread and a fixed seed, so that the partition is deterministic. */
static int set_up(SCOTCH_Context *c, SCOTCH_Strat *s, int size, int parts)
{
    int bad = SCOTCH_contextOptionSetNum(c, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    bad |= SCOTCH_contextOptionSetNum(c, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1);
    bad |= SCOTCH_contextThreadSpawn(c, 1, NULL);
    SCOTCH_contextRandomReset(c);
    return bad | SCOTCH_stratDgraphMapBuild(s, SCOTCH_STRATDEFAULT, size, parts,
                                            IMBALANCE);
}

static int cut_within(SCOTCH_Context *c, SCOTCH_Strat *s, SCOTCH_Dgraph *g,
                      int parts, lists *l)
{
    SCOTCH_Dgraph bound;
    int bad =
        SCOTCH_dgraphBuild(g, 0, l->nodes, l->nodes, l->start, NULL, l->weight,
                           NULL, l->edges, l->edges, l->next, NULL, NULL);
    if (!bad) bad = SCOTCH_contextBindDgraph(c, g, &bound);
    if (bad) return bad;
    bad = SCOTCH_dgraphPart(&bound, parts, s, l->part);
    SCOTCH_dgraphExit(&bound);
    return bad;
}

static int cut_lists(const tacit_world *w, int parts, lists *l)
{
    SCOTCH_Context c;
    SCOTCH_Strat s;
    SCOTCH_Dgraph g;
    if (SCOTCH_contextInit(&c) != 0 || SCOTCH_stratInit(&s) != 0) return 1;
    int bad = SCOTCH_dgraphInit(&g, tct_mpi_of(w)->comm);
    if (!bad) bad = set_up(&c, &s, w->size, parts);
    if (!bad) bad = cut_within(&c, &s, &g, parts, l);
    SCOTCH_dgraphExit(&g);
    SCOTCH_stratExit(&s);
    SCOTCH_contextExit(&c);
    return bad;
}

/* --- the partition -------------------------------------------------------- */

static tacit_status cut(tacit_world *w, int parts, lists *l)
{
    const double before = tct_seconds();
    tacit_status status = TACIT_OK;
    if (cut_lists(w, parts, l) != 0)
        status = tacit_error_set(
            TACIT_COMM,
            "PT-Scotch could not cut the graph into %d parts (it "
            "has said more on standard error)",
            parts);
    TRY(tct_agree(w, status));
    if (w->rank == 0)
        tct_log(TCT_DETAIL, "ptscotch: %d parts, %.3g s", parts,
                tct_seconds() - before);
    return TACIT_OK;
}

tacit_status tct_ptscotch_cut(tacit_world *w, const tct_distributed_graph *g,
                              int parts, int64_t *part)
{
    TRY(check(w, g));
    const int64_t nodes = own_nodes(w, g);
    lists l = {.nodes = (SCOTCH_Num)nodes, .edges = (SCOTCH_Num)g->ptr[nodes]};
    tacit_status status = tct_agree(w, allocate(&l));
    if (status >= 0) {
        fill(g, g->starts[w->rank], &l);
        status = cut(w, parts, &l);
    }
    for (int64_t n = 0; status >= 0 && n < nodes; n++) part[n] = l.part[n];
    free_lists(&l);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/grid.c - the grid of processes: as requested, or the one with
 * the fewest predicted messages. */
#include "trisolve/grid/plan.h"

static tacit_status check(const int e[3], int size, int leaves,
                          tacit_trsv_scheme scheme)
{
    if (e[0] < 1 || e[1] < 1 || e[2] < 1)
        FAIL(TACIT_INVALID, "grid %dx%dx%d: expected three numbers from 1 on",
             e[0], e[1], e[2]);
    if ((int64_t)e[0] * e[1] > size || (int64_t)e[0] * e[1] * e[2] != size)
        FAIL(TACIT_INVALID,
             "grid %dx%dx%d is not of %d %s: its numbers must multiply to that",
             e[0], e[1], e[2], size, size == 1 ? "process" : "processes");
    if (e[2] & (e[2] - 1))
        FAIL(TACIT_INVALID,
             "grid %dx%dx%d: the third number, of grids that share the tree, "
             "must be a power of two",
             e[0], e[1], e[2]);
    if (scheme == TACIT_TRSV_2D && e[2] > 1)
        FAIL(TACIT_INVALID, "grid %dx%dx%d: scheme 2d is of one grid: %dx%dx1",
             e[0], e[1], e[2], e[0], size / e[0]);
    if (e[2] > leaves)
        FAIL(TACIT_INVALID,
             "grid %dx%dx%d: %d grids, and the factor's tree has %d %s: make "
             "the factor with %d, or take fewer grids",
             e[0], e[1], e[2], e[2], leaves, leaves == 1 ? "leaf" : "leaves",
             e[2]);
    return TACIT_OK;
}

static tct_grid grid_of(tacit_trsv_scheme scheme, const int e[3])
{
    return (tct_grid){.px = e[0],
                      .py = e[1],
                      .pz = e[2],
                      .flat = scheme == TACIT_TRSV_P2P,
                      .by_height = scheme == TACIT_TRSV_BASELINE3D};
}

/* Put the best grid of extent `pz` into `out` if it needs fewer messages than
 * `least`. */
static tacit_status try_grids(const tacit_factor_panels *P,
                              tacit_trsv_scheme scheme, tacit_trsv_map map,
                              const int asked[3], int size, int pz,
                              int64_t *least, tct_grid *out)
{
    tct_pattern S;
    const int each = size / pz;
    tacit_status status = tct_pattern_create(P, pz, &S);
    if (status >= 0 && map == TACIT_TRSV_SUBTREE)
        status = tct_pattern_map(&S, each);
    for (int px = 1; px <= each && status >= 0; px++) {
        const int e[3] = {px, each / px, pz};
        if (e[0] * e[1] != each || (asked[0] && asked[0] != e[0]) ||
            (asked[1] && asked[1] != e[1]))
            continue;
        const tct_grid g = grid_of(scheme, e);
        tct_message_count f;
        status = tct_predict_messages(&S, &g, NULL, &f);
        const int64_t messages_sent =
            f.messages_sent[0] + f.messages_sent[1] + f.messages_sent[2];
        if (status < 0 || (*least >= 0 && messages_sent >= *least)) continue;
        *least = messages_sent;
        *out = g;
    }
    tct_pattern_clear(&S);
    return status;
}

tacit_status tct_grid_for(const tacit_factor_panels *P,
                          tacit_trsv_scheme scheme, tacit_trsv_map map,
                          const int extent[3], int size, tct_grid *out)
{
    int64_t least = -1;
    if (extent[0] && extent[1] && extent[2]) {
        *out = grid_of(scheme, extent);
        return check(extent, size, P->leaves, scheme);
    }
    const int most = scheme == TACIT_TRSV_2D ? 1 : P->leaves;
    for (int pz = 1; pz <= most && pz <= size; pz *= 2)
        if (size % pz == 0 && (!extent[2] || extent[2] == pz))
            TRY(try_grids(P, scheme, map, extent, size, pz, &least, out));
    if (least < 0)
        FAIL(TACIT_INVALID,
             "no grid of %d processes is %dx%dx%d, 0 standing for any number, "
             "with at most %d grids",
             size, extent[0], extent[1], extent[2], most);
    return TACIT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/message_count.c - counts the messages of all ranks from their
 * groups. */
#include "trisolve/grid/plan.h"

enum { DOWN, BETWEEN, UP };

typedef struct {
    const tct_pattern *S;
    const tct_grid *g;
    tct_group group;
    bool *has; /* [2 leaves - 1] nodes of the columns of the sweep */
    int64_t (*sent)[TCT_TRSV_PHASES];
    tct_message_count *out;
} count;

/* Count the messages in the group of a column or row, of a panel `w` wide: in
 * one pass each member sends to those below, in the other all but the owner
 * send up. */
static void count_group(count *c, bool column, int z, int64_t w)
{
    const tct_group *t = &c->group;
    const int first_rank = z * c->g->px * c->g->py;
    for (int phase = DOWN; phase <= UP; phase += UP) {
        const bool sends_down = column == (phase == DOWN);
        c->out->messages_sent[phase] += t->count - 1;
        c->out->width[phase] += (t->count - 1) * w;
        for (int i = 0; i < t->count; i++) {
            int first, end;
            tct_group_below(t, i, &first, &end);
            c->sent[first_rank + t->member[i]][phase] +=
                sends_down ? end - first : i > 0;
        }
    }
}

static void count_sweep(count *c, int z, int low, int high)
{
    const tct_pattern *S = c->S;
    for (int n = 0; n < 2 * S->leaves - 1; n++) c->has[n] = false;
    for (int h = low; h <= high; h++) c->has[tct_node_at(S, z, h)] = true;
    for (int h = low; h < S->heights; h++) {
        const int32_t node = tct_node_at(S, z, h);
        for (int32_t m = S->member_start[node]; m < S->member_start[node + 1];
             m++) {
            const int32_t K = S->member[m];
            const int64_t w = tct_width(S, K);
            if (h <= high) {
                tct_group_of_column(S, c->g, K, &c->group);
                count_group(c, true, z, w);
            }
            if (tct_group_of_row(S, c->g, K, c->has, &c->group))
                count_group(c, false, z, w);
        }
    }
}

/* --- between grids -------------------------------------------------------- */

/* Panels above height `low` of grid `z` per owner, into shares [px py]: their
 * number and total width. */
static void share(const count *c, int z, int low, int64_t (*shares)[2])
{
    const tct_pattern *S = c->S;
    for (int k = 0; k < c->g->px * c->g->py; k++)
        shares[k][0] = shares[k][1] = 0;
    for (int h = low + 1; h < S->heights; h++) {
        const int32_t node = tct_node_at(S, z, h);
        for (int32_t m = S->member_start[node]; m < S->member_start[node + 1];
             m++) {
            const int32_t K = S->member[m];
            int64_t *s = shares[tct_panel_owner(S, c->g, K)];
            s[0]++;
            s[1] += tct_width(S, K);
        }
    }
}

/* Grid z + 2^low sends to grid z, and later receives from it. */
static void count_between(count *c, int z, int low, int64_t (*shares)[2])
{
    share(c, z, low, shares);
    const int each = c->g->px * c->g->py;
    for (int k = 0; k < each; k++) {
        const int64_t messages_sent =
            c->g->by_height ? shares[k][0] : shares[k][0] > 0;
        c->out->messages_sent[BETWEEN] += 2 * messages_sent;
        c->out->width[BETWEEN] += 2 * shares[k][1];
        c->sent[z * each + k][BETWEEN] += messages_sent;
        c->sent[(z + (1 << low)) * each + k][BETWEEN] += messages_sent;
    }
}

/* --- entries -------------------------------------------------------------- */

static double entries_of(const tct_pattern *S, int32_t node)
{
    double sum = 0.0;
    for (int32_t m = S->member_start[node]; m < S->member_start[node + 1];
         m++) {
        const int32_t K = S->member[m];
        const double w = (double)tct_width(S, K);
        const double h = (double)(S->P.row_start[K + 1] - S->P.row_start[K]);
        sum += w * h - w * (w - 1.0) / 2.0;
    }
    return sum;
}

static void count_entries(const tct_pattern *S, tct_message_count *out)
{
    for (int n = 0; n < 2 * S->leaves - 1; n++)
        out->entries += entries_of(S, n);
    for (int z = 0; z < S->leaves; z++) {
        double sum = 0.0;
        for (int h = 0; h < S->heights; h++)
            sum += entries_of(S, tct_node_at(S, z, h));
        if (sum > out->most_entries) out->most_entries = sum;
    }
}

/* --- all ------------------------------------------------------------------ */

static void count_all(count *c, int64_t (*shares)[2])
{
    const int top = c->S->heights - 1;
    for (int z = 0; z < c->g->pz; z++) {
        if (!c->g->by_height) count_sweep(c, z, 0, top);
        for (int h = 0; h <= top && z % (1 << h) == 0; h++) {
            if (c->g->by_height) count_sweep(c, z, h, h);
            if (h < top && z % (2 << h) == 0) count_between(c, z, h, shares);
        }
    }
    for (int r = 0; r < tct_grid_size(c->g); r++)
        for (int k = 0; k < TCT_TRSV_PHASES; k++)
            if (c->sent[r][k] > c->out->most[k])
                c->out->most[k] = c->sent[r][k];
    count_entries(c->S, c->out);
}

tacit_status tct_predict_messages(const tct_pattern *S, const tct_grid *grid,
                                  int64_t (*sent)[TCT_TRSV_PHASES],
                                  tct_message_count *out)
{
    static const char *const what = "a count of messages";
    const int size = tct_grid_size(grid);
    count c = {.S = S, .g = grid, .sent = sent, .out = out};
    int64_t(*shares)[2] = NULL, (*mine)[TCT_TRSV_PHASES] = NULL;
    *out = (tct_message_count){.entries = 0.0};
    tacit_status status = tct_group_open(grid, &c.group);
    if (status >= 0) status = TCT_ALLOC(2 * S->leaves, what, &c.has);
    if (status >= 0) status = TCT_ALLOC(grid->px * grid->py, what, &shares);
    if (status >= 0 && !sent) status = TCT_ALLOC(size, what, &mine);
    if (status >= 0) {
        if (!sent) c.sent = mine;
        memset(c.sent, 0, (size_t)size * sizeof *c.sent);
        count_all(&c, shares);
    }
    tct_group_close(&c.group);
    TCT_FREE(c.has, shares, mine);
    return status;
}

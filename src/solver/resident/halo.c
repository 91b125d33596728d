/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.c - lists of the values that blocks send and receive. */
#include "solver/resident/halo.h"
#include "comm/exchange/plan.h"
#include "comm/link/gpu/peer.h"
#include "operator/gpu/ghost.h"
#include <stdio.h>
#include <string.h>

bool tct_peer_halo_fits(const tct_run *R, const tct_resident_kernel *K,
                        char *reason, size_t size)
{
    if (R->q->ranks == 1) return true;
    const char *why = tct_peer_why_not(R->q);
    if (!why && K->sent == 0) why = "there is no such kernel for several GPUs";
    if (!why && R->n == 0) why = "not where a rank has no rows";
    if (!why && !R->system->exact->plan)
        why = "only for the messages of a matrix";
    if (!why) return true;
    snprintf(reason, size, "%s", why);
    return false;
}

enum { ENTRIES_MOST = 1024 /* per block, on the chip */ };

/* The lists in the making, from a matrix and a plan, on the host. */
typedef struct {
    const tct_run *R;
    const tct_plan *plan;
    const tct_gpu_ghost *B; /* NULL: no columns of other ranks */
    int blocks, sent;
    tct_resident_place_of_rows *sends, *edges; /* rows sent; rows with ghosts */
    int32_t *index, *row;    /* ... and their numbers                 */
    tct_resident_edge *edge; /* by block; block b begins              */
    int32_t *edge_of;        /* at edge_of[b], [blocks + 1]           */
} maker;

/* --- rows and blocks ------------------------------------------------------ */

static tacit_status download(const void *from, size_t bytes, void *out)
{
    char *copy = NULL;
    TRY(TCT_ALLOC(bytes, "a persistent kernel", &copy));
    memcpy(out, &copy, sizeof copy);
    if (bytes == 0) return TACIT_OK;
    return tct_gpu_status(gpu_memcpy(copy, from, bytes, GPU_TO_HOST),
                          "copying from the device");
}

/* Copy the places of the rows `row` [n], on the device, to the host. */
static tacit_status look_up(const tct_resident_place_of_rows *place, int64_t n,
                            const int32_t *row, gpu_stream stream,
                            tct_resident_place_of_rows **out)
{
    tct_resident_place_of_rows *there = NULL;
    TRY(tct_gpu_upload(NULL, (size_t)n * sizeof *there, &there));
    tct_resident_find(place, n, row, stream, there);
    tacit_status status =
        tct_gpu_status(gpu_stream_sync(stream), "placing rows");
    if (status >= 0) status = download(there, (size_t)n * sizeof *there, out);
    tct_gpu_release(there);
    return status;
}

static tacit_status find_places(maker *m, const tct_resident_job *J,
                                int threads)
{
    const gpu_stream stream = tct_gpu_of(m->R->q)->stream;
    const int64_t values = m->plan->base.values, rows = m->B ? m->B->d.rows : 0;
    tct_resident_place_of_rows *place = NULL;
    TRY(tct_gpu_upload(NULL, m->R->n * sizeof *place, &place));
    tct_resident_homes(J, m->blocks, threads, stream, place);
    tacit_status status =
        look_up(place, values, m->plan->base.index, stream, &m->sends);
    if (status >= 0 && m->B)
        status = look_up(place, rows, m->B->d.row, stream, &m->edges);
    if (status >= 0)
        status = download(m->plan->base.index,
                          (size_t)values * sizeof *m->index, &m->index);
    if (status >= 0 && m->B)
        status = download(m->B->d.row, (size_t)rows * sizeof *m->row, &m->row);
    tct_gpu_release(place);
    return status;
}

/* --- lists ---------------------------------------------------------------- */

/* Sort rows by block: of[b] is the first of block b, [blocks + 1]; at[i] is the
 * place of row i. */
static tacit_status sort(const tct_resident_place_of_rows *place, int64_t n,
                         int blocks, int32_t **of, int32_t **at)
{
    TRY(TCT_ALLOC(blocks + 2, "a persistent kernel", of));
    TRY(TCT_ALLOC(n, "a persistent kernel", at));
    int32_t *next = *of + 1; /* next free one of block b */
    memset(*of, 0, (size_t)(blocks + 2) * sizeof **of);
    for (int64_t i = 0; i < n; i++) next[place[i].block + 1]++;
    for (int b = 0; b < blocks; b++) next[b + 1] += next[b];
    for (int64_t i = 0; i < n; i++) (*at)[i] = next[place[i].block]++;
    return TACIT_OK;
}

/* Copy the first index of each block to the device. */
static tacit_status upload_offsets(const maker *m, const int32_t *of,
                                   const int32_t **out)
{
    return tct_gpu_upload(of, (size_t)(m->blocks + 1) * sizeof *of, out);
}

static tacit_status list_sends(const maker *m, tct_resident_halo *H)
{
    const tct_plan *plan = m->plan;
    const tct_peer_end *end = tct_peer_ends(plan);
    const int64_t n = plan->base.values;
    int32_t *of = NULL, *at = NULL;
    tct_resident_send *send = NULL;
    tacit_status status = sort(m->sends, n, m->blocks, &of, &at);
    if (status >= 0) status = TCT_ALLOC(n, "a persistent kernel", &send);
    for (int k = 0; status >= 0 && k < plan->sends; k++)
        for (int64_t i = 0; i < plan->send[k].count; i++) {
            const int64_t v = plan->send[k].first + i;
            send[at[v]] =
                (tct_resident_send){.row = m->index[v],
                                    .at = m->sends[v].at,
                                    .to = {end[k].box[0] + i * m->sent,
                                           end[k].box[1] + i * m->sent}};
        }
    if (status >= 0) status = upload_offsets(m, of, &H->send_of);
    if (status >= 0)
        status = tct_gpu_upload(send, (size_t)n * sizeof *send, &H->send);
    TCT_FREE(of, at, send);
    return status;
}

/* Choose which entries of each block stay on the chip; returns the most of a
 * block. If most would not fit, none stay. */
static int count_entries(const maker *m)
{
    int most = 0;
    for (int b = 0; b < m->blocks; b++) {
        int here = 0;
        for (int32_t i = m->edge_of[b]; i < m->edge_of[b + 1]; i++) {
            m->edge[i].near = here;
            here += m->edge[i].count;
        }
        if (here > most) most = here;
    }
    if (most > 2 * ENTRIES_MOST) return 0;
    return most < ENTRIES_MOST ? (most + 1) / 2 * 2 : ENTRIES_MOST;
}

static tacit_status list_edges(maker *m, tct_resident_halo *H)
{
    const int64_t n = m->B ? m->B->d.rows : 0;
    int32_t *at = NULL;
    int64_t *ptr = NULL;
    tacit_status status = sort(m->edges, n, m->blocks, &m->edge_of, &at);
    if (status >= 0) status = TCT_ALLOC(n, "a persistent kernel", &m->edge);
    if (status >= 0 && m->B)
        status = download(m->B->d.ptr, (size_t)(n + 1) * sizeof *ptr, &ptr);
    for (int64_t i = 0; status >= 0 && i < n; i++)
        m->edge[at[i]] =
            (tct_resident_edge){.row = m->row[i],
                                .at = m->edges[i].at,
                                .first = ptr[i],
                                .count = (int32_t)(ptr[i + 1] - ptr[i])};
    if (status >= 0) H->entries = count_entries(m);
    if (status >= 0) status = upload_offsets(m, m->edge_of, &H->edge_of);
    if (status >= 0)
        status = tct_gpu_upload(m->edge, (size_t)n * sizeof *m->edge, &H->edge);
    TCT_FREE(at, ptr);
    return status;
}

/* --- ghosts --------------------------------------------------------------- */

/* The place of each ghost in one half of the double buffer; the halves are
 * alike. */
static tacit_status place_ghosts(const maker *m, tct_resident_halo *H,
                                 int32_t **out)
{
    const tct_plan *plan = m->plan;
    const tct_peer_end *end = tct_peer_ends(plan) + plan->sends;
    TRY(TCT_ALLOC(plan->base.ghosts, "a persistent kernel", out));
    for (int half = 0; half < 2 && plan->recvs > 0; half++)
        H->come[half] = end->box[half];
    for (int k = 0; k < plan->recvs; k++)
        for (int64_t i = 0; i < end[k].count; i++)
            (*out)[end[k].first + i] =
                (int32_t)(end[k].box[0] - end->box[0] + i * m->sent);
    return TACIT_OK;
}

/* The ghosts of blocks, while they are assigned. */
typedef struct {
    int32_t *block;    /* of each ghost: last block that has it, from 1 */
    int32_t *number;   /* ... and its number in it                           */
    int32_t *of, *all; /* those of block b: all[of[b]] on                    */
} dealt;

static void deal(const maker *m, int32_t *col, dealt *D)
{
    int32_t n = 0;
    for (int b = 0; b < m->blocks; b++) {
        D->of[b] = n;
        for (int32_t i = m->edge_of[b]; i < m->edge_of[b + 1]; i++)
            for (int32_t k = 0; k < m->edge[i].count; k++) {
                int32_t *c = &col[m->edge[i].first + k];
                const int32_t g = *c;
                if (D->block[g] != b + 1) {
                    D->block[g] = b + 1;
                    D->number[g] = n - D->of[b];
                    D->all[n++] = g;
                }
                *c = D->number[g];
            }
    }
    D->of[m->blocks] = n;
}

static tacit_status upload_ghosts(const maker *m, const dealt *D,
                                  const int32_t *place, const int32_t *col,
                                  int64_t entries, tct_resident_halo *H)
{
    const size_t n = (size_t)D->of[m->blocks];
    for (size_t i = 0; i < n; i++) D->all[i] = place[D->all[i]];
    TRY(upload_offsets(m, D->of, &H->ghost_of));
    TRY(tct_gpu_upload(D->all, n * sizeof *D->all, &H->place));
    for (int k = 0; k < TCT_KEPT; k++)
        TRY(tct_gpu_upload(NULL, n * sizeof(double), &H->kept[k]));
    return tct_gpu_upload(col, (size_t)entries * sizeof *col, &H->col);
}

/* Each block lists the ghosts of its rows; columns become their numbers. */
static tacit_status list_ghosts(const maker *m, const int32_t *place,
                                tct_resident_halo *H)
{
    const int64_t n = m->B ? m->B->base.base.nonzeros : 0;
    const int64_t ghosts = m->plan->base.ghosts;
    int32_t *col = NULL;
    dealt D = {.block = NULL};
    tacit_status status = TCT_ALLOC(ghosts, "a persistent kernel", &D.block);
    if (status >= 0)
        status = TCT_ALLOC(ghosts, "a persistent kernel", &D.number);
    if (status >= 0)
        status = TCT_ALLOC(m->blocks + 1, "a persistent kernel", &D.of);
    if (status >= 0) status = TCT_ALLOC(n, "a persistent kernel", &D.all);
    if (status >= 0 && m->B)
        status = download(m->B->d.col, (size_t)n * sizeof *col, &col);
    if (status >= 0) {
        memset(D.block, 0, (size_t)ghosts * sizeof *D.block);
        deal(m, col, &D);
        status = upload_ghosts(m, &D, place, col, n, H);
    }
    TCT_FREE(D.block, D.number, D.of, D.all, col);
    H->val = m->B ? m->B->d.val : NULL;
    return status;
}

/* --- all ------------------------------------------------------------------ */

void tct_peer_halo_clear(tct_peer_halo *H)
{
    tct_resident_halo *h = &H->here;
    const void *const owned[] = {h->send_of, h->edge_of, h->ghost_of, h->send,
                                 h->edge,    h->col,     h->place,    H->there};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        tct_gpu_release((void *)(uintptr_t)owned[i]);
    for (int k = 0; k < TCT_KEPT; k++) tct_gpu_release(h->kept[k]);
    *H = (tct_peer_halo){.there = NULL};
}

static tacit_status make(maker *m, const tct_resident_job *J, int threads,
                         tct_resident_halo *H)
{
    int32_t *place = NULL;
    TRY(find_places(m, J, threads));
    TRY(list_sends(m, H));
    TRY(list_edges(m, H));
    tacit_status status = place_ghosts(m, H, &place);
    if (status >= 0) status = list_ghosts(m, place, H);
    tct_free(place);
    return status;
}

tacit_status tct_peer_halo_make(tct_peer_halo *H, const tct_run *R,
                                const tct_resident_kernel *K,
                                const tct_resident_job *J, int blocks,
                                int threads)
{
    if (H->there && H->local == R->A->local &&
        H->plan == R->system->exact->plan &&
        H->version == R->system->exact->version && H->kernel == K)
        return TACIT_OK;
    maker m = {.R = R,
               .plan = R->system->exact->plan,
               .B =
                   (const tct_gpu_ghost *)(const void *)R->system->exact->ghost,
               .blocks = blocks,
               .sent = K->sent};
    tct_peer_halo_clear(H);
    H->local = R->A->local;
    H->plan = R->system->exact->plan;
    H->version = R->system->exact->version;
    H->kernel = K;
    tacit_status status = make(&m, J, threads, &H->here);
    TCT_FREE(m.sends, m.edges, m.index, m.row, m.edge, m.edge_of);
    if (status >= 0)
        status = tct_gpu_upload(&H->here, sizeof H->here, &H->there);
    return status;
}

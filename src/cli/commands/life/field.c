/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/field.c - blocks of a torus, their memory, and messages to
 * the eight neighbours. */
#include "cli/commands/life/life.h"
#include "cli/gpu/gpu.h"
#include <inttypes.h>
#include <unistd.h>

/* --- blocks --------------------------------------------------------------- */

tacit_status life_cut(int64_t n, int ranks, int blocks[2])
{
    if (n < LIFE_TILE || n % LIFE_TILE != 0)
        FAIL(TACIT_INVALID,
             "life %" PRId64 ": gliders take 8 x 8 cells each: give a "
             "multiple of 8",
             n);
    int high = (int)sqrt((double)ranks);
    while (ranks % high != 0) high--;
    blocks[0] = high;
    blocks[1] = ranks / high;
    if (blocks[1] > n)
        FAIL(TACIT_INVALID,
             "life %" PRId64 ": %d x %d blocks of at least a cell do not fit: "
             "start fewer than %d ranks",
             n, blocks[0], blocks[1], ranks);
    return TACIT_OK;
}

/* Where part k begins: as the library cuts grids. */
static int64_t cut_at(int64_t n, int parts, int k)
{
    return n / parts * k + n % parts * k / parts;
}

life_block life_block_of(int64_t n, const int blocks[2], int rank)
{
    const int px = rank % blocks[0], py = rank / blocks[0];
    life_block b = {
        .n = n, .x0 = cut_at(n, blocks[0], px), .y0 = cut_at(n, blocks[1], py)};
    b.nx = cut_at(n, blocks[0], px + 1) - b.x0;
    b.ny = cut_at(n, blocks[1], py + 1) - b.y0;
    b.pitch = (b.nx + 1 + 2 * LIFE_PAD - 1) / LIFE_PAD * LIFE_PAD;
    return b;
}

static int neighbour(const life_field *f, int d)
{
    const int px = f->c->rank % f->blocks[0], py = f->c->rank / f->blocks[0];
    const int x = (px + d % 3 - 1 + f->blocks[0]) % f->blocks[0];
    const int y = (py + d / 3 - 1 + f->blocks[1]) % f->blocks[1];
    return y * f->blocks[0] + x;
}

/* --- memory --------------------------------------------------------------- */

static size_t field_bytes(const life_block *b)
{
    return (size_t)(b->pitch * (b->ny + 2)) * sizeof(double);
}

/* Bytes of the machine, or of this rank's GPU. */
static tacit_status room_of(const cli *c, double *out)
{
    if (cli_on_gpu(c)) return cli_gpu_room(out);
    *out = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return TACIT_OK;
}

tacit_status life_check_room(const cli *c, int64_t n)
{
    const double ranks = cli_on_gpu(c) ? c->ranks : 1.0;
    const double need = 16.0 * (double)n * (double)n / ranks;
    double room = 0.0;
    TRY(room_of(c, &room));
    if (need <= room) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY,
         "life %" PRId64 ": two fields take %.4g GiB%s, and there are %.4g: "
         "take a smaller field%s",
         n, need / 0x1p30, cli_on_gpu(c) ? " a GPU" : "", room / 0x1p30,
         cli_on_gpu(c) ? ", or more GPUs" : "");
}

static tacit_status take(const life_field *f, size_t bytes, double **out)
{
    void *p = NULL;
    if (!f->stream) return ALLOC(bytes / sizeof **out, "a field", out);
    TRY(cli_gpu_alloc(bytes, &p));
    *out = p;
    return TACIT_OK;
}

static void give(const life_field *f, double *p)
{
    if (f->stream) cli_gpu_free(p);
    else free(p);
}

static tacit_status take_all(life_field *f)
{
    const size_t messages =
        (size_t)life_first(&f->block, LIFE_DIRECTIONS) * sizeof(double);
    for (int k = 0; k < 2; k++) {
        f->turn[k] = (life_turn){f, k};
        TRY(take(f, field_bytes(&f->block), &f->u[k]));
        TRY(take(f, messages, &f->out[k]));
        TRY(take(f, messages, &f->in[k]));
    }
    return TACIT_OK;
}

static tacit_status open_stream(life_field *f)
{
    char spec[CLI_SPEC];
    TRY(tacit_queue_create(f->c->world, cli_queue_spec(f->c, "", spec), 1,
                           &f->queue));
    return cli_on_gpu(f->c) ? cli_gpu_stream(f->queue, &f->stream) : TACIT_OK;
}

tacit_status life_open(const cli *c, int64_t n, life_field *out)
{
    *out = (life_field){.c = c};
    TRY(life_cut(n, c->ranks, out->blocks));
    out->block = life_block_of(n, out->blocks, c->rank);
    TRY(tacit_world_agree(c->world, open_stream(out)));
    TRY(tacit_world_agree(c->world, life_check_room(c, n)));
    return tacit_world_agree(c->world, take_all(out));
}

void life_close(life_field *f)
{
    cli_gpu_free_recording(f->recording);
    cli_line_close(&f->line);
    tacit_halo_arrays_destroy(&f->halo);
    for (int k = 0; k < 2; k++) {
        give(f, f->u[k]);
        give(f, f->out[k]);
        give(f, f->in[k]);
    }
    tacit_queue_destroy(&f->queue);
    *f = (life_field){0};
}

/* --- messages ------------------------------------------------------------- */

/* Of both parities: receives, then sends, each in the order of directions. */
static void list_messages(const life_field *f, base_message *all)
{
    for (int parity = 0; parity < 2; parity++)
        for (int sends = 0; sends < 2; sends++)
            for (int d = 0; d < LIFE_DIRECTIONS; d++) {
                if (d == LIFE_SELF) continue;
                double *const *const data = sends ? f->out : f->in;
                *all++ = (base_message){
                    .sends = sends,
                    .peer = neighbour(f, d),
                    .tag = parity * LIFE_DIRECTIONS +
                           (sends ? d : LIFE_DIRECTIONS - 1 - d),
                    .data = data[parity] + life_first(&f->block, d),
                    .bytes = life_cells(&f->block, d) * 8};
            }
}

/* The halo reads and writes the fields themselves. */
static tacit_status open_halo(life_field *f, const char *mode)
{
    const life_block *b = &f->block;
    const tacit_halo_block about = {.size = sizeof about,
                                    .dimensions = 2,
                                    .n = {b->nx, b->ny},
                                    .blocks = {f->blocks[0], f->blocks[1]},
                                    .periodic = TACIT_HALO_X + TACIT_HALO_Y};
    const tacit_halo_array array = {.size = sizeof array,
                                    .type = TACIT_HALO_F64,
                                    .components = 1,
                                    .ghost = {1, 1},
                                    .pitch = b->pitch * 8};
    return tacit_halo_arrays_create(f->queue, &about, 1, &array, mode,
                                    &f->halo);
}

tacit_status life_connect(life_field *f, const char *mode)
{
    base_message all[2 * LIFE_MESSAGES];
    cli_gpu_free_recording(f->recording);
    f->recording = NULL;
    f->exchanges = 0;
    cli_line_close(&f->line);
    tacit_halo_arrays_destroy(&f->halo);
    if (cli_mode_is_halo(mode)) return open_halo(f, mode);
    list_messages(f, all);
    TRY(cli_line_open(f->c, mode, f->stream, &f->line));
    return cli_line_connect(&f->line, 2 * LIFE_MESSAGES, all);
}

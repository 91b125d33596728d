/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/check.c - patterns with a known future, and what became of
 * them: gliders everywhere, and random fields beside a serial run. */
#include "cli/commands/life/life.h"
#include "cli/gpu/gpu.h"

/* --- gliders -------------------------------------------------------------- */

static uint64_t bit(int64_t x, int64_t y)
{
    return UINT64_C(1) << ((y & 7) * 8 + (x & 7));
}

/* A glider, after `moves` times four steps: each moves it a row up and a column
 * to the right. */
static uint64_t glider(int64_t moves)
{
    static const int cells[5][2] = {{3, 3}, {4, 3}, {4, 4}, {5, 4}, {3, 5}};
    uint64_t tile = 0;
    for (int k = 0; k < 5; k++)
        tile |= bit(cells[k][0] + moves, cells[k][1] - moves);
    return tile;
}

static int neighbours_of(uint64_t tile, int x, int y)
{
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            n += (dx != 0 || dy != 0) && (tile & bit(x + dx, y + dy));
    return n;
}

uint64_t life_tile_step(uint64_t tile)
{
    uint64_t next = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            const int n = neighbours_of(tile, x, y);
            if (n == 3 || (n == 2 && (tile & bit(x, y)))) next |= bit(x, y);
        }
    return next;
}

uint64_t life_gliders(int64_t steps)
{
    uint64_t tile = glider(steps / 4 % 8);
    for (int64_t k = 0; k < steps % 4; k++) tile = life_tile_step(tile);
    return tile;
}

tacit_status life_fill(life_field *f, uint64_t tile)
{
    const life_block *b = &f->block;
    f->made = 0;
    if (f->stream) {
        cli_gpu_life_fill(f->stream, b, tile, f->u[0]);
        return cli_gpu_wait(f->stream);
    }
    for (int64_t y = 0; y < b->ny; y++)
        for (int64_t x = 0; x < b->nx; x++)
            f->u[0][life_at(b, x, y)] =
                life_tile_cell(tile, b->x0 + x, b->y0 + y);
    return TACIT_OK;
}

static tacit_status count_on_gpu(life_field *f, uint64_t tile, double *wrong)
{
    void *counter = NULL;
    unsigned long long count = 0;
    TRY(cli_gpu_alloc(sizeof count, &counter));
    cli_gpu_life_count(f->stream, &f->block, tile, f->u[f->made % 2], counter);
    cli_gpu_copy(f->stream, &count, counter, sizeof count);
    const tacit_status status = cli_gpu_wait(f->stream);
    cli_gpu_free(counter);
    *wrong = (double)count;
    return status;
}

static double count_on_host(const life_field *f, uint64_t tile)
{
    const life_block *b = &f->block;
    const double *u = f->u[f->made % 2];
    double wrong = 0.0;
    for (int64_t y = 0; y < b->ny; y++)
        for (int64_t x = 0; x < b->nx; x++)
            wrong += u[life_at(b, x, y)] !=
                     life_tile_cell(tile, b->x0 + x, b->y0 + y);
    return wrong;
}

tacit_status life_check(life_field *f, double *wrong)
{
    const uint64_t tile = life_gliders(f->made);
    tacit_status status = TACIT_OK;
    double own = 0.0;
    if (f->stream) status = count_on_gpu(f, tile, &own);
    else own = count_on_host(f, tile);
    TRY(tacit_world_agree(f->c->world, status));
    *wrong = cli_sum(f->c, own);
    return TACIT_OK;
}

/* --- a serial run --------------------------------------------------------- */

/* A cell of the random field. */
static unsigned char random_cell(int64_t n, int64_t x, int64_t y)
{
    uint64_t h = (uint64_t)(y * n + x) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (h >> 40) % 3 == 0;
}

tacit_status life_fill_random(life_field *f)
{
    const life_block *b = &f->block;
    double *row = NULL;
    f->made = 0;
    TRY(ALLOC(b->nx, "a row", &row));
    for (int64_t y = 0; y < b->ny; y++) {
        double *to = f->u[0] + life_at(b, 0, y);
        const size_t bytes = (size_t)b->nx * sizeof *row;
        for (int64_t x = 0; x < b->nx; x++)
            row[x] = random_cell(b->n, b->x0 + x, b->y0 + y);
        if (!f->stream) memcpy(to, row, bytes);
        else cli_gpu_copy(f->stream, to, row, bytes);
        if (f->stream) TRY(cli_gpu_wait(f->stream));
    }
    free(row);
    return TACIT_OK;
}

static void step_serial(int64_t n, const unsigned char *u, unsigned char *next)
{
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            int all = 0;
            for (int64_t k = 0; k < 9; k++)
                all += u[(y + k / 3 - 1 + n) % n * n + (x + k % 3 - 1 + n) % n];
            const int cell = u[y * n + x];
            next[y * n + x] = all - cell == 3 || (cell && all - cell == 2);
        }
}

/* The whole field after the steps that were made, in `u` [n n]. */
static void run_serial(const life_field *f, unsigned char *u,
                       unsigned char *next)
{
    const int64_t n = f->block.n;
    for (int64_t i = 0; i < n * n; i++) u[i] = random_cell(n, i % n, i / n);
    for (int64_t k = 0; k < f->made; k++) {
        step_serial(n, u, next);
        memcpy(u, next, (size_t)(n * n));
    }
}

static double differing(const life_block *b, const double *cells,
                        const unsigned char *all)
{
    double wrong = 0.0;
    for (int64_t i = 0; i < b->nx * b->ny; i++)
        wrong +=
            cells[i] != all[(b->y0 + i / b->nx) * b->n + b->x0 + i % b->nx];
    return wrong;
}

static tacit_status compare_serial(life_field *f, double *own)
{
    const life_block *b = &f->block;
    unsigned char *u = NULL, *next = NULL;
    double *cells = NULL;
    tacit_status status = ALLOC(b->n * b->n, "a serial run", &u);
    if (status >= 0) status = ALLOC(b->n * b->n, "a serial run", &next);
    if (status >= 0) status = ALLOC(b->nx * b->ny, "cells", &cells);
    if (status >= 0) status = life_get(f, cells);
    if (status >= 0) run_serial(f, u, next);
    if (status >= 0) *own = differing(b, cells, u);
    free(u);
    free(next);
    free(cells);
    return status;
}

tacit_status life_check_serial(life_field *f, double *wrong)
{
    double own = 0.0;
    TRY(tacit_world_agree(f->c->world, compare_serial(f, &own)));
    *wrong = cli_sum(f->c, own);
    return TACIT_OK;
}

/* --- the field, read ------------------------------------------------------ */

tacit_status life_get(life_field *f, double *cells)
{
    const life_block *b = &f->block;
    for (int64_t y = 0; y < b->ny; y++) {
        const double *from = f->u[f->made % 2] + life_at(b, 0, y);
        const size_t bytes = (size_t)b->nx * sizeof *cells;
        if (f->stream) cli_gpu_copy(f->stream, cells + y * b->nx, from, bytes);
        else memcpy(cells + y * b->nx, from, bytes);
    }
    return f->stream ? cli_gpu_wait(f->stream) : TACIT_OK;
}

/* The library's field of a grid, cut alike, draws pictures: it gets the
 * cells. */
static tacit_status put_cells(life_field *f, tacit_field *grid)
{
    const life_block *b = &f->block;
    double *cells = NULL;
    tacit_status status = ALLOC(b->nx * b->ny, "a picture", &cells);
    if (status >= 0) status = life_get(f, cells);
    for (int64_t y = 0; y < b->ny && status >= 0; y++)
        status = tacit_field_put(grid, (b->y0 + y) * b->n + b->x0, b->nx,
                                 cells + y * b->nx);
    free(cells);
    return status;
}

static tacit_status draw(life_field *f, tacit_queue *queue, tacit_field **grid,
                         const char *path)
{
    const tacit_stencil s = {.size = sizeof s,
                             .shape = "box2d1r",
                             .n = {f->block.n, f->block.n, 1},
                             .periodic = 3,
                             .blocks = {f->blocks[0], f->blocks[1], 1}};
    TRY(tacit_field_create(queue, &s, grid));
    TRY(tacit_world_agree(f->c->world, put_cells(f, *grid)));
    return tacit_field_write_png(*grid, path);
}

tacit_status life_write_png(life_field *f, const char *path)
{
    tacit_queue *queue = NULL;
    tacit_field *grid = NULL;
    tacit_status status = tacit_queue_create(f->c->world, "host", 0, &queue);
    if (status >= 0) status = draw(f, queue, &grid, path);
    tacit_field_destroy(&grid);
    tacit_queue_destroy(&queue);
    return status;
}

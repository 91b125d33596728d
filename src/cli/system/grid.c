/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/grid.c - the grid of processes that solve with a factor: said
 * before there is one what is wrong whatever it is. */
#include "cli/system/problem.h"
#include <stdlib.h>
#include <string.h>

/* Leaves of the tree that were asked for; 0: any number. */
static int leaves_of(const cli *c, cli_grid_use use)
{
    const char *text = cli_named(&c->set, "leaves");
    if (use == CLI_GRID) return (int)c->set.leaves;
    return text ? atoi(text) : 0;
}

tacit_status cli_check_grid(const cli *c, cli_grid_use use, const int grid[3])
{
    if (use == CLI_GRID_PARTS && grid[0] * grid[1] > 1)
        FAIL(TACIT_UNSUPPORTED,
             "grid %dx%dx%d: here grids are 1x1xPz: take auto; tacit trsv "
             "solves on others",
             grid[0], grid[1], grid[2]);
    if ((int64_t)grid[0] * grid[1] * grid[2] != c->ranks)
        FAIL(TACIT_INVALID,
             "grid %dx%dx%d is not of %d %s: its numbers must multiply to that",
             grid[0], grid[1], grid[2], c->ranks,
             c->ranks == 1 ? "process" : "processes");
    if (grid[2] & (grid[2] - 1))
        FAIL(TACIT_INVALID,
             "grid %dx%dx%d: the third number, of grids that share the tree, "
             "must be a power of two",
             grid[0], grid[1], grid[2]);
    const int leaves = leaves_of(c, use);
    if (leaves > 0 && grid[2] > leaves)
        FAIL(TACIT_INVALID,
             "grid %dx%dx%d: %d grids, and leaves=%d makes a tree that has "
             "%d %s: ask for %d, or take fewer grids",
             grid[0], grid[1], grid[2], grid[2], leaves, leaves,
             leaves == 1 ? "leaf" : "leaves", grid[2]);
    return TACIT_OK;
}

tacit_status cli_read_grid(const cli *c, cli_grid_use use, int grid[3])
{
    const char *given =
        use == CLI_GRID ? c->set.grid : cli_named(&c->set, "grid");
    const char *text = given ? given : "auto";
    grid[0] = grid[1] = grid[2] = 0;
    if (strcmp(text, "auto") == 0) return TACIT_OK;
    if (cli_parse_shape(text, grid)) return cli_check_grid(c, use, grid);
    FAIL(TACIT_INVALID,
         "grid '%s': expected three numbers, such as 2x1x4, or auto", text);
}

bool cli_is_grid(const char *name)
{
    const tacit_stencil_shape *s;
    const size_t length = strcspn(name, ":");
    for (int i = 0; (s = tacit_stencil_shape_at(i)) != NULL; i++)
        if (strncmp(s->name, name, length) == 0 && s->name[length] == '\0')
            return true;
    return false;
}

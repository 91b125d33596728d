/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/stencil.c - shapes of stencils by their names, and the check
 * of a description. */
#include "operator/stencil/stencil.h"
#include <math.h>
#include <stdio.h>

static const tacit_stencil_shape shapes[TCT_SHAPE_COUNT] = {
    [TCT_STAR2] = {"star2d1r", "left, right, before and after", 2, 5},
    [TCT_BOX2] = {"box2d1r", "all eight cells around", 2, 9},
    [TCT_STAR3] = {"star3d1r", "left, right, before, after, below and above", 3,
                   7},
    [TCT_BOX3] = {"box3d1r", "all 26 cells around", 3, 27},
};

static const tct_point star2[] = {{1, 0}, {0, 0}, {1, -1}, {1, 1}, {2, 0}};
static const tct_point star3[] = {{4, 0}, {1, 0}, {3, 0}, {4, -1},
                                  {4, 1}, {5, 0}, {7, 0}};
static const tct_point box2[] = {{1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, -1},
                                 {1, 1}, {2, -1}, {2, 0}, {2, 1}};
static const tct_point box3[] = {
    {4, 0},  {0, -1}, {0, 0}, {0, 1},  {1, -1}, {1, 0}, {1, 1},
    {2, -1}, {2, 0},  {2, 1}, {3, -1}, {3, 0},  {3, 1}, {4, -1},
    {4, 1},  {5, -1}, {5, 0}, {5, 1},  {6, -1}, {6, 0}, {6, 1},
    {7, -1}, {7, 0},  {7, 1}, {8, -1}, {8, 0},  {8, 1}};

const tct_point *tct_stencil_points(tct_shape shape)
{
    static const tct_point *const all[TCT_SHAPE_COUNT] = {star2, box2, star3,
                                                          box3};
    return all[shape];
}

const tacit_stencil_shape *tacit_stencil_shape_at(int i)
{
    return i >= 0 && i < TCT_SHAPE_COUNT ? &shapes[i] : NULL;
}

static tacit_status find_shape(const char *name, tct_shape *out)
{
    const char *names[TCT_SHAPE_COUNT];
    for (int i = 0; i < TCT_SHAPE_COUNT; i++) {
        names[i] = shapes[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = (tct_shape)i;
        return TACIT_OK;
    }
    return tct_unknown("stencil", name, names, TCT_SHAPE_COUNT);
}

/* --- names ---------------------------------------------------------------- */

static tacit_status bad_size(const char *name, const tacit_stencil_shape *s)
{
    FAIL(TACIT_INVALID,
         "grid '%s': expected %s:%s, with %d whole numbers from 1 to "
         "2147483647",
         name, s->name, s->dimensions == 2 ? "NXxNY" : "NXxNYxNZ",
         s->dimensions);
}

/* "4096x4096", whole numbers with 'x' between them. */
static bool parse_size(const char *text, int dimensions, int64_t n[3])
{
    char number[16];
    for (int d = 0; d < dimensions; d++) {
        const size_t length = strspn(text, "0123456789");
        if (length == 0 || length >= sizeof number) return false;
        memcpy(number, text, length);
        number[length] = '\0';
        if (!tct_parse_int64(number, &n[d]) || n[d] < 1 || n[d] > INT32_MAX)
            return false;
        text += length;
        if (d + 1 < dimensions && *text++ != 'x') return false;
    }
    return *text == '\0';
}

tacit_status tacit_stencil_parse(const char *name, tacit_stencil *out)
{
    REQUIRE(name != NULL, out != NULL);
    tacit_stencil s;
    TRY(tct_read_sized("tacit_stencil", out, &s, sizeof s));
    char word[32];
    tct_shape shape = TCT_STAR2;
    const size_t length = strcspn(name, ":");
    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), name);
    TRY(find_shape(word, &shape));
    int64_t n[3] = {1, 1, 1};
    if (name[length] != ':' ||
        !parse_size(name + length + 1, shapes[shape].dimensions, n))
        return bad_size(name, &shapes[shape]);
    s.shape = shapes[shape].name;
    memcpy(s.n, n, sizeof n);
    tct_write_sized(&s, sizeof s, out);
    return TACIT_OK;
}

/* --- the check of a description ------------------------------------------- */

static tacit_status read_type(const char *type, tct_grid_stencil *out)
{
    static const char *const names[] = {"double", "float"};
    out->single = type && strcmp(type, "float") == 0;
    out->bytes = out->single ? sizeof(float) : sizeof(double);
    if (!type || out->single || strcmp(type, "double") == 0) return TACIT_OK;
    return tct_unknown("type", type, names, 2);
}

/* Of two dimensions y is the direction from plane to plane. */
static tacit_status read_size(const tacit_stencil *s, tct_grid_stencil *out)
{
    const bool flat = out->about->dimensions == 2;
    const int64_t y = s->n[1], z = flat && s->n[2] == 0 ? 1 : s->n[2];
    const int64_t n[3] = {s->n[0], flat ? z : y, flat ? y : z};
    out->cells = 1;
    for (int d = 0; d < 3; d++) {
        if (n[d] < 1 || n[d] > INT32_MAX || (flat && d == 1 && n[d] != 1))
            FAIL(TACIT_INVALID,
                 "grid of %s: %lld x %lld x %lld cells: expected %d numbers "
                 "from 1 to 2147483647",
                 out->about->name, (long long)s->n[0], (long long)s->n[1],
                 (long long)s->n[2], out->about->dimensions);
        if (__builtin_mul_overflow(out->cells, n[d], &out->cells))
            FAIL(TACIT_INPUT,
                 "grid of %s: its cells exceed 64 bits: make it smaller",
                 out->about->name);
        out->n[d] = n[d];
    }
    return TACIT_OK;
}

static tacit_status read_sides(const tacit_stencil *s, tct_grid_stencil *out)
{
    const bool flat = out->about->dimensions == 2;
    const unsigned all =
        flat ? TACIT_PERIODIC_X | TACIT_PERIODIC_Y
             : TACIT_PERIODIC_X | TACIT_PERIODIC_Y | TACIT_PERIODIC_Z;
    if (s->periodic & ~all)
        FAIL(TACIT_INVALID,
             "periodic: %s has the directions %s: leave the others out",
             out->about->name, flat ? "x and y" : "x, y and z");
    const bool y = s->periodic & TACIT_PERIODIC_Y;
    out->periodic[0] = s->periodic & TACIT_PERIODIC_X;
    out->periodic[1] = !flat && y;
    out->periodic[2] = flat ? y : (s->periodic & TACIT_PERIODIC_Z) != 0;
    return TACIT_OK;
}

/* All or none are given. */
static tacit_status read_blocks(const tacit_stencil *s, tct_grid_stencil *out)
{
    const int dimensions = out->about->dimensions;
    const bool given = s->blocks[0] || s->blocks[1] || s->blocks[2];
    for (int d = 0; d < 3 && given; d++) {
        const int blocks =
            d == dimensions && s->blocks[d] == 0 ? 1 : s->blocks[d];
        if (blocks < 1 || (d == dimensions && blocks > 1))
            FAIL(TACIT_INVALID,
                 "blocks %d x %d x %d of %s: expected %d numbers from 1, or "
                 "all 0",
                 s->blocks[0], s->blocks[1], s->blocks[2], out->about->name,
                 dimensions);
        out->blocks[tct_stencil_direction(out, d)] = blocks;
    }
    return TACIT_OK;
}

/* A number as a value of the type, which is as wide as a double. */
static double rounded(const tct_grid_stencil *s, double value)
{
    return s->single ? (double)(float)value : value;
}

/* The value is finite, also in the type of the field. */
static tacit_status read_value(const tct_grid_stencil *s, const char *what,
                               double value, double *out)
{
    *out = rounded(s, value);
    if (isfinite(*out)) return TACIT_OK;
    FAIL(TACIT_INVALID, "%s %g: expected a finite number of type %s", what,
         value, s->single ? "float" : "double");
}

static tacit_status read_weights(const tacit_stencil *s, tct_grid_stencil *out)
{
    const int neighbours = out->about->points - 1;
    out->weights = s->weights;
    switch (s->weights) {
    case TACIT_WEIGHTS_MEAN:
        out->neighbours = rounded(out, 1.0 / neighbours);
        return TACIT_OK;
    case TACIT_WEIGHTS_CONSTANT:
        TRY(read_value(out, "coefficient of the cell", s->centre,
                       &out->centre));
        return read_value(out, "coefficient of the neighbours", s->neighbours,
                          &out->neighbours);
    case TACIT_WEIGHTS_CELLS: return TACIT_OK;
    }
    FAIL(TACIT_INVALID, "weights %d: expected MEAN, CONSTANT or CELLS",
         (int)s->weights);
}

tacit_status tct_stencil_read(const tacit_stencil *given, tct_grid_stencil *out)
{
    tacit_stencil s;
    TRY(tct_read_sized("tacit_stencil", given, &s, sizeof s));
    if (!s.shape)
        FAIL(TACIT_INVALID, "a stencil without a shape: call "
                            "tacit_stencil_parse, or set one");
    *out = (tct_grid_stencil){.cells = 0};
    TRY(find_shape(s.shape, &out->shape));
    out->about = &shapes[out->shape];
    TRY(read_type(s.type, out));
    TRY(read_size(&s, out));
    TRY(read_sides(&s, out));
    TRY(read_blocks(&s, out));
    TRY(read_value(out, "boundary", s.boundary, &out->boundary));
    return read_weights(&s, out);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_mesh.c - finite elements on meshes from files: cubes with known
 * integrals, and the real meshes of TACIT_MATRICES. */
#include "gallery/mesh.h"
#include "gallery_check.h"
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/tacit-mesh-XXXXXX";
static char path_buffer[8][512];

/* A file in the test's folder; the next eight calls leave it alone. */
static const char *in_folder(const char *name)
{
    static int next;
    char *path = path_buffer[next++ % 8];
    snprintf(path, sizeof path_buffer[0], "%s/%s", folder, name);
    return path;
}

/* --- writing meshes ------------------------------------------------------- */

typedef struct {
    char *text;
    size_t length;
} paper;

static FILE *paper_open(paper *p)
{
    FILE *f = open_memstream(&p->text, &p->length);
    assert_non_null(f);
    return f;
}

/* Write the paper to `path` as its ending says, and forget it. */
static void paper_save(paper *p, FILE *f, const char *path)
{
    fclose(f);
    const char *end = strrchr(path, '.');
    if (strcmp(end, ".gz") == 0) {
        gzFile z = gzopen(path, "wb");
        assert_int_equal(gzwrite(z, p->text, (unsigned)p->length), p->length);
        gzclose(z);
    } else {
        size_t size = 0;
        const size_t room = p->length + 4096;
        uint8_t *out = malloc(room);
        if (strcmp(end, ".xz") == 0)
            assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL,
                                                     (const uint8_t *)p->text,
                                                     p->length, out, &size,
                                                     room),
                             LZMA_OK);
        else memcpy(out, p->text, size = p->length);
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(out, 1, size, file), size);
        fclose(file);
        free(out);
    }
    free(p->text);
}

static void save_text(const char *name, const char *text)
{
    paper p;
    FILE *f = paper_open(&p);
    fputs(text, f);
    paper_save(&p, f, in_folder(name));
}

/* The unit cube of n^3 small ones, six tetrahedra each (Freudenthal's way),
 * linear or quadratic; nodes are counted from `origin`. */
typedef struct {
    const char *name, *packing;
    int n, order, origin;
    bool skew; /* move the nodes within the cube */
} cube;

static int cube_node(const cube *c, const int at[3])
{
    const int m = c->n * c->order + 1;
    return (at[2] * m + at[1]) * m + at[0] + c->origin;
}

static void write_nodes(const cube *c)
{
    char name[128];
    paper p;
    FILE *f = paper_open(&p);
    const int m = c->n * c->order + 1, nodes = m * m * m;
    fprintf(f, "# written by a test\n%d 3 0 0\n", nodes);
    for (int k = 0; k < nodes; k++) {
        const int at[3] = {k % m, k / m % m, k / m / m};
        double x[3];
        for (int d = 0; d < 3; d++) {
            const double t = (double)at[d] / (m - 1),
                         u = (double)at[0] / (m - 1);
            x[d] = t + (c->skew && d > 0 ? 0.1 * u * t * (1 - t) : 0.0);
        }
        fprintf(f, " %d %.17g %.17g %.17g\n", k + c->origin, x[0], x[1], x[2]);
    }
    snprintf(name, sizeof name, "%s.node%s", c->name, c->packing);
    paper_save(&p, f, in_folder(name));
}

static void write_tetrahedron(const cube *c, FILE *f, const int from[3],
                              const int turn[3], int number)
{
    static const int ends[10][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 1},
                                    {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
    int corner[4][3];
    for (int v = 0; v < 4; v++)
        for (int d = 0; d < 3; d++) {
            corner[v][d] = 2 * from[d];
            for (int s = 0; s < v; s++) corner[v][d] += 2 * (turn[s] == d);
        }
    fprintf(f, "%d", number);
    for (int k = 0; k < (c->order == 1 ? 4 : 10); k++) {
        int at[3];
        for (int d = 0; d < 3; d++)
            at[d] = (corner[ends[k][0]][d] + corner[ends[k][1]][d]) / 2 *
                    c->order / 2;
        fprintf(f, " %d", cube_node(c, at));
    }
    fprintf(f, "\n");
}

static void write_elements(const cube *c)
{
    static const int queue[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    char name[128];
    paper p;
    FILE *f = paper_open(&p);
    const int n = c->n;
    fprintf(f, "%d %d 0\n", 6 * n * n * n, c->order == 1 ? 4 : 10);
    for (int k = 0; k < 6 * n * n * n; k++) {
        const int cell = k / 6;
        const int from[3] = {cell % n, cell / n % n, cell / n / n};
        write_tetrahedron(c, f, from, queue[k % 6], k + c->origin);
    }
    snprintf(name, sizeof name, "%s.ele%s", c->name, c->packing);
    paper_save(&p, f, in_folder(name));
}

static void write_cube(const cube *c)
{
    write_nodes(c);
    write_elements(c);
}

/* mesh:FOLDER/`rest` */
static const char *mesh_name(const char *rest)
{
    static char name[4][600];
    static int next;
    char *out = name[next++ % 4];
    snprintf(out, sizeof name[0], "mesh:%s/%s", folder, rest);
    return out;
}

/* x' A y */
static double form(const tct_csr *A, const double *x, const double *y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            sum += x[i] * A->val[k] * y[tct_csr_col(A, k)];
    return sum;
}

/* --- integrals ------------------------------------------------------------ */

/* M sums to the volume; the energy of the coordinate x is the volume, also on
 * elements whose edges or sides are moved; constants have none. */
static void check_integrals(const char *base, const char *refine, double volume,
                            const tct_mesh *mesh)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s,kind=mass:0", base, refine);
    tct_csr M = make_matrix(mesh_name(name));
    snprintf(name, sizeof name, "%s%s,kind=mass:1", base, refine);
    tct_csr A = make_matrix(mesh_name(name));
    assert_int_equal(M.rows, mesh->nodes);
    double *x = malloc((size_t)M.rows * sizeof *x);
    double *one = malloc((size_t)M.rows * sizeof *one);
    for (int64_t i = 0; i < M.rows; i++) one[i] = 1.0;
    assert_true(fabs(form(&M, one, one) - volume) < 1e-12);
    assert_true(fabs(form(&A, one, one) - volume) < 1e-12);
    for (int d = 0; d < 3; d++) {
        for (int64_t i = 0; i < M.rows; i++) x[i] = mesh->x[i][d];
        const double energy = form(&A, x, x) - form(&M, x, x);
        assert_true(fabs(energy - volume) < 1e-12);
        assert_true(fabs(form(&A, x, one) - form(&M, x, one)) < 1e-12);
    }
    check_symmetric(&A, name);
    free(x);
    free(one);
    tct_csr_clear(&M);
    tct_csr_clear(&A);
}

static void test_integrals(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        const cube c = {"box", "", 3, order, 0, order == 1};
        write_cube(&c);
        tct_mesh mesh = {0};
        assert_int_equal(tct_mesh_read(in_folder("box"), true, &mesh),
                         TACIT_OK);
        assert_int_equal(mesh.elements, 6 * 27);
        assert_int_equal(mesh.corners, order == 1 ? 4 : 10);
        check_integrals("box", "", 1.0, &mesh);
        for (int k = 1; k <= 2 && order == 1; k++) {
            char refine[32];
            snprintf(refine, sizeof refine, ",refine=%d", k);
            assert_int_equal(tct_mesh_refine(&mesh), TACIT_OK);
            check_integrals("box", refine, 1.0, &mesh);
        }
        tct_mesh_clear(&mesh);
    }
    assert_int_equal(tct_memory_blocks(), 0);
}

/* --- definite ------------------------------------------------------------- */

static void check_definite(const char *rest)
{
    tct_csr A = make_matrix(mesh_name(rest));
    check_symmetric(&A, rest);
    const double pivot = smallest_pivot(&A);
    if (pivot < 1e-6) fail_msg("%s: pivot %g", rest, pivot);
    tct_csr_clear(&A);
    check_pieces(mesh_name(rest));
}

static void test_definite(void **state)
{
    (void)state;
    const cube linear = {"one", "", 2, 1, 0, true};
    const cube quadratic = {"two", "", 1, 2, 0, false};
    const cube single = {"three", "", 1, 1, 0, false};
    write_cube(&linear);
    write_cube(&quadratic);
    write_cube(&single);
    static const char *const names[] = {
        "one",
        "one,kind=laplace",
        "one,kind=mass:0.1",
        "one,kind=elasticity:73000:.33",
        "one,refine=1",
        "one,kind=mass:0,refine=1",
        "two",
        "two,kind=mass:2",
        "two,kind=elasticity:5:0",
        "three",
        "three,kind=elasticity",
        "three,refine=1,kind=elasticity",
    };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        check_definite(names[k]);
}

/* --- supports ------------------------------------------------------------- */

/* Without supports the lowest nodes stand on springs: rows sum to half of the
 * diagonal there, to nothing elsewhere. */
static void test_springs(void **state)
{
    (void)state;
    const cube c = {"box", "", 4, 1, 0, false};
    write_cube(&c);
    tct_csr A = make_matrix(mesh_name("box"));
    assert_int_equal(A.rows, 125);
    for (int64_t i = 0; i < A.rows; i++) {
        bool there;
        double sum = 0.0;
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) sum += A.val[k];
        const double spring = i < 25 ? 0.5 * entry_of(&A, i, i, &there) : 0.0;
        assert_true(fabs(sum - spring) < 1e-14);
    }
    tct_csr_clear(&A);
}

/* Held components have no rows; the others are as without supports. */
static void test_supports(void **state)
{
    (void)state;
    const cube c = {"box", "", 2, 1, 1, true};
    write_cube(&c);
    save_text("box.spc", "4\n1 0\n1 1\n5 2\n27 0\n");
    static const int64_t held[] = {0, 1, 14, 78};
    int64_t number[81], next = 0;
    for (int64_t i = 0, h = 0; i < 81; i++) {
        const bool is_held = h < 4 && held[h] == i;
        number[i] = is_held ? -1 : next++;
        h += is_held;
    }
    tct_csr A = make_matrix(mesh_name("box,kind=elasticity:2:.2"));
    tct_csr B = make_matrix(mesh_name("box,kind=elasticity:2:.2,spc=no"));
    assert_int_equal(A.rows, 77);
    assert_int_equal(B.rows, 81);
    int64_t met = 0;
    for (int64_t i = 0; i < 81; i++)
        for (int64_t k = B.ptr[i]; k < B.ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(&B, k);
            if (number[i] < 0 || number[j] < 0) continue;
            bool there;
            const double a = entry_of(&A, number[i], number[j], &there);
            assert_true(there);
            met++;
            if (i != j) assert_true(a == B.val[k]); /* springs apart */
        }
    assert_int_equal(met, tct_csr_nonzeros(&A));
    tct_csr_clear(&A);
    tct_csr_clear(&B);
    check_pieces(mesh_name("box,kind=elasticity:2:.2"));
    A = make_matrix(mesh_name("box")); /* scalar: a node is held or free */
    assert_int_equal(A.rows, 24);
    tct_csr_clear(&A);
    A = make_matrix(mesh_name("box,kind=mass:1,spc=yes"));
    assert_int_equal(A.rows, 24);
    tct_csr_clear(&A);
    unlink(in_folder("box.spc"));
}

/* A new node between two held ones is held. */
static void test_supports_are_refined(void **state)
{
    (void)state;
    const cube c = {"box", "", 1, 1, 0, false};
    write_cube(&c);
    save_text("box.spc", "3\n0 2\n1 2\n7 2\n"); /* a tetrahedron's edges */
    tct_mesh mesh = {0};
    assert_int_equal(tct_mesh_read(in_folder("box"), true, &mesh), TACIT_OK);
    assert_int_equal(tct_mesh_refine(&mesh), TACIT_OK);
    assert_int_equal(mesh.nodes, 8 + 19);
    assert_int_equal(mesh.elements, 48);
    int held = 0;
    for (int64_t v = 0; v < mesh.nodes; v++) held += mesh.held[v] == 4;
    assert_int_equal(held, 6);
    tct_mesh_clear(&mesh);
    unlink(in_folder("box.spc"));
}

/* --- files ---------------------------------------------------------------- */

/* Plain or packed, from 0 or 1: the same matrix. */
static void test_packings(void **state)
{
    (void)state;
    const cube c[] = {{"plain", "", 2, 1, 0, true},
                      {"gz", ".gz", 2, 1, 1, true},
                      {"xz", ".xz", 2, 1, 0, true}};
    for (int k = 0; k < 3; k++) write_cube(&c[k]);
    tct_csr A = make_matrix(mesh_name("plain"));
    for (int k = 1; k < 3; k++) {
        tct_csr B = make_matrix(mesh_name(c[k].name));
        assert_int_equal(tct_csr_nonzeros(&A), tct_csr_nonzeros(&B));
        const size_t n = (size_t)tct_csr_nonzeros(&A);
        assert_memory_equal(A.val, B.val, n * sizeof *A.val);
        assert_memory_equal(A.col32, B.col32, n * sizeof *A.col32);
        tct_csr_clear(&B);
    }
    tct_csr_clear(&A);
}

#define NODES "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n"
#define TETS  "1 4 0\n0 0 1 2 3\n"

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *node, *ele, *spc;
        tacit_status code;
        const char *part;
    } bad[] = {
        {NODES, TETS, NULL, TACIT_OK, ""},
        {"", TETS, NULL, TACIT_INPUT, "bad.node"},
        {"# nothing\n", TETS, NULL, TACIT_INPUT, "number of nodes"},
        {"four\n", TETS, NULL, TACIT_INPUT, "bad.node:1: expected nodes"},
        {"4 2 0 0\n", TETS, NULL, TACIT_INPUT, "2 dimensions, expected 3"},
        {"-4 3 0 0\n", TETS, NULL, TACIT_INPUT, "-4 nodes"},
        {"99999999999 3\n", TETS, NULL, TACIT_INPUT, "expected 0 to 2^31"},
        {"5" NODES, TETS, NULL, TACIT_INPUT, "ends after 4 of 54 nodes"},
        {NODES "4 1 1 1\n", TETS, NULL, TACIT_INPUT, "bad.node:6: more than"},
        {"2 3\n0 0 0 0\n2 1 1 1\n", TETS, NULL, TACIT_INPUT, "expected 1"},
        {"1 3\n7 0 0 0\n", TETS, NULL, TACIT_INPUT, "node 7, expected 0"},
        {"1 3\n0 0 0\n", TETS, NULL, TACIT_INPUT, "a coordinate"},
        {"1 3\n0 0 0 1x\n", TETS, NULL, TACIT_INPUT, "at '1x'"},
        {"1 3\n0 0 0 nan\n", TETS, NULL, TACIT_INPUT, "a finite number"},
        {"1 3\n0 0 0 1e999\n", TETS, NULL, TACIT_INPUT, "a finite number"},
        {NODES, "1 5\n0 0 1 2 3 4\n", NULL, TACIT_INPUT, "expected 4 or 10"},
        {NODES, "0 4\n", NULL, TACIT_INPUT, "no elements"},
        {NODES, "1 4\n0 0 1 2 4\n", NULL, TACIT_INPUT, "bad.ele:2: node 4"},
        {NODES, "1 4\n0 0 1 2 -1\n", NULL, TACIT_INPUT, "expected 0 to 3"},
        {NODES, "2 4\n0 0 1 2 3\n", NULL, TACIT_INPUT, "1 of 2 elements"},
        {NODES, "1 4\n0 0 1 2\n", NULL, TACIT_INPUT, "a node"},
        {NODES, "1 4\n0 0 1 2 2\n", NULL, TACIT_INPUT, "is in no element"},
        {NODES, "2 4\n0 0 1 2 3\n1 0 1 2 2\n", NULL, TACIT_INPUT,
         "element 2 of the mesh"},
        {NODES, TETS, "1\n4 0\n", TACIT_INPUT, "bad.spc:2: node 4"},
        {NODES, TETS, "1\n3 3\n", TACIT_INPUT, "component 3, expected 0 to 2"},
        {NODES, TETS, "2\n3 1\n", TACIT_INPUT, "ends after 1 of 2 supports"},
        {NODES, TETS, "4\n0 0\n1 0\n2 1\n3 2\n", TACIT_INPUT, "is held"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        save_text("bad.node", bad[k].node);
        save_text("bad.ele", bad[k].ele);
        if (bad[k].spc) save_text("bad.spc", bad[k].spc);
        if (bad[k].code == TACIT_OK) {
            tct_csr A = make_matrix(mesh_name("bad"));
            assert_int_equal(A.rows, 4);
            tct_csr_clear(&A);
        } else check_error(mesh_name("bad"), bad[k].code, bad[k].part);
        unlink(in_folder("bad.spc"));
    }
}

static void test_bad_arguments(void **state)
{
    (void)state;
    const cube quadratic = {"two", "", 1, 2, 0, false};
    write_cube(&quadratic);
    check_error("mesh:", TACIT_INVALID, "usage: mesh:BASE");
    check_error("mesh:,refine=1", TACIT_INVALID, "usage: mesh:BASE");
    check_error("mesh:/there/is/none", TACIT_IO, "/there/is/none.node");
    check_error(mesh_name("two,refine=1"), TACIT_UNSUPPORTED, "10");
    static const struct {
        const char *options, *part;
    } bad[] = {
        {"two,refine=-1", "refine=-1: expected 0"},
        {"two,refine=99", "expected 0 to"},
        {"two,refine", "refine=: expected"},
        {"two,refin=1", "no option 'refin=1'"},
        {"two,", "no option ''"},
        {"two,kind=heat", "kind=heat: expected laplace"},
        {"two,kind=", "kind=: expected"},
        {"two,kind=mass", "mass:TAU"},
        {"two,kind=mass:-1", "TAU"},
        {"two,kind=mass:1:2", "TAU"},
        {"two,kind=mass:inf", "TAU"},
        {"two,kind=laplace:1", "kind=laplace:1"},
        {"two,kind=elasticity:1", "elasticity:E:NU"},
        {"two,kind=elasticity:0:.3", "E > 0"},
        {"two,kind=elasticity:1:.5", "NU < 0.5"},
        {"two,spc=maybe", "no option 'spc=maybe'"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        check_error(mesh_name(bad[k].options), TACIT_INVALID, bad[k].part);
}

static void test_no_memory(void **state)
{
    (void)state;
    const cube c = {"box", "", 1, 1, 0, false};
    write_cube(&c);
    check_no_memory(mesh_name("box"));
    check_no_memory(mesh_name("box,refine=1,kind=elasticity"));
}

/* --- real meshes ---------------------------------------------------------- */

/* mesh:MATRICES/mesh/`rest`, NULL where the real matrices are missing. */
static const char *real_mesh(const char *rest)
{
    static char name[2][1200];
    static int next;
    const char *set = getenv("TACIT_MATRICES");
    const char *where = set ? set : "../shared/matrices";
    char probe[1200];
    snprintf(probe, sizeof probe, "%s/mesh/heart_cbcbeat_6k.node.xz", where);
    if (access(probe, R_OK) != 0) {
        print_message("skipped: there is no %s\n", probe);
        return NULL;
    }
    char *out = name[next++ % 2];
    snprintf(out, sizeof name[0], "mesh:%s/mesh/%s", where, rest);
    return out;
}

static void test_real_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t rows, nonzeros;
    } want[] = {
        {"heart_cbcbeat_6k", 6514, 84736},
        {"heart_cbcbeat_6k,refine=1", 45625, 634473},
        {"heart_cbcbeat_6k,refine=2", 340049, 4905073},
        {"heart_kit_50k,kind=mass:1", 53436, 727118},
        {"heart_kit_50k,refine=1", 390277, 5505413},
        {"z88_b21_piston_lin,kind=elasticity:73000:.33", 168465, 6806997},
        {"z88_b21_piston_lin,kind=elasticity,refine=1,spc=no", 1244769,
         52900479},
        {"z88_b20_fan_quad,kind=elasticity:1.7e6:.335", 948885, 72101583},
    };
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        const char *name = real_mesh(want[k].name);
        if (!name) skip();
        tct_gallery_matrix *g = open_matrix(name);
        assert_int_equal(g->rows, want[k].rows);
        assert_true(g->irregular);
        int64_t sum = 0, most = 0;
        int64_t *length = malloc((size_t)g->rows * sizeof *length);
        assert_int_equal(tct_gallery_lengths(g, 0, g->rows, length), TACIT_OK);
        for (int64_t i = 0; i < g->rows; i++) {
            sum += length[i];
            most = length[i] > most ? length[i] : most;
        }
        free(length);
        assert_int_equal(sum, want[k].nonzeros);
        assert_true(fabs(g->nonzeros / (double)sum - 1.0) < 0.15);
        assert_true(most <= g->widest);
        tct_gallery_close(&g);
    }
}

/* The heart's M + 0.05 K, against values that others computed to 9 digits. */
static void test_real_values(void **state)
{
    (void)state;
    const char *name = real_mesh("heart_cbcbeat_6k,kind=mass:0.05");
    if (!name) skip();
    char path[1200];
    const char *end = strstr(name, "/mesh/heart");
    snprintf(path, sizeof path, "%.*s/fe/heart_cbcbeat_6k_mono.mtx.gz",
             (int)(end - name - 5), name + 5);
    gzFile z = gzopen(path, "rb");
    if (!z) skip();
    tct_csr A = make_matrix(name);
    char line[256];
    int64_t entries = 0;
    do assert_non_null(gzgets(z, line, sizeof line));
    while (line[0] == '%'); /* and the line of the sizes */
    while (gzgets(z, line, sizeof line)) {
        long long i, j;
        double value;
        bool there;
        assert_int_equal(sscanf(line, "%lld %lld %lf", &i, &j, &value), 3);
        const double mine = entry_of(&A, i - 1, j - 1, &there);
        assert_true(there && fabs(mine - value) < 1e-8 * fabs(value));
        entries += i == j ? 1 : 2;
    }
    gzclose(z);
    assert_int_equal(entries, tct_csr_nonzeros(&A));
    tct_csr_clear(&A);
}

static void test_real_pieces(void **state)
{
    (void)state;
    const char *name = real_mesh("heart_cbcbeat_6k,kind=elasticity");
    if (!name) skip();
    check_pieces(name);
    check_pieces(real_mesh("heart_cbcbeat_6k,refine=1"));
    name = real_mesh("z88_b21_piston_lin,kind=elasticity:73000:.33");
    tct_csr A = make_matrix(name);
    check_symmetric(&A, name);
    tct_csr_clear(&A);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"box",   "one", "two", "three",
                                        "plain", "gz",  "xz",  "bad"};
    static const char *const ends[] = {
        "", ".node", ".node.gz", ".ele.gz", ".node.xz", ".ele.xz", ".ele"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", names[n], ends[e]);
            unlink(in_folder(name));
        }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integrals),
        cmocka_unit_test(test_definite),
        cmocka_unit_test(test_springs),
        cmocka_unit_test(test_supports),
        cmocka_unit_test(test_supports_are_refined),
        cmocka_unit_test(test_packings),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_real_counts),
        cmocka_unit_test(test_real_values),
        cmocka_unit_test(test_real_pieces),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_trsv.c - triangular solves on grids of processes: the x of one
 * process, and as many messages as predicted, in any order of arrival.
 *
 * RUN: np=1,2,3,4
 * THREADS: 4,12
 * PROCESSES: 4 */
#include "mpi_main.h"
#include "said.h"
#include "trisolve/grid/trsv.h"
#include <math.h>

/* A way is a scheme, block by block, or, from SCHEMES on, by subtrees. */
enum { SCHEMES = 4, WAYS = 2 * SCHEMES, MOST = 50 };
static const char *const ways[WAYS] = {
    "3d",           "2d",           "baseline3d",           "p2p",
    "3d, subtrees", "2d, subtrees", "baseline3d, subtrees", "p2p, subtrees"};
static tacit_trsv_scheme scheme_of(int way)
{
    return (tacit_trsv_scheme)(way % SCHEMES);
}
static tacit_trsv_map map_of(int way)
{
    return way < SCHEMES ? TACIT_TRSV_CYCLIC : TACIT_TRSV_SUBTREE;
}

static int size_of(void)
{
    return tacit_world_size(test_world());
}
static int rank_of(void)
{
    return tacit_world_rank(test_world());
}

/* --- factors -------------------------------------------------------------- */

/* A matrix, its factor, right-hand sides and what one process has for x. */
typedef struct {
    tacit_world *alone;
    tacit_matrix *m;
    tacit_factor *F;
    tacit_factor_panels P;
    size_t n;
    double *b, *x, *got; /* [MOST n] */
} problem;

/* Lines of 10 rows that have nothing to do with each other. */
static tacit_matrix *lines(tacit_world *w, int n)
{
    int64_t ptr[1000], cols[3000], count = 0;
    double vals[3000];
    ptr[0] = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n || (j < i ? i : j) % 10 == 0) {
                if (j != i) continue;
            }
            cols[count] = j;
            vals[count++] = i == j ? 2.5 : -1.0;
        }
        ptr[i + 1] = count;
    }
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(w, n, 0, n, ptr, cols, vals, &m));
    return m;
}

/* METIS has one sequence of random numbers for all threads, and ranks that are
 * threads need the same factor. */
static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;

static problem problem_of(const char *name, int leaves, int width)
{
    problem p = {.P.size = sizeof p.P};
    const tacit_factor_options o = {
        .size = sizeof o, .leaves = leaves, .width = width};
    OK(tacit_world_self(&p.alone));
    if (strcmp(name, "lines") == 0) p.m = lines(p.alone, 330);
    else OK(tacit_matrix_open(p.alone, name, NULL, &p.m));
    pthread_mutex_lock(&one_by_one);
    OK(tacit_factor_create(p.m, &o, &p.F));
    pthread_mutex_unlock(&one_by_one);
    OK(tacit_factor_view(p.F, &p.P));
    p.n = (size_t)p.P.rows;
    p.b = tct_alloc(MOST * p.n * sizeof *p.b);
    p.x = tct_alloc(MOST * p.n * sizeof *p.x);
    p.got = tct_alloc(MOST * p.n * sizeof *p.got);
    for (size_t i = 0; i < MOST * p.n; i++) p.b[i] = tct_uniform(i, 7) - 0.5;
    OK(tacit_factor_solve(p.F, MOST, p.b, p.n, p.x, p.n));
    return p;
}

static void problem_free(problem *p)
{
    TCT_FREE(p->b, p->x, p->got);
    tacit_factor_destroy(&p->F);
    tacit_matrix_destroy(&p->m);
    tacit_world_destroy(&p->alone);
}

/* BLAS that looks at strides as the reference does, which ends the process. */
static const tct_dense *blas(void)
{
    const char *why;
    return tct_dense_get(1, &why);
}
static void strict_solve(bool transposed, int64_t m, int64_t n, const double *L,
                         int64_t ldl, double *B, int64_t ldb)
{
    assert_true(ldl > 0 && ldl >= n && ldb > 0 && ldb >= m);
    blas()->solve(transposed, m, n, L, ldl, B, ldb);
}
static void strict_subtract(bool transposed, int64_t m, int64_t n, int64_t k,
                            const double *A, int64_t lda, const double *B,
                            int64_t ldb, double beta, double *C, int64_t ldc)
{
    assert_true(lda > 0 && lda >= m && ldc > 0 && ldc >= m);
    assert_true(ldb > 0 && ldb >= (transposed ? n : k));
    blas()->subtract(transposed, m, n, k, A, lda, B, ldb, beta, C, ldc);
}
static void strict_begin(int threads)
{
    blas()->begin(threads);
}
static void strict_end(void)
{
    blas()->end();
}
static const tct_dense strict = {.solve = strict_solve,
                                 .subtract = strict_subtract,
                                 .begin = strict_begin,
                                 .end = strict_end};

static tacit_trsv *trsv_of(const tacit_factor_panels *P, int way,
                           const int grid[3], int columns)
{
    const tacit_trsv_options o = {.size = sizeof o,
                                  .scheme = scheme_of(way),
                                  .map = map_of(way),
                                  .grid = {grid[0], grid[1], grid[2]},
                                  .columns = columns};
    tacit_trsv *T = NULL;
    OK(tacit_trsv_create(test_world(), P, &o, &T));
    T->dense = &strict;
    return T;
}

static tacit_trsv_info info_of(const tacit_trsv *T)
{
    tacit_trsv_info info = {.size = sizeof info};
    OK(tacit_trsv_describe(T, &info));
    return info;
}

/* p->got has x of all ranks' rows, each from one rank. */
static void expect_solution(const problem *p, int columns, const char *what)
{
    OK(tacit_world_reduce(test_world(), TACIT_SUM, p->n * (size_t)columns,
                          p->got));
    for (size_t j = 0; j < (size_t)columns; j++) {
        double most = 0.0, off = 0.0;
        for (size_t i = j * p->n; i < (j + 1) * p->n; i++) {
            if (fabs(p->x[i]) > most) most = fabs(p->x[i]);
            if (!(fabs(p->got[i] - p->x[i]) <= off))
                off = fabs(p->got[i] - p->x[i]);
        }
        if (!(off <= 1e-12 * most))
            fail_msg("%s: column %d is off by %g of %g", what, (int)j, off,
                     most);
    }
}

static void solve_and_expect(const problem *p, tacit_trsv *T, int columns,
                             const char *what)
{
    memset(p->got, 0, p->n * (size_t)columns * sizeof *p->got);
    OK(tacit_trsv_solve(T, columns, p->b, p->n, p->got, p->n));
    expect_solution(p, columns, what);
}

/* Grids of the world's ranks, with at most `leaves` of them. */
static bool next_grid(int g[3], int leaves)
{
    const int size = size_of();
    if (g[0] == 0) g[2] = 1;
    for (;;) {
        if (++g[0] > size) {
            g[0] = 1;
            g[2] *= 2;
        }
        if (g[2] > size || g[2] > leaves) return false;
        g[1] = size / g[2] / g[0];
        if (g[0] * g[1] * g[2] == size) return true;
    }
}

/* --- solves --------------------------------------------------------------- */

static void all_grids_solve_as_one_rank_does(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int leaves, width;
    } zoo[] = {{"poisson2d:17x13", 4, 8}, {"poisson3d:5", 8, 0},
               {"elasticity3d:2", 1, 5},  {"lines", 8, 0},
               {"poisson2d:2x1", 4, 0},   {"poisson2d:1", 1, 0}};
    for (size_t i = 0; i < sizeof zoo / sizeof *zoo; i++) {
        problem p = problem_of(zoo[i].name, zoo[i].leaves, zoo[i].width);
        int g[3] = {0, 0, 0};
        while (next_grid(g, zoo[i].leaves))
            for (int s = 0; s < WAYS; s++) {
                char text[96];
                if (scheme_of(s) == TACIT_TRSV_2D && g[2] > 1) continue;
                snprintf(text, sizeof text, "%s on %dx%dx%d by %s", zoo[i].name,
                         g[0], g[1], g[2], ways[s]);
                tacit_trsv *T = trsv_of(&p.P, s, g, 3);
                solve_and_expect(&p, T, 1, text);
                solve_and_expect(&p, T, 4, text);
                tacit_trsv_destroy(&T);
            }
        problem_free(&p);
    }
}

static void any_number_of_columns_is_solved(void **state)
{
    (void)state;
    static const int columns[] = {1, 2, 7, 50};
    problem p = problem_of("poisson3d:6", 4, 16);
    const int none[3] = {0, 0, 0};
    for (int k = 0; k < 8; k++) {
        tacit_trsv *T = trsv_of(&p.P, k % 2 ? TACIT_TRSV_BASELINE3D : 0, none,
                                k < 4 ? columns[k] : 7);
        solve_and_expect(&p, T, columns[k % 4], "columns");
        tacit_trsv_destroy(&T);
    }
    problem_free(&p);
}

static void one_rank_may_give_the_factor(void **state)
{
    (void)state;
    problem p = problem_of("poisson2d:19x11", 4, 0);
    const int none[3] = {0, 0, 0};
    tacit_trsv *T = trsv_of(rank_of() ? NULL : &p.P, 0, none, 1);
    problem_free(&p);
    p = problem_of("poisson2d:19x11", 4, 0);
    REFUSES(TACIT_INVALID, "ldb",
            tacit_trsv_solve(T, 1, p.b, p.n - 1, p.got, p.n));
    solve_and_expect(&p, T, 1, "a factor from rank 0");
    tacit_trsv_destroy(&T);
    problem_free(&p);
}

/* The same matrix by L D L' and by L U, scaled. */
static void other_kinds_are_solved(void **state)
{
    (void)state;
    problem p = problem_of("poisson2d:9x14", 4, 4);
    const int64_t values = p.P.value_start[p.P.panels];
    double *unit = tct_calloc((size_t)values * sizeof *unit),
           *upper = tct_calloc((size_t)values * sizeof *upper),
           *D = tct_alloc(p.n * sizeof *D), *r = tct_alloc(p.n * sizeof *r),
           *c = tct_alloc(p.n * sizeof *c);
    for (int32_t K = 0; K < p.P.panels; K++) {
        const int64_t h = p.P.row_start[K + 1] - p.P.row_start[K];
        for (int64_t j = 0; j < p.P.first[K + 1] - p.P.first[K]; j++) {
            const int64_t at = p.P.value_start[K] + j * h;
            const double d = p.P.value[at + j];
            D[p.P.first[K] + j] = d * d;
            for (int64_t i = j; i < h; i++) {
                unit[at + i] = p.P.value[at + i] / d;
                upper[at + i] = p.P.value[at + i] * d;
            }
        }
    }
    for (size_t i = 0; i < p.n; i++) {
        r[i] = 0.5 + tct_uniform(i, 1);
        c[i] = 0.5 + tct_uniform(i, 2);
    }
    tacit_factor_panels P = p.P;
    P.value = unit;
    const int none[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        P.kind = k % 2 ? TACIT_FACTOR_LU : TACIT_FACTOR_LDLT;
        P.upper = k % 2 ? upper : NULL;
        P.diagonal = k % 2 ? NULL : D;
        tacit_trsv *T =
            trsv_of(k > 1 && rank_of() ? NULL : &P, k > 1 ? 2 : 0, none, 2);
        solve_and_expect(&p, T, 2, k % 2 ? "LU" : "LDLT");
        tacit_trsv_destroy(&T);
    }
    P.row_scale = r; /* of diag(r) A diag(c): x = c (r A c)^-1 r b */
    P.col_scale = c;
    tacit_trsv *T = trsv_of(&P, 0, none, 1);
    memset(p.got, 0, p.n * sizeof *p.got);
    for (size_t i = 0; i < p.n; i++) p.b[i] /= r[i];
    OK(tacit_trsv_solve(T, 1, p.b, p.n, p.got, p.n));
    for (size_t i = 0; i < p.n; i++) p.got[i] /= c[i];
    expect_solution(&p, 1, "scaled");
    tacit_trsv_destroy(&T);
    TCT_FREE(unit, upper, D, r, c);
    problem_free(&p);
}

/* Grids may share b in any way: what they have found is added up. */
static void any_split_of_b_gives_the_same(void **state)
{
    (void)state;
    problem p = problem_of("poisson2d:21x10", 4, 6);
    double *share = tct_alloc(p.n * sizeof *share);
    int g[3] = {0, 0, 0};
    while (next_grid(g, 4)) {
        const int z = rank_of() / (g[0] * g[1]);
        for (int s = 0; s < WAYS; s++) {
            if (scheme_of(s) == TACIT_TRSV_2D && g[2] > 1) continue;
            tacit_trsv *T = trsv_of(&p.P, s, g, 1);
            tct_pattern S;
            OK(tct_pattern_create(&p.P, g[2], &S));
            for (int32_t K = 0; K < p.P.panels; K++) {
                const int h = tct_height_of(&S, S.node[K]), first = z >> h << h;
                double mine = 0.0, all = 0.0;
                for (int y = first; y < first + (1 << h); y++) {
                    const double w =
                        tct_uniform((uint64_t)y, (uint64_t)K) + 0.1;
                    all += w;
                    if (y == z) mine = w;
                }
                for (int64_t i = p.P.first[K]; i < p.P.first[K + 1]; i++)
                    share[p.P.original[i]] =
                        p.b[p.P.original[i]] * (mine / all);
            }
            memset(p.got, 0, p.n * sizeof *p.got);
            OK(tct_trsv_solve(T, 1, share, p.n, p.got, p.n, true));
            expect_solution(&p, 1, "a split");
            tct_pattern_clear(&S);
            tacit_trsv_destroy(&T);
        }
    }
    tct_free(share);
    problem_free(&p);
}

/* --- messages ------------------------------------------------------------- */

/* A thousand, one after the other, without a word between them, each rank now
 * and then late. */
static void solves_follow_one_another(void **state)
{
    (void)state;
    static const char *const names[] = {"lines", "poisson2d:11x12"};
    enum { SOLVES = 50, ROUNDS = 20 };
    for (int k = 0; k < 2; k++) {
        problem p = problem_of(names[k], 4, 8);
        const size_t all = SOLVES * p.n;
        double *mean = tct_alloc(all * sizeof *mean);
        int g[3] = {0, 0, 0};
        while (next_grid(g, 4)) {
            if (g[0] > 2) continue; /* it takes long enough */
            tacit_trsv *T = trsv_of(
                &p.P, (k ? 0 : TACIT_TRSV_BASELINE3D) + (g[1] > 1) * SCHEMES, g,
                1);
            T->active->delays = 1 + (uint64_t)rank_of();
            memset(mean, 0, all * sizeof *mean);
            for (int round = 0; round < ROUNDS; round++) {
                memset(p.got, 0, all * sizeof *p.got);
                for (size_t j = 0; j < SOLVES; j++)
                    OK(tacit_trsv_solve(T, 1, p.b + j * p.n, p.n,
                                        p.got + j * p.n, p.n));
                for (size_t i = 0; i < all; i++) mean[i] += p.got[i] / ROUNDS;
            }
            memcpy(p.got, mean, all * sizeof *mean);
            expect_solution(&p, SOLVES, names[k]);
            tacit_trsv_destroy(&T);
        }
        tct_free(mean);
        problem_free(&p);
    }
}

static double sum_of(double mine)
{
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &mine));
    return mine;
}
static double most_of(double mine)
{
    OK(tacit_world_reduce(test_world(), TACIT_MAX, 1, &mine));
    return mine;
}

static int log2_of(int n)
{
    return n < 2 ? 0 : 1 + log2_of(n / 2);
}

/* Two solves send twice the messages predicted of one. */
static tacit_trsv_info expect_counts(const problem *p, int way, const int g[3])
{
    tacit_trsv *T = trsv_of(&p->P, way, g, 1);
    for (int k = 0; k < 2; k++)
        OK(tacit_trsv_solve(T, 1, p->b, p->n, p->got, p->n));
    const tacit_trsv_info info = info_of(T);
    for (int k = 0; k < 3; k++) {
        assert_true(sum_of((double)info.sent[k]) ==
                    2.0 * (double)info.messages[k]);
        assert_true(sum_of((double)info.sent_bytes[k]) ==
                    2.0 * info.message_bytes[k]);
        assert_true(most_of((double)info.sent[k]) ==
                    2.0 * (double)info.most_messages[k]);
    }
    tacit_trsv_destroy(&T);
    return info;
}

static void messages_are_as_foreseen(void **state)
{
    (void)state;
    problem p = problem_of("poisson2d:23x22", 8, 7);
    int g[3] = {0, 0, 0};
    while (next_grid(g, 8)) {
        const tacit_trsv_info new = expect_counts(&p, TACIT_TRSV_3D, g),
                              old = expect_counts(&p, TACIT_TRSV_BASELINE3D, g),
                              flat = expect_counts(&p, TACIT_TRSV_P2P, g),
                              whole =
                                  expect_counts(&p, SCHEMES + TACIT_TRSV_3D, g);
        expect_counts(&p, SCHEMES + TACIT_TRSV_BASELINE3D, g);
        expect_counts(&p, SCHEMES + TACIT_TRSV_P2P, g);
        assert_true(whole.map == TACIT_TRSV_SUBTREE);
        assert_true(whole.most_messages[1] <= 2 * log2_of(g[2]));
        if (g[0] * g[1] > 1) /* of subtrees nothing is said */
            assert_true(whole.messages[0] == whole.messages[2] &&
                        4 * whole.messages[0] <= 3 * new.messages[0]);
        if (g[2] == 1) {
            const tacit_trsv_info one = expect_counts(&p, TACIT_TRSV_2D, g);
            assert_memory_equal(one.messages, new.messages,
                                sizeof one.messages);
        }
        /* sent and received: 2 log2 Pz a rank, 4 (Pz - 1) of each (x, y) */
        assert_true(new.most_messages[1] <= 2 * log2_of(g[2]));
        assert_true(2 * new.messages[1] <= 4 * (g[2] - 1) * g[0] * g[1]);
        assert_true(old.messages[1] >= new.messages[1]);
        if (g[0] * g[1] == 1 && g[2] > 1)
            assert_true(old.messages[1] > new.messages[1]);
        assert_memory_equal(flat.messages, new.messages, sizeof new.messages);
        if (g[0] * g[1] > 1)
            assert_true(new.messages[0] > 0 &&
                        new.messages[0] == new.messages[2]);
    }
    problem_free(&p);
}

/* In `from` rank r has its messages, none of its own; into `told` [boxes][size]
 * what each sends by what all hear, into `sends` by its plan. */
static void expect_senders(const tct_trsv_plan *plan, int r, int size,
                           const int32_t *from, int64_t *told, int64_t *sends)
{
    for (int b = 0; b < TCT_TRSV_TAGS; b++) {
        int64_t all = 0;
        for (int k = 0; k < size; k++) {
            all += from[b * size + k];
            told[b * size + k] += from[b * size + k];
        }
        assert_true(all == plan->in[b] && from[b * size + r] == 0);
        sends[b * size + r] = plan->out[b];
    }
}

/* Of ranks that are not there: each message that one sends another waits
 * for. */
static void plans_of_many_ranks_agree(void **state)
{
    (void)state;
    static const int grids[][3] = {{16, 8, 16}, {64, 32, 1}, {3, 5, 8}};
    if (size_of() > 1) return; /* once is enough */
    problem p = problem_of("poisson2d:24x20", 16, 3);
    for (int k = 0; k < 3 * WAYS; k++) {
        const int *g = grids[k / WAYS], s = k % SCHEMES;
        const tacit_trsv_map map = map_of(k % WAYS);
        const int size = g[0] * g[1] * g[2];
        tct_grid grid;
        tct_pattern S;
        tct_message_count f;
        if (s == TACIT_TRSV_2D && g[2] > 1) continue;
        int64_t in[TCT_TRSV_TAGS] = {0}, out[TCT_TRSV_TAGS] = {0}, widths = 0,
                all = 0, most = 0;
        int64_t(*sent)[TCT_TRSV_PHASES] =
            tct_alloc((size_t)size * sizeof *sent);
        OK(tct_grid_for(&p.P, (tacit_trsv_scheme)s, map, g, size, &grid));
        OK(tct_pattern_create(&p.P, g[2], &S));
        if (map == TACIT_TRSV_SUBTREE) OK(tct_pattern_map(&S, g[0] * g[1]));
        OK(tct_predict_messages(&S, &grid, sent, &f));
        const size_t pairs = (size_t)size * TCT_TRSV_TAGS;
        int32_t *from = tct_alloc(pairs * sizeof *from);
        int64_t *told = tct_calloc(pairs * sizeof *told),
                *sends = tct_alloc(pairs * sizeof *sends);
        for (int r = 0; r < size; r++) {
            tct_trsv_plan plan;
            int64_t mine = 0;
            OK(tct_trsv_plan_create(&S, &grid, r, &plan));
            tct_trsv_plan_senders(&plan, size, from);
            expect_senders(&plan, r, size, from, told, sends);
            for (int b = 0; b < TCT_TRSV_TAGS; b++) {
                in[b] += plan.in[b];
                out[b] += plan.out[b];
                mine += plan.out[b];
                widths += plan.out_width[b];
            }
            assert_true(mine == sent[r][0] + sent[r][1] + sent[r][2]);
            const tct_side *col = &plan.sweep[0].col;
            for (int32_t j = 0; plan.sweeps && j < col->count; j++)
                if (col->below_start[j + 1] - col->below_start[j] > most)
                    most = col->below_start[j + 1] - col->below_start[j];
            all += mine;
            tct_trsv_plan_clear(&plan);
        }
        assert_memory_equal(in, out, sizeof in);
        assert_memory_equal(told, sends, pairs * sizeof *told);
        TCT_FREE(from, told, sends);
        assert_true(s == TACIT_TRSV_P2P ? map || g[0] < 4 || most > 2
                                        : most <= 2);
        assert_true(all == f.messages_sent[0] + f.messages_sent[1] +
                               f.messages_sent[2]);
        assert_true(widths == f.width[0] + f.width[1] + f.width[2]);
        tct_pattern_clear(&S);
        tct_free(sent);
    }
    problem_free(&p);
}

/* In the matrix's order the forest is a path, of which nobody may have all. */
static void nobody_gets_a_whole_path(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    const tacit_factor_options o = {
        .size = sizeof o, .kind = TACIT_FACTOR_IC0, .order = "natural"};
    tacit_factor_panels P = {.size = sizeof P};
    tacit_world *alone = NULL;
    tacit_matrix *m = NULL;
    tacit_factor *F = NULL;
    tct_pattern S;
    int64_t has[PROCESSES] = {0}, all = 0;
    OK(tacit_world_self(&alone));
    OK(tacit_matrix_open(alone, "poisson2d:20", NULL, &m));
    OK(tacit_factor_create(m, &o, &F));
    OK(tacit_factor_view(F, &P));
    OK(tct_pattern_create(&P, 1, &S));
    OK(tct_pattern_map(&S, PROCESSES));
    for (int32_t K = 0; K < P.panels; K++) {
        const int64_t h = P.row_start[K + 1] - P.row_start[K];
        if (S.column_owner[K] >= 0) has[S.column_owner[K]] += h;
        all += h;
    }
    for (int k = 0; k < PROCESSES; k++) assert_true(3 * has[k] <= all);
    tct_pattern_clear(&S);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&alone);
}

/* --- what is refused ------------------------------------------------------ */

static void bad_grids_are_refused(void **state)
{
    (void)state;
    problem p = problem_of("poisson2d:9", 2, 0);
    const int size = size_of();
    tacit_trsv *T = NULL;
    tacit_trsv_options o = {.size = sizeof o, .grid = {size, 2, 1}};
    REFUSES(TACIT_INVALID, "must multiply",
            tacit_trsv_create(test_world(), &p.P, &o, &T));
    o = (tacit_trsv_options){.size = sizeof o, .grid = {1, 1, -1}};
    REFUSES(TACIT_INVALID, "below 0",
            tacit_trsv_create(test_world(), &p.P, &o, &T));
    o = (tacit_trsv_options){.size = sizeof o, .columns = -1};
    REFUSES(TACIT_INVALID, "1 or more",
            tacit_trsv_create(test_world(), &p.P, &o, &T));
    o = (tacit_trsv_options){.size = sizeof o, .map = (tacit_trsv_map)2};
    REFUSES(TACIT_INVALID, "map of a triangular solve: 2 is none",
            tacit_trsv_create(test_world(), &p.P, &o, &T));
    o = (tacit_trsv_options){.size = sizeof o, .grid = {size + 1, 0, 0}};
    REFUSES(TACIT_INVALID, "no grid of",
            tacit_trsv_create(test_world(), &p.P, &o, &T));
    REFUSES(TACIT_INVALID, "rank 0 gives no factor",
            tacit_trsv_create(test_world(), NULL, NULL, &T));
    if (size > 1) {
        o = (tacit_trsv_options){.size = sizeof o, .grid = {1, 1, size}};
        const bool power = (size & (size - 1)) == 0;
        if (size != 2)
            REFUSES(TACIT_INVALID, power ? "has 2 leaves" : "power of two",
                    tacit_trsv_create(test_world(), &p.P, &o, &T));
        o.scheme = TACIT_TRSV_2D;
        if (power)
            REFUSES(TACIT_INVALID, "of one grid",
                    tacit_trsv_create(test_world(), &p.P, &o, &T));
    }
    /* broken on one rank, refused on all */
    tacit_factor_panels P = p.P;
    int32_t *parent = tct_alloc((size_t)P.panels * sizeof *parent);
    memcpy(parent, P.parent, (size_t)P.panels * sizeof *parent);
    parent[0] = -1;
    P.parent = parent;
    REFUSES(TACIT_INPUT, "parent",
            tacit_trsv_create(test_world(), rank_of() == size - 1 ? &P : &p.P,
                              NULL, &T));
    assert_null(T);
    tct_free(parent);
    problem_free(&p);
}

/* Without memory on the last rank all fail, whichever allocation it is. */
static void no_memory_is_survived(void **state)
{
    (void)state;
    if (test_shares_allocations("no_memory_is_survived")) return;
    problem p = problem_of("poisson2d:6", 4, 0);
    const tacit_trsv_options o = {.size = sizeof o, .map = TACIT_TRSV_SUBTREE};
    const bool last = rank_of() == size_of() - 1;
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    for (long k = 1; status != TACIT_OK; k++) {
        tacit_trsv *T = NULL;
        if (last) tct_memory_fail_at(k);
        status = tacit_trsv_create(test_world(),
                                   k % 2 && rank_of() ? NULL : &p.P, &o, &T);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        tacit_trsv_destroy(&T);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    problem_free(&p);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_grids_solve_as_one_rank_does),
        cmocka_unit_test(any_number_of_columns_is_solved),
        cmocka_unit_test(one_rank_may_give_the_factor),
        cmocka_unit_test(other_kinds_are_solved),
        cmocka_unit_test(any_split_of_b_gives_the_same),
        cmocka_unit_test(solves_follow_one_another),
        cmocka_unit_test(messages_are_as_foreseen),
        cmocka_unit_test(plans_of_many_ranks_agree),
        cmocka_unit_test(nobody_gets_a_whole_path),
        cmocka_unit_test(bad_grids_are_refused),
        cmocka_unit_test(no_memory_is_survived),
    };
    TEST_MPI_MAIN(tests);
}

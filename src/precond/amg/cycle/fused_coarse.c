/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/fused_coarse.c - the cycle of the coarse levels as a list
 * of steps, fewer than cycle.c and smoother.c enqueue: the first step of a
 * smoother from x = 0 is merged into the next one, which computes d b itself;
 * restriction is merged with the residual; the last step of a level adds its
 * result to the level above. */
#include "precond/amg/cycle/fused_coarse.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most rows of the first fused level (above, kernels take longer than grid
 * barriers) and most steps. */
enum { ROWS_MOST = 50000, STEPS_MOST = 1024 };

/* The same limits on several ranks, where messages take longer; the entries fit
 * into the L2 of a GPU. */
enum { ROWS_FOR_EACH = 500000, ENTRIES_FOR_EACH = 1 << 22 };

const tct_amg_fused_kernels *tct_amg_fused_instead;

static const tct_amg_fused_kernels *kernels_of(const tacit_queue *q)
{
    const char *wish = getenv("TACIT_AMG_COARSE");
    if (wish && strcmp(wish, "launches") == 0) return NULL;
    return tct_amg_fused_instead ? tct_amg_fused_instead : tct_amg_fused_on(q);
}

/* --- matrices ------------------------------------------------------------- */

bool tct_amg_fused_wants(const tct_amg *M, const tct_amg_level *L)
{
    return (M->part_of || L - M->level > M->krylov) &&
           L->n <= (M->part_of ? ROWS_FOR_EACH : ROWS_MOST) &&
           L->about.nonzeros <= INT32_MAX / 2 && M->base.op.world->size == 1 &&
           M->vectors == 0 && kernels_of(M->base.op.q);
}

bool tct_amg_fused_for_each(const tct_amg *M, int64_t rows, int64_t entries)
{
    return M->base.op.world->size > 1 && rows <= ROWS_FOR_EACH &&
           entries <= ENTRIES_FOR_EACH && M->krylov == 0 && M->vectors == 0 &&
           kernels_of(M->base.op.q);
}

tacit_status tct_amg_fused_keep(const tct_amg *M, const tacit_matrix *m,
                                tct_amg_level *L)
{
    tacit_queue *q = M->base.op.q;
    tct_amg_csr A;
    if (!tct_amg_fused_wants(M, L) || m->A.col64 || L->A->order)
        return TACIT_OK;
    const tacit_status status = tct_amg_csr_put(q, &m->A, &L->kept, &A);
    if (status == TACIT_NO_MEMORY) return TACIT_OK;
    if (status >= 0 && L->exponent != 0)
        q_scale(q, (size_t)A.entries, ldexp(1.0, -L->exponent), A.val);
    return status < 0 ? status : q_own_status(q);
}

/* --- steps ---------------------------------------------------------------- */

typedef struct {
    const tct_amg *M;
    const double *inverse;
    tct_amg_step *step; /* [STEPS_MOST] */
    int count;
    bool too_many;
} script;

static tct_amg_step *append(script *s, tct_amg_step step)
{
    s->too_many = s->too_many || s->count == STEPS_MOST;
    if (s->too_many) s->count = 0;
    s->step[s->count] = step;
    return &s->step[s->count++];
}

/* -(A x) of a level; other terms are added by the caller. */
static tct_amg_step product(const tct_amg_level *L, const double *x)
{
    const tct_amg_csr A = tct_amg_csr_in(L->kept, L->n, L->about.nonzeros);
    return (tct_amg_step){.items = (int32_t)L->n,
                          .rows = (int32_t)L->n,
                          .entries = (int32_t)A.entries,
                          .ptr = A.ptr,
                          .col = A.col,
                          .val = A.val,
                          .x = x,
                          .alpha = 1.0};
}

/* One smoother step (smoother.c: step). */
static tct_amg_step *smooth_step(script *s, const tct_amg_level *L, int k,
                                 bool first, const double *b, const double *now,
                                 double *next)
{
    const tct_amg_smoother *S = &L->smoother;
    const bool chebyshev = S->how.kind == TCT_CHEBYSHEV;
    double c[TCT_AMG_COEFFICIENTS] = {0.0};
    tct_amg_coefficients(S, c);
    const int alone = k == 0 ? 0 : S->how.degree;
    const double *at = c + 2 * (!chebyshev ? 0 : first ? alone : k);
    tct_amg_step step = product(L, now);
    step.b = b;
    step.d = S->d;
    step.alpha = at[0];
    step.of_x = at[1];
    if (chebyshev && !first) {
        step.of_x = 1.0 + at[1];
        step.of_before = -at[1];
        step.before = next;
    }
    step.out = next;
    return append(s, step);
}

static tct_amg_step *smooth_zero(script *s, const tct_amg_level *L,
                                 const double *b, double *x, double *y)
{
    const tct_amg_smoother *S = &L->smoother;
    const int degree = S->how.degree;
    tct_amg_step *last = NULL;
    if (degree == 1)
        return append(s, (tct_amg_step){.items = (int32_t)L->n,
                                        .rows = (int32_t)L->n,
                                        .alpha = 1.0,
                                        .d = S->d,
                                        .b = b,
                                        .out = x});
    for (int k = 1; k < degree; k++) {
        const double *now = k == 1 ? b : tct_amg_phase(degree - k, x, y);
        last = smooth_step(s, L, k, k == 1, b, now,
                           tct_amg_phase(degree - k - 1, x, y));
        if (k == 1) last->scale = S->d;
        if (k == 2 && last->before) {
            last->before = b;
            last->before_scale = S->d;
        }
    }
    return last;
}

static tct_amg_step *smooth(script *s, const tct_amg_level *L, const double *b,
                            double *x)
{
    const int degree = L->smoother.how.degree;
    double *const y = L->smoother.y;
    tct_amg_step *last = NULL;
    for (int k = 0; k < degree; k++)
        last = smooth_step(s, L, k, k == 0, b, tct_amg_phase(degree - k, x, y),
                           tct_amg_phase(degree - k - 1, x, y));
    return last;
}

static tct_amg_step *solve_last(script *s, const tct_amg_level *L,
                                const double *b, double *x)
{
    const int32_t n = (int32_t)L->n;
    if (!s->M->direct) return smooth_zero(s, L, b, x, L->smoother.y);
    return append(s, (tct_amg_step){.items = n,
                                    .rows = n,
                                    .columns = n,
                                    .entries = n * n,
                                    .val = s->inverse,
                                    .x = b,
                                    .alpha = -1.0,
                                    .out = x});
}

static void restrict_residual(script *s, const tct_amg_level *L,
                              const double *b, const double *z, double *out)
{
    tct_amg_step step = product(L, z);
    step.restricts = 1;
    step.items = (int32_t)L->down.sets.count;
    step.set = L->down.sets.ptr;
    step.list = L->down.sets.list;
    step.weight = L->down.listed;
    step.b = b;
    step.out = out;
    append(s, step);
}

static void visit(script *s, const tct_amg_level *L, const tct_amg_level *above,
                  double *z);

/* The steps of tct_amg_cycle; returns the last one, which computes x. */
static tct_amg_step *cycle(script *s, const tct_amg_level *L, const double *b,
                           double *x)
{
    const tct_amg_smoother *S = &L->smoother;
    double *const z = tct_amg_phase(S->how.degree, x, S->y);
    if (L == &s->M->level[s->M->levels - 1]) return solve_last(s, L, b, x);
    smooth_zero(s, L, b, z, z == x ? S->y : x);
    restrict_residual(s, L, b, z, L[1].b);
    visit(s, L + 1, L, z);
    return smooth(s, L, b, x);
}

/* One visit, or a W-cycle's two (wcycle.c); the correction is added to `z` of
 * level `above` or, if that is NULL, stored in L->x. */
static void visit(script *s, const tct_amg_level *L, const tct_amg_level *above,
                  double *z)
{
    tct_amg_step *last = cycle(s, L, L->b, L->x);
    if (s->M->twice && L->b2 && L != &s->M->level[s->M->levels - 1]) {
        tct_amg_step residual = product(L, L->x);
        residual.alpha = TCT_AMG_WSTEP;
        residual.out = L->b2;
        append(s, residual);
        last = cycle(s, L, L->b2, L->x2);
        last->add = L->x;
        last->out = L->x;
    }
    if (!above) return;
    const tct_sets *sets = &above->down.sets;
    last->set = sets->ptr;
    last->list = sets->list;
    last->weight = above->down.listed;
    last->factor = above->factor;
    last->to = z;
    last->out = NULL;
}

/* --- all ------------------------------------------------------------------ */

/* The first fused level; the last level: too few are kept. */
static int first_of(const tct_amg *M)
{
    const int last = M->levels - 1;
    const int least = M->part_of ? 0 : 1 + M->krylov;
    int l = last;
    if (M->direct || M->level[last].kept)
        while (l > least && M->level[l - 1].kept) l--;
    return l;
}

/* The memory traffic of all steps. */
static tct_block add_up(const script *s, int64_t n)
{
    tct_block about = {.rows = n, .cols = n, .kernels = 1};
    for (int i = 0; i < s->count; i++) {
        const double entries = s->step[i].entries;
        about.nonzeros += s->step[i].entries;
        about.matrix_bytes += (s->step[i].columns ? 8.0 : 12.0) * entries;
        if (s->step[i].ptr) about.matrix_bytes += 8.0 * s->step[i].rows;
    }
    about.stored = about.nonzeros;
    return about;
}

static tacit_status create(tct_amg *M, const tct_amg_fused_kernels *kernels,
                           int from)
{
    script s = {.M = M};
    if (M->direct && !(s.inverse = kernels->dense(M->coarsest.block)))
        FAIL(TACIT_UNSUPPORTED, "the inverse is not stored row after row");
    TRY(TCT_ALLOC(STEPS_MOST, "steps of a cycle", &s.step));
    visit(&s, &M->level[from], NULL, NULL);
    tacit_status status =
        s.too_many
            ? tacit_error_set(TACIT_UNSUPPORTED,
                              "a cycle of more than %d steps", STEPS_MOST)
            : TACIT_OK;
    const tct_amg_steps steps = {s.step, s.count, add_up(&s, M->level[from].n)};
    if (status >= 0)
        status =
            kernels->create(M->part_of ? M->part_of->base.op.q : M->base.op.q,
                            &steps, &M->fused);
    tct_free(s.step);
    if (status >= 0) M->fused_from = from;
    return status;
}

/* Append to the report. */
static void append_report(tct_amg *M)
{
    const size_t used = strlen(M->detail);
    if (M->fused || M->alone.M)
        snprintf(M->detail + used, sizeof M->detail - used,
                 ", one kernel from level %d on%s",
                 M->fused ? M->fused_from : M->levels - 1,
                 M->fused ? "" : ", on each rank");
}

tacit_status tct_amg_fused_create(tct_amg *M)
{
    const tct_amg_fused_kernels *kernels = kernels_of(M->base.op.q);
    const int from = first_of(M);
    tacit_status status = TACIT_OK;
    M->asked = strlen(M->detail);
    if (kernels && from < M->levels - 1) status = create(M, kernels, from);
    if (status == TACIT_NO_MEMORY || status == TACIT_UNSUPPORTED) {
        tct_log(TCT_DETAIL, "amg: coarse levels take a kernel an operation: %s",
                tacit_error_message());
        status = TACIT_OK;
    }
    append_report(M);
    for (int l = 0; l < M->levels; l++)
        if (!M->fused || l < from)
            tacit_queue_free(M->base.op.q, &M->level[l].kept);
    return status;
}

void tct_amg_fused_clear(tct_amg *M)
{
    if (M->fused) M->fused->ops->destroy(M->fused);
    M->fused = NULL;
    for (int l = 0; l < M->levels; l++)
        tacit_queue_free(M->base.op.q, &M->level[l].kept);
}

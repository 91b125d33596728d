/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_setup.c - set-up on a device, level by level: from
 * the rows of an operator, with the interface rows of several ranks, to the
 * coarse operators; the remaining levels go to the host. */
#include "device/parallel.h"
#include "precond/amg/device/device_setup_impl.h"
#include <stdlib.h>

static const char *const what = "levels on a device";

/* Compute diagonal, sums and statistics of the rows of `A`. */
static tacit_status compute_row_data(tct_amg_device *t, const tct_amg_csr *A,
                                     const double *beyond, double *diagonal,
                                     double *sum)
{
    tct_amg_device_clear_state(t);
    t->g.A = *A;
    t->g.beyond = beyond;
    t->g.vector = diagonal;
    t->g.sums = sum;
    tct_amg_device_each(t, TCT_AMG_look_over, A->rows);
    return tct_amg_device_inspect(t);
}

/* Only the statistics. */
static tacit_status compute_statistics(tct_amg_device *t, const tct_amg_csr *A,
                                       const double *beyond,
                                       tct_amg_state *about)
{
    TRY(compute_row_data(t, A, beyond, t->g.diag, (double *)(void *)t->g.sum));
    *about = t->seen;
    return TACIT_OK;
}

/* --- several ranks -------------------------------------------------------- */

static bool several(const tct_amg_device *t)
{
    return t->world->size > 1;
}

tacit_status tct_amg_device_scatter(tct_amg_device *t, int arrays,
                                    int64_t count, const int32_t *row,
                                    const double *value, int64_t rows,
                                    double **out)
{
    double *list = NULL, *values = NULL;
    tacit_status status = tacit_queue_alloc(t->q, (size_t)(arrays * rows), out);
    if (status >= 0) status = tct_amg_put(t->q, (size_t)count, row, &list);
    if (status >= 0)
        status =
            tct_amg_put_values(t->q, (size_t)(arrays * count), value, &values);
    if (status >= 0) q_fill(t->q, (size_t)(arrays * rows), 0.0, *out);
    for (int k = 0; status >= 0 && count > 0 && k < arrays; k++)
        t->kernels->each(t->q, TCT_AMG_scatter, count,
                         &(tct_amg_work){.list = (int32_t *)(void *)list,
                                         .listed = values + k * count,
                                         .vector = *out + k * rows});
    if (status >= 0) status = q_own_status(t->q);
    tacit_queue_free(t->q, &list);
    tacit_queue_free(t->q, &values);
    return status;
}

/* Upload the sums over columns of other ranks to the rows that have any. */
static tacit_status put_beyond(tct_amg_device *t, const tct_amg_interface *r,
                               int64_t rows, double **out)
{
    const int64_t count = r->of.A.rows;
    double *sum = NULL;
    tacit_status status = TCT_ALLOC(2 * count, what, &sum);
    if (status >= 0) tct_amg_interface_sums(r, sum);
    if (status >= 0)
        status = tct_amg_device_scatter(t, 2, count, r->of.row, sum, rows, out);
    tct_free(sum);
    return status;
}

/* Columns of P an aggregate. */
static int width_of(const tct_amg_device *t)
{
    return t->vectors > 0 ? t->vectors : 1;
}

/* Read rows of `from` [][width], [count][width], after their aggregates `of`
 * [count], NULL: none. */
static tacit_status collect(tct_amg_device *t, int64_t count,
                            const int32_t *rows, const double *of,
                            const double *from, double *out)
{
    const int64_t before = of ? count : 0;
    const size_t words = (size_t)(before + count * width_of(t));
    double *list = NULL, *values = NULL;
    tacit_status status = tct_amg_put(t->q, (size_t)count, rows, &list);
    if (status >= 0) status = tacit_queue_alloc(t->q, words, &values);
    if (status >= 0 && count > 0) {
        t->kernels->each(t->q, TCT_AMG_collect, count,
                         &(tct_amg_work){.list = (int32_t *)(void *)list,
                                         .of = (int32_t *)(uintptr_t)of,
                                         .scaled = (double *)(uintptr_t)from,
                                         .k = t->vectors,
                                         .vector = values,
                                         .listed = values + before});
        q_get(t->q, words, values, out);
        status = q_own_status(t->q);
    }
    tacit_queue_free(t->q, &list);
    tacit_queue_free(t->q, &values);
    return status;
}

/* Elements of the smooth vectors of `rows` rows. */
static size_t smooth_elements(const tct_amg_device *t, int64_t rows)
{
    return (size_t)rows * (size_t)width_of(t);
}

static tacit_status get_smooth(const tct_amg_device *t, size_t count,
                               const double *from, double **out)
{
    double *w = NULL;
    TRY(TCT_ALLOC(count, "smooth vectors", &w));
    q_get(t->q, count, from, w);
    const tacit_status status = q_own_status(t->q);
    if (status < 0) tct_free(w);
    else *out = w;
    return status;
}

/* Collect the rows that the interface `r` asks for. */
static tacit_status collect_asked(tct_amg_device *t, const tct_amg_interface *r,
                                  const double *of, const double *from,
                                  double **out)
{
    const int64_t count = tct_amg_interface_asked(r);
    int32_t *rows = NULL;
    tacit_status status = TCT_ALLOC(count, what, &rows);
    if (status >= 0) status = TCT_ALLOC(count * (1 + width_of(t)), what, out);
    if (status >= 0) {
        tct_amg_interface_ask(r, rows);
        status = collect(t, count, rows, of, from, *out);
    }
    tct_free(rows);
    return status;
}

/* Make the interface rows of the next level by P, without near-null vectors. */
static tacit_status multiply_interface(tct_amg_device *t)
{
    const int64_t count = tct_amg_interface_asked(&t->interface);
    double *got = NULL;
    tacit_status status =
        tct_agree(t->world, collect_asked(t, &t->interface, t->P->of,
                                          t->P->weight, &got));
    if (status >= 0)
        status = t->vectors > 0
                     ? tct_amg_interface_next_nodes(
                           &t->interface, got, got + count,
                           t->C.rows / t->vectors, &t->interface_after)
                     : tct_amg_interface_next(&t->interface, got, got + count,
                                              t->C.rows, &t->interface_after);
    tct_free(got);
    return tct_agree(t->world, status);
}

/* Bring P' of near-null vectors to the interface rows of the next level. */
static tacit_status bring_smooth(tct_amg_device *t)
{
    double *got = NULL;
    tacit_status status = tct_agree(
        t->world, collect_asked(t, &t->interface_after, NULL, t->next, &got));
    if (status >= 0)
        status = tct_amg_interface_take_smooth(&t->interface_after, got);
    tct_free(got);
    return tct_agree(t->world, status);
}

static tacit_status coarsen_interface(tct_amg_device *t)
{
    tct_amg_interface_clear(&t->interface_after);
    TRY(multiply_interface(t));
    if (t->vectors > 0) TRY(bring_smooth(t));
    tacit_queue_free(t->q, &t->beyond_after);
    return put_beyond(t, &t->interface_after, t->C.rows, &t->beyond_after);
}

/* Measure C and the sizes of the next level. */
static tacit_status measure_next(tct_amg_device *t, tct_amg_size *next)
{
    tacit_status status = several(t) ? coarsen_interface(t) : TACIT_OK;
    if (status >= 0)
        status = compute_statistics(t, &t->C, t->beyond_after, &t->after);
    TRY(tct_agree(t->world, status));
    int64_t of_all[] = {
        t->C.rows, t->C.entries + tct_csr_nonzeros(&t->interface_after.of.A),
        (int64_t)t->after.bad};
    TRY(tct_reduce_i64(t->world, TCT_SUM, 3, of_all));
    next->rows = t->C.rows;
    next->all = of_all[0];
    next->nonzeros = t->nonzeros_after = of_all[1];
    next->positive = of_all[2] == 0;
    return TACIT_OK;
}

tacit_status tct_amg_device_coarsen(tct_amg_device *t,
                                    const tct_coarsening *how,
                                    tct_amg_size *next)
{
    *next = (tct_amg_size){.rounds = 0};
    const tacit_status status =
        t->vectors > 0 ? tct_amg_device_coarsen_nodes(t, how, &next->rounds)
                       : tct_amg_device_coarsen_own(t, how, &next->rounds);
    TRY(tct_agree(t->world, status));
    return measure_next(t, next);
}

tacit_status tct_amg_device_coarsen_as(tct_amg_device *t,
                                       const tct_amg_level *as,
                                       tct_amg_size *next)
{
    *next = (tct_amg_size){.rounds = 0};
    TRY(tct_agree(t->world, tct_amg_device_coarsen_blocks(t, as)));
    return measure_next(t, next);
}

/* --- a level -------------------------------------------------------------- */

tacit_status tct_amg_device_rows(tct_amg_device *t, tct_amg_rows *out)
{
    const size_t n = (size_t)t->A.rows;
    *out = (tct_amg_rows){.queue = t->q};
    TRY(tacit_queue_alloc(t->q, n, &out->diagonal));
    TRY(tacit_queue_alloc(t->q, n, &out->sum));
    TRY(compute_row_data(t, &t->A, t->beyond, out->diagonal, out->sum));
    out->bound = t->seen.bound;
    return TACIT_OK;
}

tacit_status tct_amg_device_floats(tct_amg_device *t, bool *out)
{
    const size_t n = (size_t)t->A.rows;
    double energy[2] = {0.0, 0.0}, *at = (double *)(void *)t->g.partial;
    if (t->vectors > 0) return tct_amg_device_floats_near(t, out);
    tct_amg_device_tidy(t);
    tct_amg_device_begin_level(t);
    t->g.vector = t->g.diag;
    t->g.sums = (double *)(void *)t->g.sum;
    tct_amg_device_each(t, TCT_AMG_energy, t->A.rows);
    q_fill(t->q, n, 1.0, t->g.added);
    q_dot(t->q, n, t->g.vector, t->g.added, &at[0]);
    q_dot(t->q, n, t->g.sums, t->g.added, &at[1]);
    q_get(t->q, 2, at, energy);
    for (int64_t k = 0; k < t->interface.of.A.rows; k++) {
        const tct_interface_sums s = tct_amg_interface_sum(&t->interface, k);
        energy[0] += s.energy;
        energy[1] += s.size;
    }
    TRY(tct_agree(t->world, q_own_status(t->q)));
    TRY(tct_reduce_f64(t->world, TCT_SUM, 2, energy));
    *out = tct_amg_floats_are_harmless(energy[0], energy[1]);
    return TACIT_OK;
}

tacit_status tct_amg_device_transfer(tct_amg_device *t, tct_amg_transfer *out)
{
    *out = t->down;
    t->down = (tct_amg_transfer){.ptr = NULL};
    return TACIT_OK;
}

tacit_status tct_amg_device_smooth(const tct_amg_device *t, double **out)
{
    return get_smooth(t, smooth_elements(t, t->C.rows), t->next, out);
}

double *tct_amg_device_take(tct_amg_device *t)
{
    double *const matrix = t->matrix;
    t->matrix = NULL;
    return matrix;
}

void tct_amg_device_descend(tct_amg_device *t)
{
    tacit_queue_free(t->q, &t->matrix);
    tacit_queue_free(t->q, &t->smooth);
    tacit_queue_free(t->q, &t->beyond);
    tct_amg_interface_clear(&t->interface);
    t->matrix = t->coarse;
    t->smooth = t->next;
    t->beyond = t->beyond_after;
    t->interface = t->interface_after;
    t->nonzeros = t->nonzeros_after;
    t->beyond_after = NULL;
    t->interface_after = (tct_amg_interface){.w = NULL};
    t->A = t->C;
    t->about = t->after;
    t->coarse = NULL;
    t->next = NULL;
    if (t->vectors > 0) tct_amg_device_descend_nodes(t);
}

int64_t tct_amg_device_first(const tct_amg_device *t)
{
    return several(t) ? t->interface.of.starts[t->world->rank] : 0;
}

/* Other matrices are stored times a power of 2. */
static bool is_near_1(double size)
{
    enum { NEAR = 64 }; /* see scale.c */
    int exponent = 0;
    (void)frexp(size, &exponent);
    return abs(exponent) <= NEAR;
}

/* The host inverts matrices of so many rows. */
enum { INVERTED = 800 };

static int64_t at_least_inverted(int64_t rows)
{
    return rows < INVERTED ? INVERTED : rows;
}

/* Rows of systems have several times as many entries. */
static int64_t small_rows(const tct_amg_kernels *kernels, bool systems)
{
    return systems ? at_least_inverted(kernels->small / 8) : kernels->small;
}

/* On one rank a device continues to smaller levels than it would begin with:
 * its kernels are loaded, and levels are those of the host. */
static int64_t last_rows(const tct_amg_device *t)
{
    const bool systems = t->vectors > 0;
    return several(t) ? small_rows(t->kernels, systems)
                      : at_least_inverted(systems ? 0 : t->kernels->few);
}

tacit_status tct_amg_device_is_done(const tct_amg_device *t, bool *out)
{
    return tct_any(t->world,
                   t->A.rows <= last_rows(t) || !is_near_1(t->about.size), out);
}

/* --- transfer to and from the host ---------------------------------------- */

static tacit_status get_rows(const tct_amg_device *t, tct_csr *out)
{
    tct_csr own = {0};
    if (!several(t)) return tct_amg_csr_get(t->q, &t->A, out);
    const int64_t *starts = t->interface.of.starts;
    const int64_t all = starts[t->world->size];
    tacit_status status = tct_amg_csr_get(t->q, &t->A, &own);
    if (status >= 0)
        status = tct_csr_rows(out, all, all, tct_amg_device_first(t), own.rows);
    if (status >= 0)
        status = tct_csr_entries(out, tct_csr_nonzeros(&own) +
                                          tct_csr_nonzeros(&t->interface.of.A));
    if (status >= 0) tct_amg_interface_absorb(&own, &t->interface, out);
    tct_csr_clear(&own);
    return status;
}

tacit_status tct_amg_device_bring(tct_amg_device *t, tacit_matrix **matrix,
                                  double **smooth)
{
    tct_csr rows = {0};
    double *w = NULL;
    tacit_status status = get_rows(t, &rows);
    if (status >= 0 && t->smooth)
        status = get_smooth(t, smooth_elements(t, t->A.rows), t->smooth, &w);
    status = tct_matrix_adopt(t->world, status, &rows, matrix);
    if (status < 0) tct_free(w);
    else (*matrix)->format = "galerkin";
    if (status >= 0) *smooth = w;
    return status;
}

typedef struct {
    double norm, size; /* largest row sum of |a|, largest |a| */
    int64_t longest;   /* entries of the longest row */
} measures;

static void include_measures(measures *of, measures m)
{
    of->norm = fmax(of->norm, m.norm);
    of->size = fmax(of->size, m.size);
    if (m.longest > of->longest) of->longest = m.longest;
}

static measures measure_row(const tct_csr *A, int64_t i)
{
    measures m = {0.0, 0.0, A->ptr[i + 1] - A->ptr[i]};
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        m.norm += fabs(A->val[k]);
        m.size = fmax(m.size, fabs(A->val[k]));
    }
    return m;
}

enum { PARTS = 64 }; /* of a matrix for several threads */

typedef struct {
    const tct_csr *A;
    int parts;
    measures of[PARTS];
} measuring;

static void measure_part(void *work, int64_t part)
{
    measuring *m = work;
    const int p = (int)part;
    measures all = {0.0, 0.0, 0};
    for (int64_t i = tct_part_first(m->A->rows, p, m->parts);
         i < tct_part_first(m->A->rows, p + 1, m->parts); i++)
        include_measures(&all, measure_row(m->A, i));
    m->of[p] = all;
}

static measures measure(const tct_csr *A)
{
    measuring m = {.A = A, .parts = A->rows > TCT_SHORT ? PARTS : 1};
    tct_parallel_each(m.parts, measure_part, &m);
    for (int p = 1; p < m.parts; p++) include_measures(&m.of[0], m.of[p]);
    return m.of[0];
}

tacit_status tct_amg_device_put(tacit_queue *q, const tacit_matrix *m,
                                bool floats, tacit_operator **out)
{
    const tct_amg_kernels *kernels = tct_amg_kernels_of(q);
    const tacit_operator like = {.q = q, .world = m->world};
    double *memory = NULL;
    tct_amg_csr copy;
    if (!kernels || m->world->size > 1 || m->A.col64) return TACIT_UNSUPPORTED;
    const measures of = measure(&m->A);
    if (!is_near_1(of.size)) return TACIT_UNSUPPORTED;
    tacit_status status = tct_amg_csr_put(q, &m->A, &memory, &copy);
    if (status >= 0)
        status = kernels->store(&like, &copy, 1, of.norm, floats, out);
    tacit_queue_free(q, &memory);
    if (status >= 0) (*out)->info.row_max = of.longest;
    return status == TACIT_NO_MEMORY ? TACIT_UNSUPPORTED : status;
}

/* The host makes operators that the device's kernels do not support. */
static tacit_status operator_by_host(tct_amg_device *t, bool floats,
                                     tacit_operator **out)
{
    tacit_matrix *m = NULL;
    double *smooth = NULL;
    tacit_status status = tct_amg_device_bring(t, &m, &smooth);
    if (status >= 0)
        status = tct_amg_operator_of(t->q, m, t->vectors > 1, floats, out);
    tacit_matrix_destroy(&m);
    tct_free(smooth);
    return status;
}

tacit_status tct_amg_device_operator(tct_amg_device *t,
                                     const tacit_operator *finest, bool floats,
                                     tacit_operator **out)
{
    tacit_operator *A = NULL;
    t->g.A = t->A;
    if (floats) tct_amg_device_each(t, TCT_AMG_round, t->A.entries);
    const int block = t->vectors > 1 ? t->vectors : 1;
    tacit_status status =
        tct_agree(t->world, t->kernels->store(finest, &t->A, block,
                                              t->about.norm, floats, &A));
    if (status >= 0 && several(t))
        status = tct_operator_add_interface(A, &t->interface.of, t->nonzeros,
                                            floats);
    if (status < 0) tacit_operator_destroy(&A);
    else *out = A;
    return status == TACIT_UNSUPPORTED ? operator_by_host(t, floats, out)
                                       : status;
}

/* --- all ------------------------------------------------------------------ */

/* Least ratio of own columns to columns of other ranks: below it, strong
 * couplings cross ranks and pairs within a rank are poor. */
enum { MOSTLY_OWN = 8 };

/* Why the host does the set-up; NULL: it does not. */
static const char *reason(const tacit_operator *A, const tacit_matrix *m,
                          const double *smooth, const tct_near_null *near,
                          int64_t small)
{
    const bool alone = A->world->size == 1;
    const int64_t beyond = A->ghost ? A->ghost->nonzeros : 0;
    if (A->order) return "the operator has an order of its own";
    if (A->exponent != 0) return "entries are far from 1";
    if (m->A.rows > INT32_MAX / 2 || (alone && m->A.col64))
        return "there are many rows";
    if (m->A.rows <= small) return "the matrix is small";
    if (A->info.row_max > TCT_AMG_LONG / 8) return "rows are long";
    if (near->vectors > TCT_AMG_VECTORS)
        return "there are many near-null vectors";
    if (near->others.count > 0) return "nodes have rows of several ranks";
    if (!alone && (smooth || !A->local))
        return "there are several ranks, and a vector or an operator of the "
               "user's";
    if (beyond > 0 && beyond * MOSTLY_OWN > A->local->nonzeros)
        return "many columns are of other ranks";
    return NULL;
}

/* Read the rows stored by the operator on the device; *out false: its format
 * cannot list them. */
static tacit_status read_rows(tct_amg_device *t, const tacit_operator *A,
                              bool *out)
{
    int64_t entries = 0;
    *out = t->kernels->count(A, t->g.count);
    if (!*out) return TACIT_OK;
    TRY(tct_amg_device_find_sum(t, A->n, &entries));
    *out = entries == A->local->nonzeros;
    if (!*out) return TACIT_OK;
    TRY(tct_amg_csr_open(t->q, A->n, entries, &t->matrix, &t->A));
    t->g.out = t->A;
    tct_amg_device_each(t, TCT_AMG_starts, A->n + 1);
    t->kernels->read(A, &t->A);
    return q_own_status(t->q);
}

static tacit_status put_own(tct_amg_device *t, const tct_csr *A)
{
    tct_csr own = {0};
    if (!several(t)) return tct_amg_csr_put(t->q, A, &t->matrix, &t->A);
    tacit_status status = tct_amg_interface_without(A, &own);
    if (status >= 0) status = tct_amg_csr_put(t->q, &own, &t->matrix, &t->A);
    tct_csr_clear(&own);
    return status;
}

static tacit_status build(tct_amg_device *t, const tacit_operator *A,
                          const tacit_matrix *m, const double *smooth,
                          const tct_near_null *near)
{
    const size_t room = tct_amg_device_divide_room(NULL, A->n, &t->g);
    bool listed = false;
    TRY(tacit_queue_alloc(t->q, room, &t->room));
    tct_amg_device_divide_room(t->room, A->n, &t->g);
    TRY(read_rows(t, A, &listed));
    if (!listed) TRY(put_own(t, &m->A));
    t->nonzeros = m->nonzeros;
    if (near->vectors > 0) return tct_amg_device_take_near(t, near);
    if (!smooth) return TACIT_OK;
    TRY(tacit_queue_alloc(t->q, (size_t)A->n, &t->smooth));
    q_put(t->q, (size_t)A->n, smooth, t->smooth);
    return TACIT_OK;
}

/* Make the interface rows and the row statistics. */
static tacit_status finish(tct_amg_device *t, const tacit_operator *A,
                           const tct_near_null *near)
{
    bool bad = false;
    tacit_status status = TACIT_OK;
    if (several(t)) {
        TRY(tct_amg_interface_open(A, near, &t->interface));
        status = put_beyond(t, &t->interface, A->n, &t->beyond);
    }
    if (status >= 0)
        status = compute_statistics(t, &t->A, t->beyond, &t->about);
    TRY(tct_agree(t->world, status));
    TRY(tct_any(t->world, t->about.bad > 0, &bad));
    if (bad) FAIL(TACIT_UNSUPPORTED, "a diagonal entry is not positive");
    return TACIT_OK;
}

static bool host_may_try(tacit_status status)
{
    return status == TACIT_NO_MEMORY || status == TACIT_UNSUPPORTED;
}

/* All ranks or none; *why: the reason against it. */
static tacit_status open_all(tct_amg_device *t, const tacit_operator *A,
                             const tacit_matrix *m, const double *smooth,
                             const tct_near_null *near, const char **why)
{
    tacit_status status = t ? build(t, A, m, smooth, near) : TACIT_OK;
    bool left = false;
    if (host_may_try(status)) *why = tacit_error_message();
    TRY(tct_agree(A->world, host_may_try(status) ? TACIT_OK : status));
    TRY(tct_any(A->world, *why != NULL, &left));
    if (left && !*why) *why = "another rank has a reason";
    if (left) return TACIT_OK;
    status = finish(t, A, near);
    if (!host_may_try(status)) return status;
    *why = tacit_error_message();
    return TACIT_OK;
}

tacit_status tct_amg_device_open(const tacit_operator *A, const tacit_matrix *m,
                                 const double *smooth,
                                 const tct_near_null *near,
                                 tct_amg_device **out)
{
    const tct_amg_kernels *kernels = tct_amg_kernels_of(A->q);
    tct_amg_device *t = NULL;
    *out = NULL;
    if (!kernels) return TACIT_OK;
    const int64_t small = small_rows(kernels, near->vectors > 0);
    const char *why = reason(A, m, smooth, near, small);
    if (!why && !(t = tct_calloc(sizeof *t))) why = "there is no memory";
    if (t) {
        t->kernels = kernels;
        t->q = A->q;
        t->world = A->world;
    }
    const tacit_status status = open_all(t, A, m, smooth, near, &why);
    if (why && A->world->rank == 0)
        tct_log(TCT_DETAIL, "amg: the host makes the levels: %s", why);
    if (status < 0 || why) tct_amg_device_close(&t);
    *out = t;
    return status;
}

void tct_amg_device_close(tct_amg_device **device)
{
    tct_amg_device *t = *device;
    if (!t) return;
    double **const all[] = {&t->matrix, &t->coarse,       &t->pass,
                            &t->smooth, &t->next,         &t->room,
                            &t->beyond, &t->beyond_after, &t->node,
                            &t->graph,  &t->graph_after};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(t->q, all[i]);
    tct_amg_transfer_free(t->q, &t->down);
    tct_amg_interface_clear(&t->interface);
    tct_amg_interface_clear(&t->interface_after);
    tct_free(t);
    *device = NULL;
}

void tct_amg_device_invert(tacit_queue *q, size_t n, const double *of,
                           double factor, double *out)
{
    const tct_amg_work g = {
        .factor = factor, .sums = (double *)(uintptr_t)of, .vector = out};
    if (n > 0) tct_amg_kernels_of(q)->each(q, TCT_AMG_inverse, (int64_t)n, &g);
}

bool tct_amg_device_random(tacit_queue *q, size_t n, const double *inverse,
                           double trace, double *out)
{
    const tct_amg_kernels *kernels = tct_amg_kernels_of(q);
    const tct_amg_work g = {.step = q->rank,
                            .factor = trace,
                            .sums = (double *)(uintptr_t)inverse,
                            .vector = out};
    if (kernels && n > 0) kernels->each(q, TCT_AMG_random, (int64_t)n, &g);
    return kernels != NULL;
}

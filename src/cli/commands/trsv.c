/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/trsv.c - `tacit trsv`: factor the matrix on rank 0, give its blocks to
 * a grid of processes, and solve there. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <string.h>
#include <tacit/trsv.h>

static const char *const phases[] = {"L", "all-reduce", "U"};
static const char *const keys[] = {"l", "all_reduce", "u"};
enum { PHASES = 3, AT_ONCE = 64 };

typedef struct trsv_job {
    tacit_world *alone; /* what follows, up to `xstar`, rank 0 has */
    cli_problem problem;
    tacit_factor *F;
    tacit_factor_info factor;
    double *xstar; /* [columns rows], or NULL                       */
    int64_t rows;
    int columns;
    double *B, *X; /* [columns rows] on all ranks                   */
    tacit_trsv *T;
    tacit_trsv_info info;     /* of this rank           */
    double seconds[PHASES];   /* of the best solve, of the slowest rank */
    double total, setup;      /* ... from end to end    */
    double bytes, most_bytes; /* of all ranks, of one   */
    double sent[PHASES];      /* by all, in all solves  */
    double residual, error;   /* of the worst column    */
    int solves;
} trsv_job;

/* --- what is asked for ------------------------------------------------------- */

static tacit_trsv_scheme scheme_of(const cli *c)
{
    static const struct {
        const char *name;
        tacit_trsv_scheme scheme;
    } all[] = {{"2d", TACIT_TRSV_2D},
               {"baseline3d", TACIT_TRSV_BASELINE3D},
               {"p2p", TACIT_TRSV_P2P}};
    for (size_t i = 0; c->set.scheme && i < sizeof all / sizeof *all; i++)
        if (strcmp(c->set.scheme, all[i].name) == 0) return all[i].scheme;
    return TACIT_TRSV_3D;
}

static tacit_status read_grid(const cli *c, int grid[3])
{
    const char *text = c->set.grid ? c->set.grid : "auto";
    int end = 0;
    grid[0] = grid[1] = grid[2] = 0;
    if (strcmp(text, "auto") == 0) return TACIT_OK;
    if (sscanf(text, "%4dx%4dx%4d%n", &grid[0], &grid[1], &grid[2], &end) ==
            3 &&
        text[end] == '\0' && grid[0] > 0 && grid[1] > 0 && grid[2] > 0)
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "--grid '%s': expected three numbers, such as 2x1x4, or auto", text);
}

/* Leaves for as many grids as there can be. */
static int leaves_of(const cli *c, const int grid[3])
{
    int leaves = 1;
    if (c->set.leaves > 0) return (int)c->set.leaves;
    if (scheme_of(c) == TACIT_TRSV_2D) return 1;
    if (grid[2] > 0) {
        while (leaves < grid[2] && leaves < 4096) leaves *= 2;
        return leaves;
    }
    while (c->ranks % (2 * leaves) == 0 && leaves < 4096) leaves *= 2;
    return leaves;
}

/* --- right-hand sides, on rank 0 ----------------------------------------------- */

/* y = A x of rank 0's matrix */
static tacit_status multiply(const trsv_job *job, const double *x, double *y)
{
    tacit_rows rows;
    TRY(tacit_matrix_view_rows(job->problem.matrix, &rows));
    for (int64_t i = 0; i < rows.count; i++) {
        y[i] = 0.0;
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++)
            y[i] +=
                rows.vals[k] * x[rows.cols32 ? rows.cols32[k] : rows.cols64[k]];
    }
    return TACIT_OK;
}

/* In [-1, 1), by splitmix64. */
static double uniform(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed + 1) * UINT64_C(0xD1B54A32D192ED03) +
                 (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

static tacit_status manufacture(const cli *c, trsv_job *job)
{
    const int64_t all = job->rows * job->columns;
    TRY(ALLOC(all, "right-hand sides", &job->xstar));
    for (int64_t i = 0; i < all; i++)
        job->xstar[i] = uniform((uint64_t)c->set.seed, (uint64_t)i);
    for (int64_t j = 0; j < job->columns; j++)
        TRY(multiply(job, job->xstar + j * job->rows, job->B + j * job->rows));
    return TACIT_OK;
}

static tacit_status read_rhs(const cli *c, trsv_job *job)
{
    const char *rhs = c->set.operands > 1 ? c->set.operand[1] : "manufactured";
    if (c->rank > 0) return TACIT_OK;
    job->columns = c->set.rhs_columns ? (int)c->set.rhs_columns : 1;
    if (!cli_is_rhs_word(rhs) || cli_is_own(rhs)) {
        double *B = NULL;
        if (c->set.rhs_columns)
            FAIL(TACIT_INVALID,
                 "--rhs-columns is not for '%s', which has its "
                 "own: leave it out",
                 rhs);
        TRY(tacit_matrix_read_vectors(job->problem.matrix,
                                      cli_is_own(rhs) ? c->set.operand[0] : rhs,
                                      &job->columns, &B));
        tacit_status status =
            ALLOC(job->rows * job->columns, "right-hand sides", &job->B);
        if (status >= 0)
            memcpy(job->B, B, (size_t)(job->rows * job->columns) * sizeof *B);
        tacit_matrix_free_vectors(&B);
        return status;
    }
    TRY(ALLOC(job->rows * job->columns, "right-hand sides", &job->B));
    if (strcmp(rhs, "manufactured") == 0) return manufacture(c, job);
    for (int64_t i = 0; i < job->rows * job->columns; i++) job->B[i] = 1.0;
    return TACIT_OK;
}

/* What rank 0 has in `X` for all. */
static tacit_status hand_out(const cli *c, const trsv_job *job, double *X)
{
    for (int64_t j = 0; j < job->columns; j++)
        TRY(tacit_world_reduce(c->world, TACIT_SUM, (size_t)job->rows,
                               X + j * job->rows));
    return TACIT_OK;
}

static tacit_status share_rhs(const cli *c, trsv_job *job)
{
    double sizes[2] = {(double)job->rows, (double)job->columns};
    TRY(tacit_world_reduce(c->world, TACIT_MAX, 2, sizes));
    job->rows = (int64_t)sizes[0];
    job->columns = (int)sizes[1];
    tacit_status status = TACIT_OK;
    const int64_t all = job->rows * job->columns;
    if (c->rank > 0) status = ALLOC(all, "right-hand sides", &job->B);
    if (status >= 0) status = ALLOC(all, "the solution", &job->X);
    TRY(tacit_world_agree(c->world, status));
    return hand_out(c, job, job->B);
}

/* --- set-up ------------------------------------------------------------------------ */

/* What rank 0 does while the others wait. */
static tacit_status prepare(const cli *c, const int grid[3], trsv_job *job)
{
    if (c->rank > 0) return TACIT_OK;
    const tacit_factor_options options = {.size = sizeof options,
                                          .leaves = leaves_of(c, grid),
                                          .width = (int)c->set.width};
    TRY(tacit_world_self(&job->alone));
    TRY(tacit_world_set_threads(job->alone, (int)c->set.threads));
    cli first = *c;
    first.world = job->alone;
    first.ranks = 1;
    if (c->set.output)
        TRY(tacit_file_check_writable(job->alone, c->set.output,
                                      TACIT_FILE_VECTOR));
    TRY(cli_problem_open(&first, c->set.operand[0], CLI_FOR_SOLVING,
                         &job->problem));
    job->rows = job->problem.info.rows;
    TRY(read_rhs(c, job));
    if (c->set.output && job->columns > 1)
        TRY(tacit_file_check_writable(job->alone, c->set.output,
                                      TACIT_FILE_VECTORS));
    TRY(tacit_factor_create(job->problem.matrix, &options, &job->F));
    job->factor.size = sizeof job->factor;
    return tacit_factor_describe(job->F, &job->factor);
}

static tacit_status deal(const cli *c, const int grid[3], trsv_job *job)
{
    tacit_factor_panels panels = {.size = sizeof panels};
    const tacit_trsv_options options = {
        .size = sizeof options,
        .scheme = scheme_of(c),
        .grid = {grid[0], grid[1], grid[2]},
        .columns = job->columns < AT_ONCE ? job->columns : AT_ONCE};
    if (c->rank == 0) TRY(tacit_factor_view(job->F, &panels));
    const double start = base_seconds();
    TRY(tacit_trsv_create(c->world, c->rank == 0 ? &panels : NULL, &options,
                          &job->T));
    job->setup = cli_max(c, base_seconds() - start);
    tacit_factor_destroy(&job->F);
    return TACIT_OK;
}

/* --- solves ------------------------------------------------------------------------- */

static tacit_status solve_once(const cli *c, trsv_job *job, bool counts)
{
    const size_t n = (size_t)job->rows;
    double seconds[PHASES + 1];
    memset(job->X, 0, n * (size_t)job->columns * sizeof *job->X);
    cli_max(c, 0.0); /* all begin together */
    const double start = base_seconds();
    TRY(tacit_trsv_solve(job->T, job->columns, job->B, n, job->X, n));
    seconds[PHASES] = base_seconds() - start;
    job->info.size = sizeof job->info;
    TRY(tacit_trsv_describe(job->T, &job->info));
    memcpy(seconds, job->info.seconds, sizeof job->info.seconds);
    TRY(tacit_world_reduce(c->world, TACIT_MAX, PHASES + 1, seconds));
    if (!counts) return TACIT_OK;
    if (job->total == 0.0 || seconds[PHASES] < job->total) {
        job->total = seconds[PHASES];
        memcpy(job->seconds, seconds, sizeof job->seconds);
    }
    return TACIT_OK;
}

/* ||b - A x|| / ||b||, and ||x - x*|| / ||x*||, of the worst column. */
static tacit_status judge(trsv_job *job)
{
    const int64_t n = job->rows;
    double *r = NULL;
    job->residual = 0.0;
    job->error = job->xstar ? 0.0 : (double)NAN;
    TRY(ALLOC(n, "the residual", &r));
    for (int64_t j = 0; j < job->columns; j++) {
        const double *x = job->X + j * n, *b = job->B + j * n;
        double rr = 0.0, bb = 0.0, ee = 0.0, xx = 0.0;
        TRY(multiply(job, x, r));
        for (int64_t i = 0; i < n; i++) {
            rr += (b[i] - r[i]) * (b[i] - r[i]);
            bb += b[i] * b[i];
            const double star = job->xstar ? job->xstar[j * n + i] : 0.0;
            ee += (x[i] - star) * (x[i] - star);
            xx += star * star;
        }
        job->residual = fmax(job->residual, bb > 0.0 ? sqrt(rr / bb) : 0.0);
        if (job->xstar) job->error = fmax(job->error, sqrt(ee / xx));
    }
    free(r);
    return TACIT_OK;
}

static tacit_status solve_all(const cli *c, trsv_job *job)
{
    const int warmup = c->set.warmup < 0 ? 1 : (int)c->set.warmup;
    const int repeat = c->set.repeat < 0 ? 3 : (int)c->set.repeat;
    job->solves = warmup + repeat;
    for (int k = 0; k < job->solves; k++) TRY(solve_once(c, job, k >= warmup));
    TRY(hand_out(c, job, job->X)); /* each row is of one rank */
    for (int k = 0; k < PHASES; k++)
        job->sent[k] = cli_sum(c, (double)job->info.sent[k]);
    job->bytes = cli_sum(c, job->info.bytes);
    job->most_bytes = cli_max(c, job->info.bytes);
    return tacit_world_agree(c->world, c->rank == 0 ? judge(job) : TACIT_OK);
}

/* --- the report ---------------------------------------------------------------------- */

/* Rounds of messages in a solve: of 64 columns each. */
static int rounds_of(const trsv_job *job)
{
    return (job->columns + AT_ONCE - 1) / AT_ONCE;
}

static double factor_seconds(const trsv_job *job)
{
    return job->factor.order_seconds + job->factor.symbolic_seconds +
           job->factor.numeric_seconds;
}

static const char *scheme_name(const cli *c)
{
    return c->set.scheme ? c->set.scheme : "3d";
}

static cJSON *phase_json(const trsv_job *job, int k)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "seconds", job->seconds[k]);
    cJSON_AddNumberToObject(o, "messages",
                            job->sent[k] / job->solves / rounds_of(job));
    cJSON_AddNumberToObject(o, "messages_foreseen",
                            (double)job->info.messages[k]);
    cJSON_AddNumberToObject(o, "messages_most",
                            (double)job->info.most_messages[k]);
    cJSON_AddNumberToObject(o, "bytes_one_column", job->info.message_bytes[k]);
    return o;
}

static cJSON *trsv_json(const cli *c, const trsv_job *job)
{
    const tacit_trsv_info *info = &job->info;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddItemToObject(
        o, "matrix", cli_json_matrix(job->problem.name, &job->problem.info));
    cJSON_AddStringToObject(o, "scheme", scheme_name(c));
    cJSON_AddItemToObject(o, "grid", cJSON_CreateIntArray(info->grid, 3));
    cJSON_AddStringToObject(o, "comm", info->comm);
    cJSON_AddNumberToObject(o, "ranks", c->ranks);
    cJSON_AddNumberToObject(o, "columns", job->columns);
    cJSON_AddNumberToObject(o, "leaves", job->factor.leaves);
    cJSON_AddNumberToObject(o, "panels", info->panels);
    cJSON_AddNumberToObject(o, "depth", info->depth);
    cJSON_AddNumberToObject(o, "nonzeros", (double)job->factor.nonzeros);
    cJSON_AddNumberToObject(o, "factor_seconds", factor_seconds(job));
    cJSON_AddNumberToObject(o, "setup_seconds", job->setup);
    cJSON_AddNumberToObject(o, "seconds", job->total);
    for (int k = 0; k < PHASES; k++)
        cJSON_AddItemToObject(o, keys[k], phase_json(job, k));
    cJSON_AddNumberToObject(o, "replication_bound", info->replication_bound);
    cJSON_AddNumberToObject(o, "bytes", job->bytes);
    cJSON_AddNumberToObject(o, "bytes_most", job->most_bytes);
    cJSON_AddNumberToObject(o, "relative_residual", job->residual);
    cli_json_number(o, "relative_error", job->error);
    return o;
}

static void print_messages(cli_table *t, const trsv_job *job, int k)
{
    const tacit_trsv_info *info = &job->info;
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER];
    const double each = job->sent[k] / job->solves / rounds_of(job);
    cli_table_row(t, "messages of %s\t%s, at most %s of one rank, %s a column",
                  phases[k], cli_integer((int64_t)each, a),
                  cli_integer(info->most_messages[k], b),
                  cli_bytes(info->message_bytes[k], d));
}

static void print_trsv(const cli *c, const trsv_job *job)
{
    const tacit_trsv_info *info = &job->info;
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER], e[CLI_NUMBER];
    cli_table t = {.text = NULL};
    cli_table_row(&t, "rows\t%s, %d right-hand %s", cli_integer(job->rows, a),
                  job->columns, job->columns == 1 ? "side" : "sides");
    cli_table_row(&t, "entries of L\t%s, in %s panels, %" PRId32 " deep",
                  cli_integer(job->factor.nonzeros, a),
                  cli_integer(info->panels, b), info->depth);
    cli_table_row(&t, "grid\t%dx%dx%d, scheme %s, comm %s", info->grid[0],
                  info->grid[1], info->grid[2], scheme_name(c), info->comm);
    cli_table_row(&t, "set-up\tfactor %s, its blocks to the ranks %s",
                  cli_seconds(factor_seconds(job), a),
                  cli_seconds(job->setup, b));
    cli_table_row(&t, "solve\t%s: L %s, all-reduce %s, U %s",
                  cli_seconds(job->total, a), cli_seconds(job->seconds[0], b),
                  cli_seconds(job->seconds[1], d),
                  cli_seconds(job->seconds[2], e));
    for (int k = 0; k < PHASES; k++) print_messages(&t, job, k);
    cli_table_row(&t, "memory\t%s, %s of one rank", cli_bytes(job->bytes, a),
                  cli_bytes(job->most_bytes, b));
    cli_table_row(&t,
                  "bound\t%.2f times faster than one grid at most, by what "
                  "the grids share",
                  info->replication_bound);
    cli_table_row(&t, "residual\t%.2e", job->residual);
    if (job->xstar) cli_table_row(&t, "error\t%.2e", job->error);
    cli_table_print(&t, stdout);
    cli_table_free(&t);
}

static tacit_status write_solution(const cli *c, const trsv_job *job)
{
    tacit_status status = TACIT_OK;
    if (c->set.output && c->rank == 0)
        status =
            tacit_matrix_write_vectors(job->problem.matrix, c->set.output,
                                       job->columns, job->X, (size_t)job->rows);
    return tacit_world_agree(c->world, status);
}

/* --- the command ------------------------------------------------------------------------ */

static tacit_status run_job(const cli *c, trsv_job *job)
{
    int grid[3];
    TRY(read_grid(c, grid));
    TRY(cli_check_writable(c, c->set.json));
    TRY(tacit_world_agree(c->world, prepare(c, grid, job)));
    TRY(share_rhs(c, job));
    TRY(deal(c, grid, job));
    TRY(solve_all(c, job));
    if (cli_prints(c) && !cli_output_taken(c)) print_trsv(c, job);
    TRY(write_solution(c, job));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, trsv_json(c, job));
}

static tacit_status trsv_run(cli *c)
{
    trsv_job job = {.rows = 0};
    const tacit_status status = run_job(c, &job);
    tacit_trsv_destroy(&job.T);
    tacit_factor_destroy(&job.F);
    cli_problem_close(&job.problem);
    tacit_world_destroy(&job.alone);
    free(job.xstar);
    free(job.B);
    free(job.X);
    return status;
}

const cli_command cli_command_trsv = {
    .name = "trsv",
    .operands = "MATRIX [RHS]",
    .summary = "solve with a factor on a grid of processes",
    .about =
        "Factor MATRIX, symmetric positive definite, A = L L', on rank 0, give "
        "its blocks to a grid of Px x Py x Pz processes, and solve there: L, "
        "then what goes between the Pz grids, then U = L'. The report has the "
        "time of each and its messages; the best of --repeat solves counts. "
        "Under mpirun, or with --ranks.\n\nRHS is a vector file, or ones, or "
        "manufactured: b = A x*, x* uniform in [-1,1]; or file: the one that "
        "the file of MATRIX holds. Of --rhs-columns several are solved at "
        "once, up to 64.",
    .takes = {1, 2},
    .run = trsv_run,
};

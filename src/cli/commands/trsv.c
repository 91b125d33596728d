/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/trsv.c - `tacit trsv`: factor the matrix on rank 0, distribute
 * its blocks over a grid of processes, and solve on it. */
#include "cli/commands/factor.h"
#include "cli/commands/trsv_job.h"
#include <inttypes.h>
#include <string.h>

static const char *const phases[] = {"L", "all-reduce", "U"};
static const char *const keys[] = {"l", "all_reduce", "u"};

/* --- options -------------------------------------------------------------- */

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

static tacit_trsv_map map_of(const cli *c)
{
    return c->set.map && strcmp(c->set.map, "subtree") == 0 ? TACIT_TRSV_SUBTREE
                                                            : TACIT_TRSV_CYCLIC;
}

/* Does each process of a grid solve on its GPU? Only if asked for. */
static bool has_gpus(const cli *c)
{
    return c->set.device && strcmp(c->set.device, "cuda") == 0;
}

static tacit_status read_grid(const cli *c, int grid[3])
{
    TRY(cli_read_grid(c, CLI_GRID, grid));
    if (scheme_of(c) == TACIT_TRSV_2D && grid[2] > 1)
        FAIL(TACIT_INVALID, "grid %dx%dx%d: scheme 2d is of one grid: %dx%dx1",
             grid[0], grid[1], grid[2], grid[0], c->ranks / grid[0]);
    if (!has_gpus(c) || grid[2] > 0) return TACIT_OK;
    grid[0] = grid[1] = 1;
    grid[2] = c->ranks;
    return cli_check_grid(c, CLI_GRID, grid);
}

/* Enough leaves for the largest number of grids. */
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

/* Copy rank 0's `X` to all. */
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
    TRY(hand_out(c, job, job->B));
    return tacit_world_agree(c->world, cli_scale_down(job->rows, job->columns,
                                                      job->B, &job->exponent));
}

/* Copy B to the GPU of each process. */
static tacit_status bring(const cli *c, trsv_job *job)
{
    char spec[CLI_SPEC];
    const size_t all = (size_t)job->rows * (size_t)job->columns;
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &job->queue));
    tacit_status status = TACIT_OK;
    for (int k = 0; k < 2 && status >= 0; k++)
        status = tacit_queue_alloc(job->queue, all, &job->on_gpu[k]);
    if (status >= 0)
        status = tacit_queue_put(job->queue, all, job->B, job->on_gpu[0]);
    if (status >= 0)
        status = tacit_queue_fill(job->queue, all, 0.0, job->on_gpu[1]);
    return tacit_world_agree(c->world, status);
}

/* --- set-up --------------------------------------------------------------- */

/* The work of rank 0; the others wait. */
static tacit_status prepare(const cli *c, const int grid[3], trsv_job *job)
{
    if (c->rank > 0) return TACIT_OK;
    TRY(tacit_world_self(&job->alone));
    TRY(tacit_world_set_threads(job->alone, (int)c->set.threads));
    cli first = *c;
    first.world = job->alone;
    first.ranks = 1;
    return trsv_open(&first, leaves_of(c, grid), job);
}

static tacit_status deal(const cli *c, const int grid[3], trsv_job *job)
{
    tacit_factor_panels panels = {.size = sizeof panels};
    const tacit_trsv_options options = {
        .size = sizeof options,
        .scheme = scheme_of(c),
        .grid = {grid[0], grid[1], grid[2]},
        .columns = job->columns < TRSV_AT_ONCE ? job->columns : TRSV_AT_ONCE,
        .queue = job->queue,
        .map = map_of(c)};
    if (c->rank == 0) TRY(tacit_factor_view(job->F, &panels));
    const double start = base_seconds();
    TRY(tacit_trsv_create(c->world, c->rank == 0 ? &panels : NULL, &options,
                          &job->T));
    job->setup = cli_max(c, base_seconds() - start);
    if (!job->of_factor) tacit_factor_destroy(&job->F);
    return TACIT_OK;
}

/* --- solves --------------------------------------------------------------- */

static tacit_status solve_once(const cli *c, trsv_job *job, bool counts)
{
    const size_t n = (size_t)job->rows;
    double seconds[TRSV_PHASES + 1];
    double *B = job->queue ? job->on_gpu[0] : job->B;
    double *X = job->queue ? job->on_gpu[1] : job->X;
    if (!job->queue) memset(X, 0, n * (size_t)job->columns * sizeof *X);
    TRY(tacit_world_agree(c->world, TACIT_OK)); /* a common start */
    const double start = base_seconds();
    TRY(tacit_trsv_solve(job->T, job->columns, B, n, X, n));
    TRY(tacit_trsv_wait(job->T));
    seconds[TRSV_PHASES] = base_seconds() - start;
    job->info.size = sizeof job->info;
    TRY(tacit_trsv_describe(job->T, &job->info));
    memcpy(seconds, job->info.seconds, sizeof job->info.seconds);
    TRY(tacit_world_reduce(c->world, TACIT_MAX, TRSV_PHASES + 1, seconds));
    if (!counts) return TACIT_OK;
    if (job->total == 0.0 || seconds[TRSV_PHASES] < job->total) {
        job->total = seconds[TRSV_PHASES];
        memcpy(job->seconds, seconds, sizeof job->seconds);
    }
    return TACIT_OK;
}

static tacit_status solve_all(const cli *c, trsv_job *job)
{
    const int warmup = trsv_warmup(c);
    job->solves = warmup + trsv_repeat(c);
    for (int k = 0; k < job->solves; k++) {
        TRY(solve_once(c, job, k >= warmup));
        if (k == 0) TRY(cli_wait_as_in_solves(c, true));
    }
    TRY(cli_wait_as_in_solves(c, false));
    if (job->queue)
        TRY(tacit_world_agree(
            c->world, tacit_queue_get(job->queue,
                                      (size_t)job->rows * (size_t)job->columns,
                                      job->on_gpu[1], job->X)));
    TRY(hand_out(c, job, job->X)); /* each row belongs to one rank */
    for (int k = 0; k < TRSV_PHASES; k++)
        job->sent[k] = cli_sum(c, (double)job->info.sent[k]);
    job->bytes = cli_sum(c, job->info.bytes);
    job->most_bytes = cli_max(c, job->info.bytes);
    if (c->rank > 0)
        cli_scale_up(job->rows, job->columns, job->X, job->exponent);
    return tacit_world_agree(c->world,
                             c->rank == 0 ? trsv_judge(job) : TACIT_OK);
}

/* --- the report ----------------------------------------------------------- */

/* Rounds of messages in a solve: one per 64 columns. */
static int rounds_of(const trsv_job *job)
{
    return (job->columns + TRSV_AT_ONCE - 1) / TRSV_AT_ONCE;
}

static const char *scheme_name(const cli *c)
{
    return c->set.scheme ? c->set.scheme : "3d";
}

static const char *map_name(const tacit_trsv_info *info)
{
    return info->map == TACIT_TRSV_SUBTREE ? "subtree" : "cyclic";
}

static cJSON *phase_json(const trsv_job *job, int k)
{
    cJSON *o = cJSON_CreateObject();
    cli_json_number(o, "seconds", job->seconds[k]);
    cli_json_number(o, "messages", job->sent[k] / job->solves / rounds_of(job));
    cli_json_number(o, "messages_foreseen", (double)job->info.messages[k]);
    cli_json_number(o, "messages_most", (double)job->info.most_messages[k]);
    cli_json_number(o, "bytes_one_column", job->info.message_bytes[k]);
    return o;
}

static cJSON *trsv_json(const cli *c, const trsv_job *job)
{
    const tacit_trsv_info *info = &job->info;
    cJSON *o = trsv_json_begin(c, job);
    cJSON_AddStringToObject(o, "scheme", scheme_name(c));
    cJSON_AddStringToObject(o, "map", map_name(info));
    cJSON_AddItemToObject(o, "grid", cJSON_CreateIntArray(info->grid, 3));
    cJSON_AddStringToObject(o, "comm", info->comm);
    cJSON_AddStringToObject(o, "device", job->queue ? "cuda" : "host");
    if (job->queue)
        cJSON_AddBoolToObject(o, "one_kernel", info->one_kernel != 0);
    cli_json_number(o, "panels", info->panels);
    cli_json_number(o, "depth", info->depth);
    cli_json_number(o, "setup_seconds", job->setup);
    cli_json_number(o, "seconds", job->total);
    for (int k = 0; k < TRSV_PHASES; k++)
        cJSON_AddItemToObject(o, keys[k], phase_json(job, k));
    cli_json_number(o, "replication_bound", info->replication_bound);
    cli_json_number(o, "bytes", job->bytes);
    cli_json_number(o, "bytes_most", job->most_bytes);
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

static void print_device(cli_table *t, const cli *c, const trsv_job *job)
{
    char name[160];
    if (!job->queue) return;
    tacit_queue_describe(job->queue, name, sizeof name);
    cli_table_row(t, "device\tcuda (%s%s), %s", name,
                  c->oversubscribed ? ", which processes share" : "",
                  job->info.one_kernel
                      ? "one kernel a solve on each"
                      : "a kernel for L and one for U, messages between them");
}

static void print_trsv(const cli *c, const trsv_job *job)
{
    const tacit_trsv_info *info = &job->info;
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER], e[CLI_NUMBER];
    cli_table t = {.text = NULL};
    trsv_print_begin(&t, job);
    cli_table_row(&t, "grid\t%dx%dx%d, scheme %s, map %s, comm %s",
                  info->grid[0], info->grid[1], info->grid[2], scheme_name(c),
                  map_name(info), info->comm);
    print_device(&t, c, job);
    cli_table_row(&t, "set-up\tfactor %s, its blocks to the ranks %s",
                  cli_seconds(trsv_factor_seconds(job), a),
                  cli_seconds(job->setup, b));
    cli_table_row(&t, "solve\t%s: L %s, all-reduce %s, U %s",
                  cli_seconds(job->total, a), cli_seconds(job->seconds[0], b),
                  cli_seconds(job->seconds[1], d),
                  cli_seconds(job->seconds[2], e));
    for (int k = 0; k < TRSV_PHASES; k++) print_messages(&t, job, k);
    cli_table_row(&t, "memory\t%s, %s of one rank", cli_bytes(job->bytes, a),
                  cli_bytes(job->most_bytes, b));
    cli_table_row(&t,
                  "bound\t%.2f times faster than one grid at most, by what "
                  "the grids share",
                  info->replication_bound);
    trsv_print_end(&t, job);
    cli_table_print(&t, stdout);
    cli_table_free(&t);
}

static tacit_status write_solution(const cli *c, const trsv_job *job)
{
    return tacit_world_agree(c->world,
                             c->rank == 0 ? trsv_write(c, job) : TACIT_OK);
}

/* --- the command ---------------------------------------------------------- */

static tacit_status run_on_grid(const cli *c, trsv_job *job)
{
    int grid[3];
    TRY(read_grid(c, grid));
    TRY(cli_check_writable(c, c->set.json));
    TRY(tacit_world_agree(c->world, prepare(c, grid, job)));
    TRY(share_rhs(c, job));
    if (has_gpus(c)) TRY(bring(c, job));
    TRY(deal(c, grid, job));
    TRY(solve_all(c, job));
    const tacit_status status =
        cli_check_finite(c, job->rows, job->columns, job->X);
    if (status != TACIT_OK) return status;
    if (cli_prints(c) && !cli_output_taken(c)) print_trsv(c, job);
    TRY(write_solution(c, job));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, trsv_json(c, job));
}

/* Incomplete factors are for the host; without a grid, a single process takes
 * its GPU. */
static tacit_status choose(const cli *c, bool *alone)
{
    const tacit_factor_kind kind = cli_kind_of(c->set.kind);
    const bool whole = kind != TACIT_FACTOR_IC0 && kind != TACIT_FACTOR_ILU0;
    *alone = cli_on_gpu(c) && c->ranks == 1 && !c->set.scheme && !c->set.grid &&
             !c->set.map && (has_gpus(c) || whole);
    if (has_gpus(c) && scheme_of(c) != TACIT_TRSV_3D)
        FAIL(TACIT_UNSUPPORTED,
             "scheme %s: with --device cuda there is 3d alone: take that, or "
             "--device host",
             c->set.scheme);
    if (has_gpus(c) && map_of(c) != TACIT_TRSV_CYCLIC)
        FAIL(TACIT_UNSUPPORTED,
             "map %s: with --device cuda there is cyclic alone: take that, or "
             "--device host",
             c->set.map);
    return TACIT_OK;
}

static tacit_status trsv_run(cli *c)
{
    trsv_job job = {.rows = 0};
    bool alone = false;
    TRY(choose(c, &alone));
    const tacit_status status =
        alone ? trsv_run_gpu(c, &job) : run_on_grid(c, &job);
    trsv_close(&job);
    return status;
}

const cli_command cli_command_trsv = {
    .name = "trsv",
    .operands = "MATRIX|FACTOR [RHS]",
    .summary = "solve with a factor, on a grid of processes or a GPU",
    .about =
        "Factor MATRIX, A = L L' or what --kind says, on rank 0, or with "
        "--given take FACTOR, the L that factor -o wrote or anybody else (with "
        "--permutation, --upper, --diagonal as of factor). Give its blocks to "
        "a grid of Px x Py x Pz processes, and solve there: L, then what goes "
        "between the Pz grids, then U. The report has the time of each and its "
        "messages; the best of --repeat solves counts. Under mpirun, or with "
        "--ranks.\n\nOne process with a GPU solves there unless --device host "
        "or --grid say otherwise: L and U in one kernel, from device "
        "to device. The report has the time of plan and upload, and beside "
        "that "
        "of a solve what copying at full speed would take to read L "
        "twice. Several solve on their GPUs with --device cuda, on a grid of "
        "1 x 1 x Pz unless --grid says otherwise: where --comm is peer L, what "
        "they share, and U are one kernel on each. Px x Py GPUs of a grid, "
        "which only --comm peer has, solve as one would, to the last "
        "bit.\n\nRHS is a vector file, or ones, or "
        "manufactured: b = A x*, "
        "x* "
        "uniform in [-1,1]; or file: the one that the file of MATRIX holds. "
        "Where only a factor is known, or an incomplete one was made, A is its "
        "product. Of --rhs-columns several are solved at once, up to 64.\n\n"
        "In --json each phase has messages, as counted, and messages_foreseen, "
        "those of the plan: one solve of all ranks, with as many columns as "
        "are solved at once.",
    .takes = {1, 2},
    .run = trsv_run,
};

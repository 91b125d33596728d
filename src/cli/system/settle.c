/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/settle.c - checks of the options of the path against each other
 * and against the machine. */
#include "cli/system/problem.h"
#include <stdlib.h>
#include <string.h>

static bool is(const char *value, const char *name)
{
    return value && strcmp(value, name) == 0;
}

bool cli_on_gpu(const cli *c)
{
    return !is(c->device, "host");
}

bool cli_may_be_indefinite(const cli *c)
{
    const tacit_method *method = tacit_method_find(c->set.method);
    return method && method->indefinite;
}

static tacit_status choose_device(cli *c)
{
    const bool must = is(c->set.device, "cuda");
    if (is(c->set.device, "host") || (c->ranks > 1 && !must)) return TACIT_OK;
    const double start = base_seconds();
    const char *reason = cli_gpu_reason();
    c->probe_seconds = base_seconds() - start;
    if (reason && must) FAIL(TACIT_DEVICE, "--device cuda: %s", reason);
    if (!reason) c->device = "cuda";
    else
        cli_log(c, CLI_DETAIL, "device host: cuda is not available: %s",
                reason);
    return TACIT_OK;
}

static tacit_status refuse_to_share(const tacit_sharing *on)
{
    FAIL(TACIT_DEVICE,
         "%d ranks and %d GPU%s on %s: start no more than one for each GPU "
         "there, or say --oversubscribe, which is slow and for tests",
         on->ranks, on->devices, on->devices == 1 ? "" : "s", on->host);
}

/* Ranks that share a GPU slow each other down: that is for tests. The
 * environment may differ on other machines. */
static tacit_status check_sharing(cli *c)
{
    tacit_sharing on = {.size = sizeof on};
    if (c->set.oversubscribe && !cli_on_gpu(c))
        FAIL(TACIT_INVALID, "--oversubscribe belongs to processes that share a "
                            "GPU, and this run is on the host: leave it out");
    if (!cli_on_gpu(c) || c->ranks == 1) return TACIT_OK;
    TRY(tacit_device_sharing(c->world, c->device, &on));
    c->oversubscribed = on.ranks > on.devices;
    if (getenv("TACIT_OVERSUBSCRIBE")) c->set.oversubscribe = true;
    const bool may = !c->oversubscribed || c->set.oversubscribe;
    return tacit_world_agree(c->world, may ? tacit_world_set_oversubscribe(
                                                 c->world, c->set.oversubscribe)
                                           : refuse_to_share(&on));
}

/* On device host: does `value` need a GPU? */
static tacit_status check_needs(const cli *c, const cli_axis *axis,
                                const char *value)
{
    cli_choice row;
    bool needs = false;
    for (int i = 0; value && axis->row(i, &row); i++)
        needs = needs || (row.needs_gpu && is(value, row.name));
    if (!needs || cli_on_gpu(c)) return TACIT_OK;
    const char *reason = "this run is on the host";
    if (!is(c->set.device, "host")) reason = cli_gpu_reason();
    FAIL(TACIT_UNSUPPORTED, "%s %s: needs --device cuda: %s", axis->name, value,
         reason);
}

/* Precisions; the suffixes of a format that add them if they pay, and
 * anyway. */
static const struct {
    const char *precision, *wish, *anyway;
} lows[] = {{"mixed", "mixed", "low32"},
            {"mixed48", "mixed48", "low48"},
            {"auto", "mixed", "low32"}};
enum { LOWS = sizeof lows / sizeof *lows };

static tacit_status check_format(cli *c)
{
    const char *format = c->set.format ? c->set.format : "";
    char low[16] = ""; /* the part between '+' and '@' */
    TRY(tacit_format_check(c->device, c->set.format));
    const char *plus = strchr(format, '+'), *at = strchr(format, '@');
    if (plus)
        snprintf(low, sizeof low, "%.*s", (int)strcspn(plus, "@") - 1,
                 plus + 1);
    if (c->set.reorder && at)
        FAIL(TACIT_INVALID,
             "--format %s says the order: leave out --reorder %s, or '%s'",
             format, c->set.reorder, at);
    if (!low[0]) return TACIT_OK;
    if (c->set.precision)
        FAIL(TACIT_INVALID,
             "--format %s says the precision: leave out "
             "--precision %s, or '+%s'",
             format, c->set.precision, low);
    for (int i = LOWS - 1; i >= 0; i--)
        if (is(low, lows[i].wish) || is(low, lows[i].anyway))
            c->precision = lows[i].precision;
    if (!c->precision)
        FAIL(TACIT_INVALID,
             "--format %s: after '+' stands low32, low48, mixed or mixed48",
             format);
    return TACIT_OK;
}

const char *cli_format_spec(const cli *c, const char *format,
                            char text[CLI_FORMAT])
{
    const char *low = NULL;
    if (!format) format = "auto";
    for (int i = 0; i < LOWS; i++)
        if (is(c->precision, lows[i].precision) && !strchr(format, '+'))
            low = lows[i].wish;
    const char *order = strchr(format, '@') ? NULL : c->set.reorder;
    const int length = (int)strcspn(format, "@");
    snprintf(text, CLI_FORMAT, "%.*s%s%s%s%s%s", length, format, low ? "+" : "",
             low ? low : "", format + length, order ? "@" : "",
             order ? order : "");
    return text;
}

const char *cli_queue_spec(const cli *c, const char *decorators,
                           char text[CLI_SPEC])
{
    const size_t length = strlen(decorators);
    const bool open = length > 0 && decorators[length - 1] != ':';
    const char *link = is(c->set.comm, "auto") ? NULL : c->set.comm;
    snprintf(text, CLI_SPEC, "%s%s%s%s%s", decorators, open ? ":" : "",
             c->device, link ? "@" : "", link ? link : "");
    return text;
}

static tacit_status try_link(const cli *c)
{
    char spec[CLI_SPEC];
    tacit_queue *q = NULL;
    const tacit_status status =
        tacit_queue_create(c->world, cli_queue_spec(c, "", spec), 1, &q);
    tacit_queue_destroy(&q);
    return status;
}

tacit_status cli_each_link(const cli *c,
                           tacit_status (*work)(const cli *with, void *to),
                           void *to)
{
    const char *named = c->set.comm;
    if (c->ranks == 1 || (named && !is(named, "auto"))) return work(c, to);
    const tacit_link *link;
    tacit_status tried = TACIT_OK, status = TACIT_OK;
    int had = 0;
    for (int i = 0; status == TACIT_OK && (link = tacit_link_at(i)); i++) {
        cli with = *c;
        with.set.comm = link->name;
        tried = try_link(&with);
        if (tried < 0) continue;
        had++;
        status = work(&with, to);
    }
    return had > 0 ? status : tried;
}

tacit_status cli_check_direct(const cli *c)
{
    const struct {
        const char *name, *value;
    } none[] = {{"precond", c->set.precond},
                {"steps", c->set.steps},
                {"basis", c->set.basis}};
    if (c->ranks > 1 && cli_on_gpu(c))
        FAIL(TACIT_UNSUPPORTED,
             "method direct is of one process with its GPU, and here are %d: "
             "solve with one, or with --device host, or take --precond amg",
             c->ranks);
    if (c->set.pure)
        FAIL(TACIT_INVALID,
             "method direct has no recurrence: leave out --pure");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (none[i].value)
            FAIL(TACIT_INVALID,
                 "method direct has its factor, and no use for --%s: leave it "
                 "out",
                 none[i].name);
    if (c->set.loop && !is(c->set.loop, "host") && !is(c->set.loop, "auto"))
        FAIL(TACIT_INVALID,
             "method direct is driven by the host: leave out --loop %s",
             c->set.loop);
    if (c->precision && !is(c->precision, "double"))
        FAIL(TACIT_INVALID,
             "method direct is of double precision: leave out --precision %s",
             c->precision);
    return TACIT_OK;
}

/* Commands with a grid of their own read it themselves. */
static tacit_status check_grid(const cli *c)
{
    int grid[3];
    const char *text = cli_named(&c->set, "grid");
    if (!text) return TACIT_OK;
    if (cli_on_gpu(c))
        FAIL(TACIT_UNSUPPORTED,
             "grid %s: a factor that is dealt out over ranks solves on "
             "--device host",
             text);
    return cli_read_grid(c, CLI_GRID_PARTS, grid);
}

tacit_status cli_settle(cli *c)
{
    c->device = "host";
    c->precision = c->set.precision;
    const cli_option *o;
    bool takes_device = false;
    for (int i = 0; (o = cli_option_at(c->set.command, i)) != NULL; i++)
        takes_device = takes_device || is(o->name, "device");
    if (!takes_device || c->set.command == &cli_command_devices)
        return TACIT_OK;
    TRY(tacit_world_agree(c->world, choose_device(c)));
    TRY(check_sharing(c));
    if ((!cli_on_gpu(c) || cli_may_be_indefinite(c)) &&
        is(c->precision, "auto"))
        c->precision = "double";
    TRY(check_needs(c, &cli_axis_loop, c->set.loop));
    TRY(check_needs(c, &cli_axis_precision, c->set.precision));
    TRY(check_grid(c));
    return check_format(c);
}

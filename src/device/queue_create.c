/* SPDX-License-Identifier: BSD-3-Clause
 * device/queue_create.c - a queue from its spec,
 * "decorator(argument):decorator:device", and its end. */
#include "device/decorators.h"
#include "device/queue.h"
#include "device/thread_pool.h"
#include <stdio.h>
#include <string.h>

static const tct_layer_ops *const decorators[] = {
#define X(name) &tct_layer_##name,
    TCT_DECORATORS(X)
#undef X
};
enum { DECORATORS = sizeof decorators / sizeof *decorators };

static const struct {
    tacit_device about;
    const tct_device_ops *ops; /* NULL: not in this build */
} devices[] = {
    {{"host", "the processors of this machine", NULL, false}, &tct_device_host},
    {{"cuda", TCT_HIP ? "an AMD GPU" : "an NVIDIA GPU", TCT_NO_CUDA, true},
#if TCT_HAVE_CUDA
     &tct_device_cuda
#else
     NULL
#endif
    }};
enum { DEVICES = sizeof devices / sizeof *devices };

const tacit_device *tacit_device_at(int i)
{
    return i >= 0 && i < DEVICES ? &devices[i].about : NULL;
}

const tacit_decorator *tacit_decorator_at(int i)
{
    return i >= 0 && i < DECORATORS ? &decorators[i]->about : NULL;
}

static tacit_status find_device(const char *name, const tct_device_ops **out)
{
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(devices[i].about.name, name) == 0) *out = devices[i].ops;
    if (*out) return TACIT_OK;
    FAIL(TACIT_INVALID, "unknown device '%s': this build has 'host'%s", name,
         TCT_HAVE_CUDA ? " and 'cuda'" : "");
}

tct_device_kind tct_kind_of(const char *device)
{
    const tct_device_ops *ops = NULL;
    return find_device(device, &ops) < 0 ? TCT_KIND_GPU : ops->kind;
}

tacit_status tacit_device_probe(const char *name)
{
    char reason[256];
    const tct_device_ops *device = NULL;
    REQUIRE(name != NULL);
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(devices[i].about.name, name) == 0 && devices[i].about.reason)
            FAIL(TACIT_UNSUPPORTED, "%s", devices[i].about.reason);
    TRY(find_device(name, &device));
    if (!device->available || device->available(reason, sizeof reason))
        return TACIT_OK;
    FAIL(TACIT_DEVICE, "%s", reason);
}

static tacit_status push_layer(tacit_queue *q, const tct_layer_ops *ops,
                               const char *argument)
{
    tct_layer *layer = NULL;
    TRY(TCT_ALLOC(1, "a queue", &layer));
    *layer = (tct_layer){.ops = ops, .below = q->top};
    q->top = layer;
    return ops->open ? ops->open(layer, q, argument) : TACIT_OK;
}

/* Split one "name" or "name(argument)" off the front of a spec. */
static tacit_status push_decorator(tacit_queue *q, const char *word, size_t len)
{
    char name[32], argument[32] = "";
    const char *open = memchr(word, '(', len);
    const size_t n = open ? (size_t)(open - word) : len;
    const size_t inner = open ? len - n - 1 : 0;
    if (n >= sizeof name || inner >= sizeof argument ||
        (open && word[len - 1] != ')'))
        FAIL(TACIT_INVALID, "decorator '%.*s': expected name or name(number)",
             (int)len, word);
    memcpy(name, word, n);
    name[n] = '\0';
    if (open) {
        memcpy(argument, open + 1, inner - 1);
        argument[inner - 1] = '\0';
    }
    const char *names[DECORATORS];
    for (int i = 0; i < DECORATORS; i++) {
        names[i] = decorators[i]->about.name;
        if (strcmp(names[i], name) == 0)
            return push_layer(q, decorators[i], argument);
    }
    return tct_unknown("decorator", name, names, DECORATORS);
}

/* Decorators are pushed from the innermost: the last before the device. */
static tacit_status push_decorators(tacit_queue *q, const char *spec,
                                    const char *device)
{
    while (device > spec) {
        const char *end = device - 1, *start = end; /* at ':' */
        while (start > spec && start[-1] != ':') start--;
        TRY(push_decorator(q, start, (size_t)(end - start)));
        device = start;
    }
    return TACIT_OK;
}

/* "name" or "name(ordinal)" */
static tacit_status parse_device(tacit_queue *q, const char *text)
{
    char name[64];
    const size_t n = strcspn(text, "(");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    TRY(find_device(name, &q->device));
    int after = 0;
    if (text[n] == '\0') return TACIT_OK;
    if (q->device->ordinals &&
        sscanf(text + n, "(%d)%n", &q->ordinal, &after) == 1 && after > 0 &&
        text[n + (size_t)after] == '\0' && q->ordinal >= 0)
        return TACIT_OK;
    FAIL(TACIT_INVALID, "device '%s': expected %s%s", text, name,
         q->device->ordinals ? " or, with a number from 0, cuda(1)" : "");
}

tacit_status tct_device_identify(const char *device, int place,
                                 tct_hardware *out)
{
    tacit_queue probe = {.ordinal = -1, .place = place};
    memset(out, 0, sizeof *out);
    TRY(parse_device(&probe, device));
    if (!probe.device->identify) return TACIT_OK;
    return probe.device->identify(&probe, out);
}

static tacit_status build(tacit_queue *q, const char *spec)
{
    TRY(tct_read_timeout(&q->peer_seconds));
    const char *colon = strrchr(spec, ':');
    const char *name = colon ? colon + 1 : spec;
    TRY(parse_device(q, name));
    if (q->on_stream && q->device->kind != TCT_KIND_GPU)
        FAIL(TACIT_UNSUPPORTED,
             "device %s has no stream: a queue on a stream is on a GPU, as in "
             "'cuda'",
             q->device->name);
    if (q->threads < 1 || q->threads > TCT_TEAM_MOST)
        FAIL(TACIT_INVALID, "threads: expected 1 to %d, got %d", TCT_TEAM_MOST,
             q->threads);
    TRY(tct_team_take(q->threads, &q->team));
    q->threads = tct_team_size(q->team);
    TRY(q->device->open(q));
    q->sum = tct_alloc_shared(q, TCT_SUM_MOST * sizeof *q->sum);
    if (!q->sum) FAIL(TACIT_NO_MEMORY, "no memory for a queue");
    TRY(push_layer(q, &tct_base_layer, ""));
    return push_decorators(q, spec, name);
}

tacit_status tct_queue_new(const tacit_queue *prototype, const char *spec,
                           tacit_queue **out)
{
    tacit_queue *q = NULL;
    TRY(TCT_ALLOC(1, "a queue", &q));
    *q = *prototype;
    q->ordinal = -1;
    const tacit_status status = build(q, spec ? spec : "host");
    if (status < 0) tacit_queue_destroy(&q);
    else *out = q;
    return status;
}

void tacit_queue_destroy(tacit_queue **queue)
{
    if (!queue || !*queue) return;
    tacit_queue *q = *queue;
    if (q->uses) {
        tct_refuse_destroy(__func__, "queue");
        return;
    }
    if (q->top) q_enter(q); /* else the device was not opened */
    while (q->top) {
        tct_layer *layer = q->top;
        if (layer->ops->close) layer->ops->close(layer, q);
        q->top = layer->below;
        tct_free(layer);
    }
    for (q->via = 0; q->via < TCT_LINKS_MOST; q->via++) {
        const tct_link *link = q->links[q->via].link;
        if (link && link->close) link->close(q);
    }
    q->link = NULL;
    /* this waits for the device; links have aborted its waits for ranks */
    if (q->sum) tct_free_shared(q, q->sum);
    if (q->device && q->device->close) q->device->close(q);
    tct_team_give(&q->team);
    tct_free(q);
    *queue = NULL;
}

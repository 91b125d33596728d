/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/formats.c - the registry of formats. */
#include "operator/format.h"
#include "operator/pattern/order.h"
#include <stdio.h>
#include <string.h>

static const tct_format *const host_formats[] = {
#define X(name) &tct_format_##name,
    TCT_FORMATS(X)
#undef X
        NULL};

static const tct_format *const gpu_formats[] = {
#if TCT_HAVE_CUDA
#define X(name) &tct_format_##name,
    TCT_GPU_FORMATS(X)
#undef X
#endif
        NULL};

/* A device that this build does not have is a GPU. */
static tct_device_kind kind_of(const char *device)
{
    for (const tct_device_ops *const *d = tct_devices(); *d; d++)
        if (strcmp((*d)->name, device) == 0) return (*d)->kind;
    return TCT_KIND_GPU;
}

const tct_format *const *tct_formats(const char *device)
{
    return kind_of(device) == TCT_KIND_HOST ? host_formats : gpu_formats;
}

void tct_local_free(tct_local *A)
{
    tct_free(A->ptr);
    tct_free(A->col);
    tct_free(A->val);
}

const tct_format *tct_format_find(const char *device, const char *name)
{
    for (const tct_format *const *f = tct_formats(device); *f; f++)
        if (strcmp((*f)->name, name) == 0) return *f;
    return NULL;
}

/* The part of `text` up to one of `ends`, into `out` [16]; what follows it. */
static const char *part(const char *text, const char *ends, char out[16])
{
    const size_t n = strcspn(text, ends);
    snprintf(out, 16, "%.*s", (int)(n < 15 ? n : 15), text);
    return text + n;
}

static tacit_status unknown(const char *device, const char *name)
{
    const char *names[TCT_TRIALS_MOST] = {"auto"};
    size_t count = 1;
    for (const tct_format *const *f = tct_formats(device); *f; f++)
        names[count++] = (*f)->name;
    const char *near = tct_nearest(name, names, count);
    FAIL(TACIT_INVALID, "unknown format '%s' of device %s%s%s%s", name, device,
         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

tacit_status tct_format_parse(const char *device, const char *text,
                              tct_format_wish *out)
{
    *out = (tct_format_wish){.format = "auto", .order = "auto"};
    if (!text) return TACIT_OK;
    const char *rest = part(text, "/+@", out->format);
    if (*rest == '/') rest = part(rest + 1, "+@", out->store);
    if (*rest == '+') rest = part(rest + 1, "@", out->low);
    if (*rest == '@') part(rest + 1, "", out->order);
    if (!out->format[0]) strcpy(out->format, "auto");
    if (!tct_order_is_known(out->order))
        FAIL(TACIT_INVALID, "unknown order '%s': auto, none, rcm or metis",
             out->order);
    if (strcmp(out->format, "auto") != 0 &&
        !tct_format_find(device, out->format))
        return unknown(device, out->format);
    if (strcmp(out->format, "auto") == 0 && out->store[0] &&
        strcmp(out->store, "auto") != 0 && strcmp(out->store, "f64") != 0)
        FAIL(TACIT_UNSUPPORTED,
             "format '%s': name the format that is to store values so: "
             "sell/%s, bsell/%s",
             text, out->store, out->store);
    if (kind_of(device) == TCT_KIND_HOST && (out->store[0] || out->low[0]))
        FAIL(TACIT_UNSUPPORTED,
             "format '%s': how values are stored is chosen on a GPU only",
             text);
    return TACIT_OK;
}

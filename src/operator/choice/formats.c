/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/formats.c - the registry of formats. */
#include "operator/format.h"
#include "operator/pattern/order.h"
#include <stdio.h>
#include <string.h>

static const tct_format *const formats[] = {
#define X(name) &tct_format_##name,
    TCT_FORMATS(X)
#if TCT_HAVE_CUDA
        TCT_GPU_FORMATS(X)
#endif
#undef X
};

static bool is_device(const char *name)
{
    for (int i = 0; tacit_device_at(i); i++)
        if (strcmp(tacit_device_at(i)->name, name) == 0) return true;
    return false;
}

const tct_format *tct_format_at(const char *device, int i)
{
    if (i < 0 || !is_device(device)) return NULL;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (formats[k]->kind == tct_kind_of(device) && i-- == 0)
            return formats[k];
    return NULL;
}

const tacit_format *tacit_format_at(const char *device, int i)
{
    const tct_format *f = device ? tct_format_at(device, i) : NULL;
    return f ? &f->about : NULL;
}

void tct_local_free(tct_local *A)
{
    if (!A->lent) TCT_FREE(A->ptr, A->col, A->val);
}

const tct_format *tct_format_find(const char *device, const char *name)
{
    const tct_format *f;
    for (int i = 0; (f = tct_format_at(device, i)) != NULL; i++)
        if (strcmp(f->about.name, name) == 0) break;
    return f;
}

/* Copy the part of `text` up to one of `ends` into `out` [16]; returns the
 * rest. */
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
    const tct_format *f;
    for (int i = 0; (f = tct_format_at(device, i)) != NULL; i++)
        names[count++] = f->about.name;
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
    if (tct_kind_of(device) == TCT_KIND_HOST && (out->store[0] || out->low[0]))
        FAIL(TACIT_UNSUPPORTED,
             "format '%s': how values are stored is chosen on a GPU only",
             text);
    return TACIT_OK;
}

tacit_status tacit_format_check(const char *device, const char *format)
{
    tct_format_wish wish;
    REQUIRE(device != NULL);
    return tct_format_parse(device, format, &wish);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/registries.h - all registries of the library as one list: the text of a
 * row, and the search for a row by name. */
#ifndef TESTS_REGISTRIES_H
#define TESTS_REGISTRIES_H
#include "gpu.h"
#include "io/io.h"

/* What every row has. */
typedef struct listed {
    const char *name, *summary, *reason;
} listed;

#define LIST(kind, why)                                              \
    static inline listed kind##_row(int i)                           \
    {                                                                \
        const tacit_##kind *x = tacit_##kind##_at(i);                \
        return x ? (listed){x->name, x->summary, why} : (listed){0}; \
    }
LIST(link, x->reason)
LIST(device, x->reason)
LIST(decorator, NULL)
LIST(gallery, NULL)
LIST(partitioner, x->reason)
LIST(order, NULL)
LIST(loop, x->reason)
LIST(method, NULL)
LIST(precond, x->reason)
LIST(file_format, x->reason)
LIST(stencil_shape, NULL)
LIST(stencil_way, x->reason)
#undef LIST

static inline listed format_row(int i)
{
    const tacit_format *f = tacit_format_at(TEST_DEVICE, i);
    return f ? (listed){f->name, f->summary, NULL} : (listed){0};
}

static inline listed setting_row(int i)
{
    const tacit_setting *s = tacit_solver_setting(i);
    return s ? (listed){s->name, s->summary, NULL} : (listed){0};
}

/* --- asking by name ------------------------------------------------------- */

/* What names are asked of. */
typedef struct asked {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    tacit_solver *s;
} asked;

static inline void open_asked(asked *a)
{
    a->q = open_queue(TEST_DEVICE);
    a->m = gallery_matrix("poisson2d:6");
    OK(tacit_operator_create(a->q, a->m, "csr@none", &a->A));
    OK(tacit_solver_create(a->q, a->A, "sstep", &a->s)); /* has all settings */
}

static inline void close_asked(asked *a)
{
    tacit_solver_destroy(&a->s);
    tacit_operator_destroy(&a->A);
    tacit_matrix_destroy(&a->m);
    tacit_queue_destroy(&a->q);
}

static inline tacit_status ask_queue(const char *form, const char *word)
{
    char spec[128];
    tacit_queue *q = NULL;
    snprintf(spec, sizeof spec, form, word);
    const tacit_status status = tacit_queue_create(test_world(), spec, 1, &q);
    assert_int_equal(q == NULL, status < 0);
    tacit_queue_destroy(&q);
    return status;
}

static inline tacit_status ask_link(asked *a, const char *word)
{
    (void)a;
    return ask_queue(TEST_DEVICE "@%s", word);
}
static inline tacit_status ask_device(asked *a, const char *word)
{
    (void)a;
    return tacit_device_probe(word);
}
static inline tacit_status ask_decorator(asked *a, const char *word)
{
    (void)a;
    return ask_queue("%s:" TEST_DEVICE, word);
}
static inline tacit_status ask_gallery(asked *a, const char *word)
{
    char name[128];
    tacit_matrix *m = NULL;
    (void)a;
    for (int i = 0; tacit_gallery_at(i); i++) /* what it makes may be large */
        if (strcmp(tacit_gallery_at(i)->name, word) == 0)
            return tacit_gallery_find(word) ? TACIT_OK : TACIT_INVALID;
    snprintf(name, sizeof name, "%s%s", word, strchr(word, ':') ? "" : ":3");
    const tacit_status status = tacit_matrix_open(test_world(), name, NULL, &m);
    assert_null(m);
    return status;
}
static inline tacit_status ask_partitioner(asked *a, const char *word)
{
    return tacit_matrix_partition(a->m, word, "/no/such/file");
}
static inline tacit_status ask_order(asked *a, const char *word)
{
    char text[128];
    (void)a;
    snprintf(text, sizeof text, "csr@%s", word);
    return tacit_format_check(TEST_DEVICE, text);
}
static inline tacit_status ask_format(asked *a, const char *word)
{
    (void)a;
    return tacit_format_check(TEST_DEVICE, word);
}
static inline tacit_status ask_loop(asked *a, const char *word)
{
    return tacit_solver_set_loop(a->s, word);
}
static inline tacit_status ask_method(asked *a, const char *word)
{
    tacit_solver *s = NULL;
    const tacit_status status = tacit_solver_create(a->q, a->A, word, &s);
    assert_int_equal(s == NULL, status < 0);
    assert_int_equal(tacit_method_find(word) == NULL, status < 0);
    tacit_solver_destroy(&s);
    return status;
}
static inline tacit_status ask_precond(asked *a, const char *word)
{
    tacit_operator *M = NULL;
    const tacit_status status =
        tacit_precond_create_of(a->A, a->m, word, NULL, &M);
    tacit_operator_destroy(&M);
    return status;
}
/* A value that is one of any setting's: no setting's is another's. */
static inline tacit_status ask_setting(asked *a, const char *word)
{
    static const char *const values[] = {"1", "host",     "newton", "off",
                                         "b", "residual", "none"};
    for (int i = 0; i < 6; i++)
        if (tacit_solver_set(a->s, word, values[i]) == TACIT_OK)
            return TACIT_OK;
    return tacit_solver_set(a->s, word, values[6]);
}
static inline tacit_status ask_file_format(asked *a, const char *word)
{
    const tct_write_options named = {.format = word};
    (void)a;
    const tacit_status status =
        tct_check_writable(test_world(), "/tmp", &named, false);
    return status == TACIT_IO ? TACIT_OK : status; /* it is a folder */
}

/* A field of a word's shape, or stepped in a word's way: of one process, on the
 * host. */
static inline tacit_status ask_field(const char *shape, const char *way)
{
    tacit_world *w = NULL;
    tacit_queue *q = NULL;
    tacit_field *f = NULL;
    tacit_stencil s = {.size = sizeof s, .shape = shape, .n = {3, 3, 3}};
    const tacit_field_options o = {.size = sizeof o, .steps = 1, .way = way};
    tacit_field_result r = {.size = sizeof r};
    s.n[2] = strchr(shape, '3') ? 3 : 1;
    OK(tacit_world_self(&w));
    OK(tacit_queue_create(w, "host", 1, &q));
    tacit_status status = tacit_field_create(q, &s, &f);
    if (status >= 0 && way) status = tacit_field_run(f, &o, &r);
    tacit_field_destroy(&f);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&w);
    return status;
}
static inline tacit_status ask_stencil_shape(asked *a, const char *word)
{
    (void)a;
    return ask_field(word, NULL);
}
static inline tacit_status ask_stencil_way(asked *a, const char *word)
{
    (void)a;
    return ask_field("star2d1r", word);
}

/* `nearest`: whoever misspells a name is told the nearest one. */
static const struct registry {
    const char *what, *first;
    listed (*at)(int i);
    tacit_status (*ask)(asked *a, const char *word);
    int least;
    bool nearest;
} registries[] = {
    {"link", "self", link_row, ask_link, 2, true},
    {"device", "host", device_row, ask_device, 2, false},
    {"decorator", "count", decorator_row, ask_decorator, 4, true},
    {"gallery", "poisson1d", gallery_row, ask_gallery, 30, true},
    {"partitioner", "metis", partitioner_row, ask_partitioner, 3, true},
    {"order", "none", order_row, ask_order, 3, false},
    {"loop", "host", loop_row, ask_loop, 3, false},
    {"method", "cg", method_row, ask_method, 4, true},
    {"precond", "none", precond_row, ask_precond, 2, true},
    {"setting", "loop", setting_row, ask_setting, 5, true},
    {"file format", "tacit", file_format_row, ask_file_format, 8, false},
    {"format", "csr", format_row, ask_format, 3, true},
    {"stencil", "star2d1r", stencil_shape_row, ask_stencil_shape, 4, true},
    {"way", "copy", stencil_way_row, ask_stencil_way, 10, true},
};
enum { REGISTRIES = sizeof registries / sizeof *registries };

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * tests/doc_tables.c - makes docs/guide/tables.md from the library's
 * registries.
 *
 *     doc_tables PAGE            print the page
 *     doc_tables --check PAGE    1 and the first different line, or 0
 *
 * A build without CUDA lacks kernels of loop resident and formats of a GPU:
 * that section is copied from PAGE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

#define CUDA_BEGINS "<!-- from a build with CUDA -->\n"
#define CUDA_ENDS   "<!-- end -->\n"

static bool has_cuda(void)
{
    const tacit_device *d;
    for (int i = 0; (d = tacit_device_at(i)) != NULL; i++)
        if (d->gpu) return d->reason == NULL;
    return false;
}

static const char *yes(bool it_is)
{
    return it_is ? "yes" : "";
}

/* In a cell "|" would end it. */
static void put_cell(FILE *f, const char *text)
{
    for (; *text; text++) fprintf(f, *text == '|' ? "\\|" : "%c", *text);
}

static void heading(FILE *f, const char *title, const char *columns)
{
    fprintf(f, "\n## %s\n| %s |\n|", title, columns);
    for (const char *c = columns - 1; c; c = strchr(c + 1, '|'))
        fputs("---|", f);
    fputc('\n', f);
}

/* --- what a solver iterates by -------------------------------------------- */

/* "2", or of several iterations that share a sum "1 in 8". */
static const char *sums_of(const tacit_method *m)
{
    static char text[32];
    if (m->steps) snprintf(text, sizeof text, "%d in s", m->reductions);
    else snprintf(text, sizeof text, "%d", m->reductions);
    return text;
}

static const char *vectors_of(const tacit_method *m)
{
    static char text[48];
    if (m->steps)
        snprintf(text, sizeof text, "%d and 4 s + %d", m->vectors,
                 m->panel_vectors - 4 * m->steps);
    else snprintf(text, sizeof text, "%d", m->vectors);
    return text;
}

/* Is `word` one of those in `list`, such as "cg, single"? */
static bool listed(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at; at = strstr(at, ", ")) {
        if (*at == ',') at += 2;
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || !at[n])) return true;
    }
    return false;
}

static void methods(FILE *f)
{
    const tacit_method *m;
    const char *resident = tacit_precond_at(0)->resident;
    heading(f, "Methods",
            "method | what it is | products | sums | hidden by products | "
            "vectors besides b and x | more with M | M may vary | loops");
    for (int i = 0; (m = tacit_method_at(i)) != NULL; i++)
        fprintf(f,
                "| `%s` | %s | %d | %s | %s | %s | %d | %s | host, graph%s |\n",
                m->name, m->summary, m->products, sums_of(m), yes(m->hidden),
                vectors_of(m), m->precond_vectors, yes(m->varying_precond),
                listed(resident, m->name) ? ", resident" : "");
    fputs("\nAll are per iteration; s is its key `steps`. `direct` is not "
          "in this list: it has a factor and no iteration.\n",
          f);
}

static void loops(FILE *f)
{
    const tacit_loop *loop;
    heading(f, "Loops", "loop | what it is | needs a GPU");
    for (int i = 0; (loop = tacit_loop_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s | %s |\n", loop->name, loop->summary,
                yes(loop->needs_gpu));
}

static void links(FILE *f)
{
    const tacit_link *link;
    heading(f, "Links (`--comm`)", "link | what it is | loops");
    for (int i = 0; (link = tacit_link_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s | %s |\n", link->name, link->summary,
                link->loops);
}

static void preconditioners(FILE *f)
{
    const tacit_precond *p;
    heading(f, "Preconditioners and loops",
            "preconditioner | what it is | made of the entries | loops "
            "host and graph | loop resident");
    for (int i = 0; (p = tacit_precond_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s | %s | every method | %s%s |\n", p->name,
                p->summary, yes(p->of_matrix),
                p->resident ? p->resident : "none",
                p->one_gpu ? ", on one GPU" : "");
    fputs("\nLoop host runs on every device, the others on a GPU.\n", f);
}

/* "ic0, direct" */
static void put_owners(FILE *f, const tacit_precond_option *o)
{
    const tacit_precond *p;
    const tacit_precond_option *other;
    const char *between = "";
    for (int k = 0; (p = tacit_precond_at(k)) != NULL; k++)
        for (int i = 0; (other = tacit_precond_option_at(p->name, i)); i++)
            if (other == o) {
                fprintf(f, "%s`%s`", between, p->name);
                between = ", ";
            }
}

/* Is `o`, of preconditioner `k`, also of one before it? */
static bool is_listed(const tacit_precond_option *o, int k)
{
    const tacit_precond_option *other;
    while (k-- > 0)
        for (int i = 0;
             (other = tacit_precond_option_at(tacit_precond_at(k)->name, i)) !=
             NULL;
             i++)
            if (other == o) return true;
    return false;
}

static void put_values(FILE *f, const tacit_precond_option *o)
{
    const char *const *choice = o->choices;
    if (o->type == TACIT_OPTION_INTEGER)
        fprintf(f, "%d to %d", o->least, o->most);
    else if (!choice) put_cell(f, o->value);
    for (; choice && *choice; choice++)
        fprintf(f, "%s`%s`", choice == o->choices ? "" : ", ", *choice);
}

static void precond_options(FILE *f)
{
    const tacit_precond *p;
    const tacit_precond_option *o;
    heading(f, "Options of preconditioners",
            "preconditioner | option | values | default | what it is");
    for (int k = 0; (p = tacit_precond_at(k)) != NULL; k++)
        for (int i = 0; (o = tacit_precond_option_at(p->name, i)); i++) {
            if (is_listed(o, k)) continue;
            fputs("| ", f);
            put_owners(f, o);
            fprintf(f, " | `%s` | ", o->name);
            put_values(f, o);
            fprintf(f, " | %s | %s |\n", o->initial ? o->initial : "",
                    o->summary);
        }
    fputs("\nThey are set by `tacit_precond_options_set`, and by the program "
          "as in `--precond 'amg(cycle=w,degree=3)'`.\n",
          f);
}

/* --- what a matrix is kept in --------------------------------------------- */

static void formats(FILE *f, const char *device)
{
    const tacit_format *x;
    char title[64];
    snprintf(title, sizeof title, "Formats on %s", device);
    heading(f, title, "format | what it is");
    for (int i = 0; (x = tacit_format_at(device, i)) != NULL; i++)
        fprintf(f, "| `%s` | %s |\n", x->name, x->summary);
}

static void orders(FILE *f)
{
    const tacit_order *o;
    heading(f, "Orders (`--reorder`)", "order | what it is");
    for (int i = 0; (o = tacit_order_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s |\n", o->name, o->summary);
}

static void partitioners(FILE *f)
{
    const tacit_partitioner *p;
    heading(f, "Partitioners", "partitioner | what it is");
    for (int i = 0; (p = tacit_partitioner_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s |\n", p->name, p->summary);
}

/* "matrix, vector, vectors" */
static const char *takes(bool matrix, bool vector, bool vectors)
{
    static char text[48];
    snprintf(text, sizeof text, "%s%s%s%s%s", matrix ? "matrix" : "",
             matrix && vector ? ", " : "", vector ? "vector" : "",
             (matrix || vector) && vectors ? ", " : "",
             vectors ? "vectors" : "");
    return text;
}

static void files(FILE *f)
{
    const tacit_file_format *x;
    heading(f, "File formats", "format | what it is | reads | writes");
    for (int i = 0; (x = tacit_file_format_at(i)) != NULL; i++) {
        fprintf(f, "| `%s` | %s | %s |", x->name, x->summary,
                takes(x->reads_matrix, x->reads_vector, x->reads_vectors));
        fprintf(f, " %s |\n",
                takes(x->writes_matrix, x->writes_vector, x->writes_vectors));
    }
}

static void settings(FILE *f)
{
    const tacit_setting *s;
    heading(f, "Settings of a solver (`tacit_solver_set`)",
            "name | what it is");
    for (int i = 0; (s = tacit_solver_setting(i)) != NULL; i++) {
        fprintf(f, "| `%s` | ", s->name);
        put_cell(f, s->summary);
        fputs(" |\n", f);
    }
}

static void decorators(FILE *f)
{
    const tacit_decorator *d;
    heading(f, "Decorators (`--decorate`)", "decorator | what it does");
    for (int i = 0; (d = tacit_decorator_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s |\n", d->name, d->summary);
}

static void stencils(FILE *f)
{
    const tacit_stencil_shape *s;
    const tacit_stencil_way *w;
    heading(f, "Stencils (`tacit jacobi`)",
            "stencil | neighbours | dimensions | points");
    for (int i = 0; (s = tacit_stencil_shape_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s | %d | %d |\n", s->name, s->summary,
                s->dimensions, s->points);
    heading(f, "Ways to step a grid (`--way`)", "way | what it is");
    for (int i = 0; (w = tacit_stencil_way_at(i)) != NULL; i++)
        fprintf(f, "| `%s` | %s |\n", w->name, w->summary);
}

/* --- what a build with CUDA alone knows ----------------------------------- */

static void kernels(FILE *f)
{
    const tacit_method *m;
    char text[768];
    heading(f, "Kernels of loop resident",
            "method | barriers, formats: stores");
    for (int i = 0; (m = tacit_method_at(i)) != NULL; i++)
        if (tacit_method_resident(m->name, text, sizeof text))
            fprintf(f, "| `%s` | %s |\n", m->name, text);
}

/* The section as it is in `page`, "" if it is not in it. */
static void copied(FILE *f, const char *page)
{
    const char *from = strstr(page, CUDA_BEGINS);
    const char *to = from ? strstr(from, CUDA_ENDS) : NULL;
    if (!to) return;
    from += strlen(CUDA_BEGINS);
    fprintf(f, "%.*s", (int)(to - from), from);
}

static void of_gpus(FILE *f, const char *page)
{
    fputs("\n" CUDA_BEGINS, f);
    if (has_cuda()) {
        formats(f, "cuda");
        kernels(f);
    } else {
        copied(f, page);
    }
    fputs(CUDA_ENDS, f);
}

/* --- the page ------------------------------------------------------------- */

static void write_page(FILE *f, const char *page)
{
    fputs("# Tables\n"
          "The program `doc_tables`, built with the tests, makes this page "
          "from the lists of the library:\n"
          "`build/host/tests/doc_tables docs/guide/tables.md >new && mv new "
          "docs/guide/tables.md`. A build with CUDA\n"
          "also makes the formats and kernels of GPUs. `tacit devices` shows "
          "what one build and one machine have, with\n"
          "the reason for what is missing; `tacit info gallery` lists the "
          "generated matrices.\n",
          f);
    methods(f);
    loops(f);
    links(f);
    preconditioners(f);
    precond_options(f);
    formats(f, "host");
    of_gpus(f, page);
    orders(f);
    partitioners(f);
    files(f);
    settings(f);
    decorators(f);
    stencils(f);
}

/* All of `f`, as text to be freed; NULL: it could not be read. */
static char *text_of(FILE *f)
{
    if (!f || fseek(f, 0, SEEK_END) != 0) return NULL;
    const long size = ftell(f);
    char *text = size < 0 ? NULL : calloc(1, (size_t)size + 1);
    rewind(f);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) {
        free(text);
        return NULL;
    }
    return text;
}

/* 0, or 1 and the first line of `page` that is not as it ought to be. */
static int compare(const char *page, const char *ought)
{
    int line = 1;
    size_t start = 0, i = 0;
    for (; page[i] && page[i] == ought[i]; i++)
        if (page[i] == '\n') {
            line++;
            start = i + 1;
        }
    if (page[i] == ought[i]) return 0;
    printf("docs/guide/tables.md:%d is out of date; it ought to be:\n%.*s\n"
           "run: doc_tables docs/guide/tables.md >new && mv new "
           "docs/guide/tables.md\n",
           line, (int)strcspn(ought + start, "\n"), ought + start);
    return 1;
}

int main(int argc, char **argv)
{
    const bool checks = argc > 2 && strcmp(argv[1], "--check") == 0;
    FILE *in = argc > 1 ? fopen(argv[argc - 1], "r") : NULL;
    FILE *out = tmpfile();
    char *page = text_of(in);
    if (!out) return 5;
    write_page(out, page ? page : "");
    char *ought = text_of(out);
    int status = ought ? 0 : 5;
    if (ought && checks) status = compare(page ? page : "", ought);
    else if (ought) fputs(ought, stdout);
    if (in) fclose(in);
    fclose(out);
    free(page);
    free(ought);
    return status;
}

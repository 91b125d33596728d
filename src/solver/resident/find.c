/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/find.c - the kernel for a run, or why there is none; which
 * there are. */
#include "solver/resident/find.h"
#include "solver/resident/factor.h"
#include "solver/resident/halo.h"
#include "solver/resident/resident.h"
#include "solver/resident/sstep.h"
#include <stdio.h>
#include <string.h>

static const tct_resident_kernel *const kernels[] = {
    tct_resident_cg, tct_resident_single, tct_resident_pipe_pr,
    tct_resident_sstep};

static const tct_resident_kernel *kernel_called(const char *method)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i]->method->about.name, method) == 0)
            return kernels[i];
    return NULL;
}

const tct_resident_kernel *tct_resident_of(const tct_method *method,
                                           const tacit_operator *M)
{
    const tct_rows *rows = tct_precond_view(M).rows;
    if (rows) {
        const tct_resident_kernel *K =
            &tct_resident_cg_factor[tct_rows_kernel_of(rows)->near];
        return method == K->method ? K : NULL;
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i]->method == method) return &kernels[i][M ? 1 : 0];
    return NULL;
}

const tct_gpu_slices *tct_resident_slices(const tct_block *B)
{
    const tct_gpu_block *g = (const tct_gpu_block *)(const void *)B;
    return g && g->gpu == &tct_gpu_slices_ops
               ? (const tct_gpu_slices *)(const void *)B
               : NULL;
}

/* --- which kernels? ------------------------------------------------------- */

/* Stores of the kernels for blocks of `b`, "f64 f32", appended to `text`. */
static void list_stores(tct_resident_code code, int b, char *text, size_t size)
{
    static const char *const stores[] = {[GPU_F64] = "f64",
                                         [GPU_F32] = "f32",
                                         [GPU_DICT8] = "dict8",
                                         [GPU_DICT16] = "dict16",
                                         [GPU_F48] = "low48"};
    for (size_t s = 0; s < sizeof stores / sizeof *stores; s++) {
        const size_t at = strlen(text);
        if (code(b, (int)s, GPU_ANY))
            snprintf(text + at, size - at, " %s", stores[s]);
    }
}

/* Formats and stores of a method's kernels, appended to `text`. */
static void list_formats(tct_resident_code code, char *text, size_t size)
{
    for (int b = 1; b <= GPU_BLOCK_MOST; b++) {
        const size_t at = strlen(text);
        if (!code(b, GPU_F64, GPU_ANY)) continue;
        if (b == 1)
            snprintf(text + at, size - at, "%s sell, sell32:",
                     code(b, GPU_F64, GPU_GRID) ? " stencil;" : "");
        else snprintf(text + at, size - at, "; bsell %dx%d:", b, b);
        list_stores(code, b, text, size);
    }
}

/* --- can R have one? ------------------------------------------------------ */

/* The kernel for blocks as `A` has them: of its walk, or of the next that takes
 * its slices, too. *walk: which. NULL: none. */
static const void *code_of(tct_resident_code of, const tct_gpu_arrays *A,
                           int32_t *walk)
{
    const void *code = NULL;
    *walk = A->walk;
    if (A->walk == GPU_GRID) return of(A->b, A->store, GPU_GRID);
    for (; *walk >= GPU_ANY; --*walk)
        if ((code = of(A->b, A->store, *walk)) != NULL) break;
    return code;
}

static tct_resident_code code_in(const tct_run *R, const tct_resident_kernel *K)
{
    return R->q->ranks > 1 ? K->with_peers : K->kernel;
}

int32_t tct_resident_walk(const tct_run *R, const tct_resident_kernel *K,
                          const tct_gpu_arrays *A)
{
    int32_t walk;
    (void)code_of(code_in(R, K), A, &walk);
    return walk;
}

const void *tct_resident_code_for(const tct_run *R, char *reason, size_t size)
{
    const tct_resident_kernel *K = tct_resident_of(
        R->policy->now ? R->policy->now : R->system->method, R->M);
    const tct_resident_view M = tct_precond_view(R->M);
    if (!K) {
        snprintf(reason, size, "there is no kernel of %s%s%s%s",
                 R->system->method->about.name, M.rows ? " with " : "",
                 M.rows ? R->M->ops->name : "",
                 M.rows ? ": take method cg, or precond jacobi" : "");
        return NULL;
    }
    if (R->M && !M.diagonal && !M.rows) {
        snprintf(reason, size,
                 "only for a preconditioner that is a diagonal, jacobi, and of "
                 "cg for ic0");
        return NULL;
    }
    if (!R->A->local) {
        snprintf(reason, size,
                 "only for a matrix, and this operator is a function");
        return NULL;
    }
    if (!tct_peer_halo_fits(R, K, reason, size)) return NULL;
    const tct_gpu_slices *B = tct_resident_slices(R->A->local);
    if (!B) {
        snprintf(reason, size,
                 "only for the formats sell32, sell, bsell and "
                 "stencil");
        return NULL;
    }
    if (B->d.long_rows > 0 && !B->base.base.persistent) {
        snprintf(reason, size, "not for rows of more than %d entries",
                 GPU_ROW_MOST);
        return NULL;
    }
    int32_t walk;
    const tct_resident_code of = code_in(R, K);
    const void *code = code_of(of, &B->d, &walk);
    if (!code) {
        snprintf(reason, size,
                 "no kernel of %s%s%s for this format and its store; for",
                 K->method->about.name, R->M ? " with " : "",
                 R->M ? R->M->ops->name : "");
        list_formats(of, reason, size);
    }
    return code;
}
void tct_resident_say_barriers(const tct_resident_kernel *K, char *text,
                               size_t size)
{
    if (K->method->blocks)
        snprintf(text, size, "s + %d barriers for s iterations", K->barriers);
    else snprintf(text, size, "%d barriers an iteration", K->barriers);
}

bool tct_resident_kernels(const char *method, char *text, size_t size)
{
    const tct_resident_kernel *K = kernel_called(method);
    if (!K) return false;
    tct_resident_say_barriers(K, text, size);
    size_t at = strlen(text);
    snprintf(text + at, size - at, ";");
    list_formats(K[0].kernel, text, size);
    at = strlen(text);
    snprintf(text + at, size - at, "; with jacobi,");
    list_formats(K[1].kernel, text, size);
    if (K->sent == 0) return true;
    at = strlen(text);
    if (K->method == tct_resident_cg_factor[0].method) {
        snprintf(text + at, size - at, "; with ic0 or ic1,");
        list_formats(tct_resident_cg_factor[0].kernel, text, size);
        at = strlen(text);
    }
    snprintf(text + at, size - at, "; on several GPUs,");
    list_formats(K[0].with_peers, text, size);
    return true;
}

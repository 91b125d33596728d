/* SPDX-License-Identifier: BSD-3-Clause
 * loop/loop.h - time loops: a loop repeats an iteration, of which it knows only
 * that it enqueues operations and that a check of sampled scalars ends it.
 *
 * Loop host enqueues each iteration. Loop graph records the operations of some
 * iterations and replays them. Loop persistent starts a kernel that iterates by
 * itself. On a device that runs asynchronously a check sees its sample some
 * iterations late; the iterations enqueued meanwhile are run. */
#ifndef TCT_LOOP_LOOP_H
#define TCT_LOOP_LOOP_H
#include "device/queue.h"

/* The decision of a check. */
typedef enum tct_verdict {
    TCT_GO_ON,
    TCT_ENDS, /* the loop ends, and the iterations enqueued meanwhile count */
    TCT_RESTS /* it has ended: the later iterations have changed nothing */
} tct_verdict;

/* Iterations as one kernel that stays on the device. */
typedef struct tct_loop_kernel {
    /* Start it for at most `checks` checks, on all ranks or on none; false: it
     * did not start. The kernel posts the sample of each check. Collective. */
    bool (*launch)(void *of, int64_t checks);
    /* All samples of this kernel have been taken. OPTIONAL */
    void (*landed)(void *of);
} tct_loop_kernel;

/* An iteration; `of` is its data. All ranks enqueue the same operations. */
typedef struct tct_iteration {
    /* Enqueue iteration k, from 0 on. Its operations depend on k by k modulo
     * the period at most. */
    void (*enqueue)(void *of, int64_t k);
    /* Judge a sample: k iterations precede it. Ranks decide alike. */
    tct_verdict (*check)(void *of, int64_t k, const tct_sample *c);
    int period; /* iterations that are recorded together; 0: TCT_PERIOD */
    const tct_loop_kernel *kernel; /* OPTIONAL: no loop persistent */

    /* The rest is OPTIONAL. A text enqueues several iterations in place of
     * `enqueue`: it counts them in L->k, asks tct_loop_check after each and
     * returns when that is true. True: the loop has paused, and the text is to
     * be called again. */
    bool (*text)(void *of);
    /* Would the recorded operations be enqueued again? */
    bool (*same)(void *of);
    /* A recording begins, or ends: operations in it have not run. */
    void (*records)(void *of, bool begins);
    void (*replayed)(void *of, int64_t times);
} tct_iteration;

enum { TCT_PERIOD = 10 };

typedef struct tct_loop tct_loop;

/* A kind of loop. */
typedef struct tct_loop_kind {
    const char *name;
    tct_starter needs; /* the starter of messages that it needs */
    /* Make L->state, and free it. OPTIONAL: nothing */
    tacit_status (*open)(tct_loop *L);
    void (*close)(tct_loop *L);
    void (*iterate)(tct_loop *L);
    /* Its form: "while node, 10 iterations", into `text` [size]. OPTIONAL */
    void (*describe)(const tct_loop *L, char *text, size_t size);
} tct_loop_kind;

extern const tct_loop_kind tct_loop_host, tct_loop_graph, tct_loop_persistent;

struct tct_loop {
    const tct_iteration *iteration;
    void *of; /* the iteration's data */
    tacit_queue *q;
    /* The scalars that checks sample, on the device. A device ends replays by
     * itself where C_RR is not above C_TARGET2, or C_BAD is set. */
    double *c;
    int64_t k, most; /* iterations so far; their limit */
    int lag;         /* samples enqueued, not taken: the most */
    int period;      /* checks that are recorded together; < 0: none */
    /* If a check stands for a block of iterations: the most per block. The
     * sample has the number since iteration `since`. 0: one per check */
    int block;
    int64_t since;
    int64_t left_from; /* first iteration of loop host, -1: none */
    /* the loop's own */
    const tct_loop_kind *kind;
    bool (*look)(tct_loop *L);
    void *state;
    int ahead; /* samples enqueued, not taken */
    /* OPTIONAL: runs the next iterations of a text as a kernel, until the loop
     * ends or pauses */
    void (*stay)(void *of);
};

/* --- a loop of its own ---------------------------------------------------- */

/* Make a loop on `q` for the iteration, its data `of` and the scalars `c`
 * [TCT_SCALARS], all of which it borrows. Its lag is that of expensive
 * iterations. Collective.
 * Errors      UNSUPPORTED (the device, its link or the iteration cannot),
 *             NO_MEMORY. */
tacit_status tct_loop_open(tct_loop *L, const tct_loop_kind *kind,
                           const tct_iteration *I, tacit_queue *q, void *of,
                           double *c);
/* Iterate until a check ends the loop, or L->k is `most`. Collective.
 * Errors      those of the queue, on all ranks. */
tacit_status tct_loop_run(tct_loop *L, int64_t most);
void tct_loop_close(tct_loop *L);

/* --- for texts and kinds -------------------------------------------------- */

/* The check of a text, after L->k iterations. True: the loop has ended, or goes
 * on by another call of the text. */
static inline bool tct_loop_check(tct_loop *L)
{
    return L->look(L);
}

/* host.c. Judge a sample of iteration L->k. */
tct_verdict tct_loop_judge(tct_loop *L, const tct_sample *c);
/* The check of a device that runs behind the CPU. */
bool tct_loop_check_lagged(tct_loop *L);
/* Take and judge pending samples until `leave` are left. True if the loop has
 * ended: L->k is then the iteration of the deciding check. */
bool tct_loop_take(tct_loop *L, int leave);
/* Enqueue the iterations, with `look` as their check. */
void tct_loop_enqueue(tct_loop *L, bool (*look)(tct_loop *L));

/* persistent.c. Run the iteration's kernel until the loop ends. If
 * `check_first`, the first check precedes the first iteration. */
void tct_loop_stay(tct_loop *L, const tct_loop_kernel *K, bool check_first);
/* Are the queues of all ranks still well? If one rank does not start its
 * kernel, the others' wait without end. Collective, unless all ranks know. */
bool tct_loop_is_well(tacit_queue *q);

#endif

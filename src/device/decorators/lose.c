/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/lose.c - loses a rank: lose(rank,k) kills the process of
 * that rank at the k-th sum or exchange, lose(rank,k,seconds) makes it hang for
 * that time. */
#include "device/decorators.h"
#include <signal.h>
#include <string.h>
#include <time.h>

typedef struct {
    int64_t left;   /* sums and exchanges left; < 0: not this rank */
    double seconds; /* 0: kill */
} lose_state;

/* Parse the next number of `text` and advance; false: none. */
static bool next_number(char **text, double *out)
{
    char *comma = strchr(*text, ',');
    if (comma) *comma = '\0';
    const bool is = tct_parse_double(*text, out) && *out >= 0.0;
    *text = comma ? comma + 1 : *text + strlen(*text);
    return is;
}

static tacit_status lose_open(tct_layer *self, tacit_queue *q,
                              const char *argument)
{
    char text[32] = "", *at = text;
    double rank = 0.0, k = 0.0, seconds = 0.0;
    strncpy(text, argument, sizeof text - 1);
    bool valid = next_number(&at, &rank) && next_number(&at, &k);
    if (valid && *at) valid = next_number(&at, &seconds) && seconds > 0.0;
    valid = valid && !*at && k >= 1.0 && k <= 1e15 && rank < q->ranks;
    if (!valid || rank != (double)(int)rank || k != (double)(int64_t)k)
        FAIL(TACIT_INVALID,
             "lose(%s): expected lose(rank,k), with a rank from 0 to %d and k "
             "from 1, or lose(rank,k,seconds)",
             argument, q->ranks - 1);
    lose_state *s = NULL;
    TRY(TCT_ALLOC(1, "lose", &s));
    *s = (lose_state){.left = q->rank == (int)rank ? (int64_t)k : -1,
                      .seconds = seconds};
    self->state = s;
    return TACIT_OK;
}

bool (*tct_lose_over)(void);

static void hang(double seconds)
{
    const double end = tct_seconds() + seconds;
    while (tct_seconds() < end && !(tct_lose_over && tct_lose_over()))
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void lose_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    lose_state *s = self->state;
    const bool counts =
        op->code == TCT_SUM_BEGIN || op->code == TCT_EXCHANGE_BEGIN;
    if (counts && s->left > 0 && --s->left == 0) {
        if (s->seconds > 0.0) hang(s->seconds);
        else raise(SIGKILL);
    }
    tct_below_submit(self, q, op);
}

static void lose_close(tct_layer *self, tacit_queue *q)
{
    (void)q;
    tct_free(self->state);
}

const tct_layer_ops tct_layer_lose = {
    .about = {"lose",
              "lose(rank,k[,seconds]): that rank dies, or is silent for so "
              "long, at its k-th sum or exchange"},
    .open = lose_open,
    .submit = lose_submit,
    .close = lose_close,
};

/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/directory.c - look up and set table entries of other ranks, by
 * number. Nothing is sorted: requests are grouped by owner, and answers return
 * to the same slots. */
#include "comm/setup/directory.h"
#include "comm/setup/alltoall.h"
#include <string.h>

enum { WORD = 8 };

/* Ask for the first numbers that fit in a round; `*asked` counts them. */
static tacit_status ask_round(tct_alltoall *alltoall, const int64_t *starts,
                              const char *table, int64_t count,
                              const int64_t *numbers, char *answers,
                              int64_t *asked)
{
    const int size = alltoall->world->size;
    const int64_t mine = starts[alltoall->world->rank];
    const int64_t n = count < alltoall->room ? count : alltoall->room;
    tct_alltoall_begin(alltoall);
    for (int64_t k = 0; k < n; k++)
        alltoall->to[tct_owner(starts, size, numbers[k])]++;
    tct_alltoall_address(alltoall);
    for (int64_t k = 0; k < n; k++) {
        const int owner = tct_owner(starts, size, numbers[k]);
        memcpy(tct_alltoall_slot(alltoall, owner), &numbers[k], WORD);
    }
    TRY(tct_alltoall_send(alltoall));
    for (int64_t k = 0; k < alltoall->received; k++) {
        char *word = alltoall->in + WORD * k;
        int64_t number;
        memcpy(&number, word, WORD);
        memcpy(word, table + WORD * (number - mine), WORD);
    }
    TRY(tct_alltoall_answer(alltoall));
    for (int64_t k = 0; k < n; k++) {
        const int owner = tct_owner(starts, size, numbers[k]);
        memcpy(answers + WORD * k, tct_alltoall_slot(alltoall, owner), WORD);
    }
    *asked = n;
    return TACIT_OK;
}

static tacit_status ask_all(tct_alltoall *alltoall, const int64_t *starts,
                            const char *table, int64_t count,
                            const int64_t *numbers, char *answers)
{
    int64_t done = 0, asked = 0;
    for (bool more = true; more; done += asked) {
        TRY(ask_round(alltoall, starts, table, count - done, numbers + done,
                      answers + WORD * done, &asked));
        TRY(tct_any(alltoall->world, done + asked < count, &more));
    }
    return TACIT_OK;
}

tacit_status tct_directory_get(tacit_world *world, const int64_t *starts,
                               const void *table, int64_t count,
                               const int64_t *numbers, void *answers)
{
    bool any;
    TRY(tct_any(world, count > 0, &any));
    if (!any) return TACIT_OK;
    tct_alltoall alltoall;
    tacit_status status = tct_alltoall_open(&alltoall, world, WORD, count);
    if (status >= 0)
        status = ask_all(&alltoall, starts, table, count, numbers, answers);
    tct_alltoall_close(&alltoall);
    return status;
}

/* By rows, it is a table of words. */
tacit_status tct_directory_get_rows(tacit_world *world, const int64_t *starts,
                                    int64_t width, const void *table,
                                    int64_t count, const int64_t *numbers,
                                    void *answers)
{
    const char *what = "rows of other ranks";
    int64_t *first = NULL, *word = NULL;
    tacit_status status = TCT_ALLOC(world->size + 1, what, &first);
    if (status >= 0) status = TCT_ALLOC(count * width, what, &word);
    status = tct_agree(world, status);
    for (int r = 0; status >= 0 && r <= world->size; r++)
        first[r] = starts[r] * width;
    for (int64_t e = 0; status >= 0 && e < count * width; e++)
        word[e] = numbers[e / width] * width + e % width;
    if (status >= 0)
        status = tct_directory_get(world, first, table, count * width, word,
                                   answers);
    TCT_FREE(first, word);
    return status;
}

typedef struct {
    int64_t number;
    char word[WORD];
} message;

static tacit_status tell_round(tct_alltoall *alltoall, const int64_t *starts,
                               char *table, int64_t n, const int64_t *numbers,
                               const char *values)
{
    const int size = alltoall->world->size;
    const int64_t mine = starts[alltoall->world->rank];
    tct_alltoall_begin(alltoall);
    for (int64_t k = 0; k < n; k++)
        alltoall->to[tct_owner(starts, size, numbers[k])]++;
    tct_alltoall_address(alltoall);
    for (int64_t k = 0; k < n; k++) {
        message *l =
            tct_alltoall_slot(alltoall, tct_owner(starts, size, numbers[k]));
        l->number = numbers[k];
        memcpy(l->word, values + WORD * k, WORD);
    }
    TRY(tct_alltoall_send(alltoall));
    const message *in = (const message *)(const void *)alltoall->in;
    for (int64_t k = 0; k < alltoall->received; k++)
        memcpy(table + WORD * (in[k].number - mine), in[k].word, WORD);
    return TACIT_OK;
}

static tacit_status tell_all(tct_alltoall *alltoall, const int64_t *starts,
                             char *table, int64_t count, const int64_t *numbers,
                             const char *values)
{
    int64_t done = 0;
    for (bool more = true; more;) {
        const int64_t left = count - done;
        const int64_t n = left < alltoall->room ? left : alltoall->room;
        TRY(tell_round(alltoall, starts, table, n, numbers + done,
                       values + WORD * done));
        done += n;
        TRY(tct_any(alltoall->world, done < count, &more));
    }
    return TACIT_OK;
}

tacit_status tct_directory_set(tacit_world *world, const int64_t *starts,
                               void *table, int64_t count,
                               const int64_t *numbers, const void *values)
{
    tct_alltoall alltoall;
    tacit_status status =
        tct_alltoall_open(&alltoall, world, sizeof(message), count);
    if (status >= 0)
        status = tell_all(&alltoall, starts, table, count, numbers, values);
    tct_alltoall_close(&alltoall);
    return status;
}

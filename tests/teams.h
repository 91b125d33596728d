/* SPDX-License-Identifier: BSD-3-Clause
 * tests/teams.h - teams of 1 to TEAM_MOST threads for a group of tests. */
#ifndef TESTS_TEAMS_H
#define TESTS_TEAMS_H
#include "device/team.h"

enum { TEAM_MOST = 3 };
static tct_team *team_of[TEAM_MOST + 1]; /* by their number of threads */

static int open_teams(void **state)
{
    (void)state;
    for (int n = 1; n <= TEAM_MOST; n++)
        if (tct_team_create(n, &team_of[n]) != TACIT_OK) return 1;
    return 0;
}

static int close_teams(void **state)
{
    (void)state;
    for (int n = 1; n <= TEAM_MOST; n++) tct_team_destroy(&team_of[n]);
    return 0;
}

#endif

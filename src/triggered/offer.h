/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/offer.h - a request on its way to be matched: its memory, what it
 * offers, and what comes of the pairs. The caller holds the communicator's
 * lock. */
#ifndef TCT_TRIGGERED_OFFER_H
#define TCT_TRIGGERED_OFFER_H
#include "triggered/triggered.h"

/* Take the memory of a request's ends. `tct_offer_undo` gives it back.
 * Errors      NO_MEMORY. */
tacit_status tct_offer_prepare(tacit_trigger_comm *c, tacit_trigger_request *r);
void tct_offer_undo(tacit_trigger_comm *c, tacit_trigger_request *r);
/* List its ends to be offered; one without ends is matched. */
void tct_offer_begin(tacit_trigger_comm *c, tacit_trigger_request *r);
/* The offer of `e` has gone to its peer; the offer of its other end is in
 * `theirs`. A request is matched when both are so of all its ends: then its
 * peers need nothing more of this rank. */
void tct_offer_sent(tacit_trigger_comm *c, tct_trigger_end *e);
void tct_offer_paired(tacit_trigger_comm *c, tct_trigger_end *e);

#endif

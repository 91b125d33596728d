/* SPDX-License-Identifier: BSD-3-Clause
 * device/symbols.h - the symbols of the functions called q_*: the static library
 * shows them to the linker of every program, so that they begin with tct_. */
#ifndef TCT_DEVICE_SYMBOLS_H
#define TCT_DEVICE_SYMBOLS_H

#define q_alloc             tct_q_alloc
#define q_batch             tct_q_batch
#define q_blocks            tct_q_blocks
#define q_call              tct_q_call
#define q_combine           tct_q_combine
#define q_exchange_begin    tct_q_exchange_begin
#define q_exchange_end      tct_q_exchange_end
#define q_fail              tct_q_fail
#define q_forget            tct_q_forget
#define q_free              tct_q_free
#define q_gather            tct_q_gather
#define q_get               tct_q_get
#define q_get_in            tct_q_get_in
#define q_gram              tct_q_gram
#define q_is_deserted       tct_q_is_deserted
#define q_lose_rank         tct_q_lose_rank
#define q_memory_pool       tct_q_memory_pool
#define q_mix               tct_q_mix
#define q_multiply          tct_q_multiply
#define q_multiply_add      tct_q_multiply_add
#define q_multiply_add_pass tct_q_multiply_add_pass
#define q_multiply_block    tct_q_multiply_block
#define q_multiply_dots     tct_q_multiply_dots
#define q_multiply_pass     tct_q_multiply_pass
#define q_own_status        tct_q_own_status
#define q_prolong           tct_q_prolong
#define q_put               tct_q_put
#define q_put_in            tct_q_put_in
#define q_record_begin      tct_q_record_begin
#define q_record_end        tct_q_record_end
#define q_refuse            tct_q_refuse
#define q_replay            tct_q_replay
#define q_replayed          tct_q_replayed
#define q_restrict          tct_q_restrict
#define q_run_pass          tct_q_run_pass
#define q_run_pass_in       tct_q_run_pass_in
#define q_sample            tct_q_sample
#define q_sampled           tct_q_sampled
#define q_status            tct_q_status
#define q_step              tct_q_step
#define q_sum               tct_q_sum
#define q_sum_begin         tct_q_sum_begin
#define q_sum_end           tct_q_sum_end
#define q_tell              tct_q_tell

#endif

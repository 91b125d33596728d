/* SPDX-License-Identifier: BSD-3-Clause
 * device/relax.h - a pause in a loop that waits for another thread. */
#ifndef TCT_DEVICE_RELAX_H
#define TCT_DEVICE_RELAX_H

/* Between two looks at what another thread is to change. */
static inline void tct_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file account.h
 * What a rank did in one launch, and how long it took. Seconds.
 */
#ifndef ISO_APP_ACCOUNT_H
#define ISO_APP_ACCOUNT_H

#include "experiments/app/program.h"

enum { ISO_MAX_KEPT = 1000000 };

typedef struct iso_account {
    double begin, end; /**< of its first and last iteration, own clock */
    double computing;  /**< elapsed time of all computations */
    double asked, delivered;
    long iterations;
    double *phases; /**< time in each */
    double *each;   /**< of each iteration, the first ISO_MAX_KEPT of them */
    long room, switches;
} iso_account_t;

void iso_account_init(iso_account_t *account, const iso_app_t *app);
void iso_account_free(iso_account_t *account);

/** Forget all, and begin. */
void iso_account_begin(iso_account_t *account, const iso_app_t *app,
                       double now);

/** The end of an iteration. */
static inline void iso_account_iteration(iso_account_t *account, double seconds)
{
    if (account->iterations < account->room) {
        account->each[account->iterations] = seconds;
    }
    account->iterations++;
}

/** The end of the launch. */
void iso_account_end(iso_account_t *account, double now);

#endif

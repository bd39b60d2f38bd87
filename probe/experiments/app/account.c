/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "experiments/app/account.h"

#include "base/check.h"

#include <string.h>
#include <sys/resource.h>

static long switches_so_far(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

void iso_account_init(iso_account_t *account, const iso_app_t *app)
{
    memset(account, 0, sizeof(*account));
    account->phases = iso_calloc((size_t)app->phase_count, sizeof(double));
    account->room = app->background || app->iterations > ISO_MAX_KEPT
                        ? ISO_MAX_KEPT
                        : app->iterations;
    account->each = iso_calloc((size_t)account->room, sizeof(double));
}

void iso_account_free(iso_account_t *account)
{
    free(account->phases);
    free(account->each);
}

void iso_account_begin(iso_account_t *account, const iso_app_t *app, double now)
{
    account->computing = account->asked = account->delivered = 0;
    account->iterations = 0;
    memset(account->phases, 0, (size_t)app->phase_count * sizeof(double));
    account->switches = switches_so_far();
    account->begin = now;
}

void iso_account_end(iso_account_t *account, double now)
{
    account->end = now;
    account->switches = switches_so_far() - account->switches;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "runfile/clock_set.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "machine/system_clock.h"
#include "runfile/record.h"

/** A clock adjusted by NTP may differ by this much. */
static const double SECONDS = 5e-3, PART = 2e-3;

static double by_mpi, steady;

void iso_clock_set_begin(void)
{
    by_mpi = MPI_Wtime();
    steady = iso_clock_read(CLOCK_MONOTONIC);
}

void iso_clock_set_warn(const iso_context_t *ctx)
{
    if (ctx->clock.simulated) {
        return;
    }
    double lasted = iso_clock_read(CLOCK_MONOTONIC) - steady;
    double set = MPI_Wtime() - by_mpi - lasted;
    bool doubtful =
        fabs(set) > SECONDS + PART * lasted || iso_clock_state.large > 0;
    double mine[3] = {doubtful, set, iso_clock_state.large};
    double *all = ISO_NEW(double, (size_t)ctx->size * 3);
    iso_plain_gather(ctx->control, mine, sizeof(mine), all);
    int count = 0, first = 0;
    for (int r = ctx->size - 1; ctx->rank == 0 && r >= 0; r--) {
        if (all[3 * r] > 0) {
            count++;
            first = r;
        }
    }
    if (count > 0) {
        char others[40] = "";
        if (count > 1) {
            snprintf(others, sizeof(others), " and of %d more", count - 1);
        }
        iso_record_warning(
            ctx->record, "clock-set",
            "clock of rank %d%s was set while measuring (total %+.3g s, back "
            "%.0f times); single times are unreliable",
            first, others, all[3 * first + 1], all[3 * first + 2]);
    }
    free(all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "global_clock/offset.h"

#include "base/check.h"
#include "messages/idle.h"

#include <math.h>

/* Far from the tags that experiments use for their own messages. */
enum { TAG_CALL = 2001, TAG_READY, TAG_ASK, TAG_ANSWER };

/** At most this many times --sync-exchanges. */
enum { MAX_EXCHANGES = 20 };

/** A round trip is good if it is at most this times the shortest ever. */
static const double GOOD = 2;

double iso_reading_now(const iso_reading_t *reading)
{
    double t = iso_now();
    double shown = t + reading->ahead + reading->fast * (t - reading->since);
    return reading->line ? iso_drift_other(reading->line, shown) : shown;
}

/** Call the partner, and move to another processor if possible. */
static void call(const iso_context_t *ctx, int partner)
{
    bool simulated = ctx->clock.simulated;
    iso_location_t mine = iso_host_locate(ctx->node, simulated), theirs;
    MPI_CHECK(MPI_Send(&mine, ISO_LOCATION_INTS, MPI_INT, partner, TAG_CALL,
                       ctx->control));
    iso_idle_recv(ctx, &theirs, ISO_LOCATION_INTS, MPI_INT, partner, TAG_READY);
    iso_host_avoid(ctx->node, simulated, &theirs);
}

static void be_called(const iso_context_t *ctx, int partner)
{
    iso_location_t theirs;
    iso_idle_recv(ctx, &theirs, ISO_LOCATION_INTS, MPI_INT, partner, TAG_CALL);
    iso_location_t mine =
        iso_host_avoid(ctx->node, ctx->clock.simulated, &theirs);
    MPI_CHECK(MPI_Send(&mine, ISO_LOCATION_INTS, MPI_INT, partner, TAG_READY,
                       ctx->control));
}

iso_offset_t iso_offset_ask(const iso_context_t *ctx, int partner,
                            const iso_reading_t *reading, long exchanges,
                            double shortest)
{
    iso_offset_t best = {.bound = INFINITY};
    long done = 0, since_best = 0;
    int more = 1;
    call(ctx, partner);
    while (more) {
        double theirs;
        double before = iso_reading_now(reading);
        MPI_CHECK(MPI_Send(&more, 1, MPI_INT, partner, TAG_ASK, ctx->control));
        MPI_CHECK(MPI_Recv(&theirs, 1, MPI_DOUBLE, partner, TAG_ANSWER,
                           ctx->control, MPI_STATUS_IGNORE));
        double after = iso_reading_now(reading);
        since_best++;
        if ((after - before) / 2 < best.bound) {
            best.bound = (after - before) / 2;
            best.own = before + best.bound;
            best.seconds = theirs - best.own;
            since_best = 0;
        }
        more = ++done < MAX_EXCHANGES * exchanges &&
               (since_best < exchanges || 2 * best.bound > GOOD * shortest);
    }
    MPI_CHECK(MPI_Send(&more, 1, MPI_INT, partner, TAG_ASK, ctx->control));
    return best;
}

void iso_offset_answer(const iso_context_t *ctx, int partner,
                       const iso_reading_t *reading)
{
    be_called(ctx, partner);
    for (;;) {
        int more;
        MPI_CHECK(MPI_Recv(&more, 1, MPI_INT, partner, TAG_ASK, ctx->control,
                           MPI_STATUS_IGNORE));
        if (!more) {
            return;
        }
        double mine = iso_reading_now(reading);
        MPI_CHECK(
            MPI_Send(&mine, 1, MPI_DOUBLE, partner, TAG_ANSWER, ctx->control));
    }
}

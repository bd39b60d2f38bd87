/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/latency_map/round_trip.h"

#include "base/check.h"
#include "messages/modes.h"
#include "sampling/coordinator.h"

#include <math.h>

/* Far from the tags that experiments use for their own messages. */
enum { TAG_CHUNK = 1001, TAG_ARRIVALS, TAG_BACK };

enum { NO_MORE = -1 };

/** Seconds that samples in a row may take, and rank 0 may hear nothing. */
static const double SILENT = 1;

/** What the measuring rank says before a run of operations: the index of the
 *  size, or NO_MORE, how many samples, and how many operations in each. */
enum { SIZE, SAMPLES, BATCH, CHUNK_INTS };

void iso_round_trip_init(iso_round_trip_t *trip, const iso_context_t *ctx,
                         const iso_sizes_t *sizes, bool one_way)
{
    memset(trip, 0, sizeof(*trip));
    trip->ctx = ctx;
    trip->sizes = sizes;
    trip->deadline = INFINITY;
    trip->course = iso_transfer_course();
    trip->ways_known = one_way || trip->course == ISO_EACH_WAY;
    iso_transfer_init(&trip->transfer, ctx, iso_sizes_largest(sizes));
    for (int k = 0; k < sizes->count; k++) {
        iso_sampler_init(&trip->samplers[k], ctx->clock.simulated);
        for (int way = 0; trip->ways_known && way < ISO_WAYS; way++) {
            iso_sampler_init(&trip->ways[way][k], ctx->clock.simulated);
        }
    }
    trip->sync = one_way ? iso_sync_create(ctx) : NULL;
}

void iso_round_trip_free(iso_round_trip_t *trip)
{
    for (int k = 0; k < trip->sizes->count; k++) {
        iso_sampler_free(&trip->samplers[k]);
        for (int way = 0; way < ISO_WAYS; way++) {
            iso_sampler_free(&trip->ways[way][k]);
        }
    }
    if (trip->sync) {
        iso_sync_free(trip->sync);
    }
    free(trip->back);
    free(trip->transfer.starts);
    free(trip->transfer.arrivals);
    iso_transfer_free(&trip->transfer);
}

/** Make room for the stamps of one-way times. */
static void open_stamps(iso_round_trip_t *trip, int samples, int trips)
{
    iso_transfer_t *t = &trip->transfer;
    t->starts = iso_resized(t->starts, samples * sizeof(double));
    t->arrivals = iso_resized(t->arrivals, trips * sizeof(double));
}

/** Lead, and void samples in which the clock was set back. */
static void lead(iso_round_trip_t *trip, int samples, int batch,
                 double *seconds)
{
    long steps = iso_clock_state.steps;
    iso_transfer_lead(&trip->transfer, samples, batch, seconds);
    for (int k = 0; trip->course == ISO_ROUND_TRIP && k < samples; k++) {
        seconds[k] *= 2; /* it is of one message */
    }
    iso_clock_void(seconds, samples, steps);
}

static void ping(iso_round_trip_t *trip, int partner, int samples, int batch,
                 double *seconds)
{
    iso_transfer_t *t = &trip->transfer;
    MPI_Comm control = trip->ctx->control;
    if (trip->sync) {
        open_stamps(trip, samples, samples * batch);
    }
    lead(trip, samples, batch, seconds);
    if (trip->sync) {
        MPI_CHECK(MPI_Recv(t->arrivals, samples * batch, MPI_DOUBLE, partner,
                           TAG_ARRIVALS, control, MPI_STATUS_IGNORE));
    }
    if (trip->course == ISO_EACH_WAY) {
        trip->back = iso_resized(trip->back, samples * sizeof(double));
        iso_transfer_meet(t, false);
        iso_transfer_answer(t, (long)samples * batch);
        MPI_CHECK(MPI_Recv(trip->back, samples, MPI_DOUBLE, partner, TAG_BACK,
                           control, MPI_STATUS_IGNORE));
    }
}

static void pong(iso_round_trip_t *trip, int partner, int samples, int batch)
{
    iso_transfer_t *t = &trip->transfer;
    int trips = samples * batch;
    if (trip->sync) {
        open_stamps(trip, 1, trips);
    }
    iso_transfer_answer(t, trips);
    if (trip->sync) {
        for (int k = 0; k < trips; k++) {
            t->arrivals[k] = iso_sync_global(trip->sync, t->arrivals[k]);
        }
        MPI_CHECK(MPI_Send(t->arrivals, trips, MPI_DOUBLE, partner,
                           TAG_ARRIVALS, trip->ctx->control));
    }
    if (trip->course == ISO_EACH_WAY) {
        trip->back = iso_resized(trip->back, samples * sizeof(double));
        iso_transfer_meet(t, true);
        lead(trip, samples, batch, trip->back);
        MPI_CHECK(MPI_Send(trip->back, samples, MPI_DOUBLE, partner, TAG_BACK,
                           trip->ctx->control));
    }
}

/** Keep the times of both directions of samples that are not void. */
static void keep_ways(iso_round_trip_t *trip, int size, int samples, int batch,
                      double *seconds)
{
    const double *starts = trip->transfer.starts;
    const double *arrivals = trip->transfer.arrivals;
    const iso_mode_t *mode = trip->transfer.mode;
    /* What a rank reads goes from its partner to it. */
    int moved = mode->reads && !mode->writes ? ISO_REVERSE : ISO_FORWARD;
    for (int k = 0; k < samples; k++) {
        double times[ISO_WAYS];
        if (trip->sync) {
            double end = starts[k] + seconds[k] * batch;
            times[ISO_FORWARD] =
                arrivals[k * batch] - iso_sync_global(trip->sync, starts[k]);
            times[ISO_REVERSE] = iso_sync_global(trip->sync, end) -
                                 arrivals[(k + 1) * batch - 1];
        } else {
            times[moved] = seconds[k];
            times[!moved] = trip->back[k];
            bool valid = seconds[k] >= 0 && trip->back[k] >= 0;
            seconds[k] = valid ? (seconds[k] + trip->back[k]) / 2 : -1;
        }
        for (int way = 0; way < ISO_WAYS && seconds[k] >= 0; way++) {
            iso_sampler_t *kept = &trip->ways[way][size];
            kept->seconds[kept->n++] = times[way];
        }
    }
}

/** Hand-shake: the partner is ready when it is about to receive. */
static void agree(iso_round_trip_t *trip, int partner, int size, int samples,
                  int batch)
{
    int chunk[CHUNK_INTS] = {size, samples, batch};
    MPI_CHECK(MPI_Send(chunk, CHUNK_INTS, MPI_INT, partner, TAG_CHUNK,
                       trip->ctx->control));
    if (size != NO_MORE) {
        iso_transfer_set(&trip->transfer, partner, trip->sizes->bytes[size]);
        trip->shared_cpu[size] = iso_transfer_meet(&trip->transfer, true);
    }
}

void iso_round_trip_answer(iso_round_trip_t *trip, int partner)
{
    for (;;) {
        int chunk[CHUNK_INTS];
        MPI_CHECK(MPI_Recv(chunk, CHUNK_INTS, MPI_INT, partner, TAG_CHUNK,
                           trip->ctx->control, MPI_STATUS_IGNORE));
        if (chunk[SIZE] == NO_MORE) {
            return;
        }
        iso_transfer_set(&trip->transfer, partner,
                         trip->sizes->bytes[chunk[SIZE]]);
        iso_transfer_meet(&trip->transfer, false);
        pong(trip, partner, chunk[SAMPLES], chunk[BATCH]);
    }
}

/** Make untimed operations, and see how many of them fill a sample. */
static void warm_up(iso_round_trip_t *trip, int partner, int size)
{
    double seconds = 0;
    int trips = iso_sampler_warmup();
    long steps = iso_clock_state.steps - 1;
    /* Of a time in which the clock was set back, no batch can follow. */
    for (int k = 0; k < ISO_MAX_WARMUPS && steps != iso_clock_state.steps;
         k++) {
        steps = iso_clock_state.steps;
        agree(trip, partner, size, 1, trips);
        ping(trip, partner, 1, trips, &seconds);
    }
    seconds *= trip->transfer.window;
    int batch = iso_clock_batch(&trip->ctx->clock, seconds);
    trip->batch[size] = batch;
    trip->each[size] = seconds * batch;
}

/** As many samples as rank 0 may be silent for, and as the deadline leaves
 *  room for; at least one. */
static int in_time(const iso_round_trip_t *trip, int size, int samples)
{
    const iso_context_t *ctx = trip->ctx;
    double room = ctx->clock.simulated ? INFINITY : SILENT;
    room = fmax(0, fmin(room, trip->deadline - iso_now()));
    double each = trip->each[size];
    return each * samples <= room ? samples : (int)fmax(1, room / each);
}

/** Let rank 0 know, now and then, that this pair is at work. */
static void go_on(iso_round_trip_t *trip)
{
    const iso_context_t *ctx = trip->ctx;
    if (ctx->rank == 0 || ctx->clock.simulated || trip->unconducted) {
        return;
    }
    double now = iso_now();
    if (now - trip->said > SILENT) {
        iso_coordinator_heartbeat(ctx);
        trip->said = now;
    }
}

/** Take some more samples of one size. @return how many; 0: enough */
static int sample(iso_round_trip_t *trip, int partner, int size)
{
    iso_sampler_t *sampler = &trip->samplers[size];
    int samples = iso_sampler_wants(sampler);
    bool over = sampler->n > 0 && iso_now() >= trip->deadline;
    trip->lowered[size] = samples > 0 && over;
    if (samples == 0 || over) {
        return 0;
    }
    if (sampler->n == 0) {
        warm_up(trip, partner, size);
    }
    samples = in_time(trip, size, samples);
    int batch = trip->batch[size];
    double *seconds = sampler->seconds + sampler->n;
    double start = iso_now();
    agree(trip, partner, size, samples, batch);
    ping(trip, partner, samples, batch, seconds);
    if (trip->ways_known) {
        keep_ways(trip, size, samples, batch, seconds);
    }
    sampler->n += iso_clock_valid(seconds, samples);
    double spent = iso_now() - start;
    sampler->spent += spent;
    trip->each[size] = spent / samples;
    go_on(trip);
    return samples;
}

void iso_round_trip_measure(iso_round_trip_t *trip, int partner,
                            iso_round_trip_result_t *results)
{
    int taken;
    trip->said = iso_now();
    for (int size = 0; size < trip->sizes->count; size++) {
        iso_sampler_reset(&trip->samplers[size]);
        trip->ways[ISO_FORWARD][size].n = trip->ways[ISO_REVERSE][size].n = 0;
    }
    do { /* sizes take turns, so that a slow moment does not hit one of them */
        taken = 0;
        for (int size = 0; size < trip->sizes->count; size++) {
            taken += sample(trip, partner, size);
        }
    } while (taken > 0);
    agree(trip, partner, NO_MORE, 0, 0);
    for (int size = 0; size < trip->sizes->count; size++) {
        results[size].summary = iso_sampler_summary(&trip->samplers[size]);
        for (int way = 0; way < ISO_WAYS; way++) {
            results[size].ways[way] =
                trip->ways_known
                    ? iso_sampler_summary(&trip->ways[way][size]).median
                    : 0;
        }
        results[size].batch = trip->batch[size];
        results[size].shared_cpu = trip->shared_cpu[size];
        results[size].lowered = trip->lowered[size];
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/latency_map/round_trip.h"

#include "base/check.h"
#include "messages/staged.h"
#include "sampling/coordinator.h"

#include <math.h>

/* Far from the tags that experiments use for their own messages. */
enum { TAG_CHUNK = 1001, TAG_ARRIVALS };

enum { NO_MORE = -1 };

/** Seconds that samples in a row may take, and rank 0 may hear nothing. */
static const double SILENT = 1;

/** What the measuring rank says before a run of round trips: the index of the
 *  size, or NO_MORE, and how many. */
enum { SIZE, TRIPS, CHUNK_INTS };

void iso_round_trip_init(iso_round_trip_t *trip, const iso_context_t *ctx,
                         const iso_sizes_t *sizes, bool one_way)
{
    size_t room = iso_sizes_largest(sizes) + 1;
    memset(trip, 0, sizeof(*trip));
    trip->ctx = ctx;
    trip->sizes = sizes;
    trip->deadline = INFINITY;
    iso_transfer_open(&trip->transfer, ctx, room, room, 1);
    for (int k = 0; k < sizes->count; k++) {
        iso_sampler_init(&trip->samplers[k], ctx->clock.simulated);
        for (int way = 0; one_way && way < ISO_WAYS; way++) {
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
    free(trip->transfer.starts);
    free(trip->transfer.arrivals);
    iso_transfer_free(&trip->transfer);
}

/** Prepare for messages of a size. */
static const iso_mode_t *prepare(iso_round_trip_t *trip, int size)
{
    iso_message_free(&trip->transfer.message);
    iso_message_create(&trip->transfer.message, trip->sizes->bytes[size], 0);
    return iso_mode_find("blocking");
}

/** Make room for the stamps of one-way times. */
static void open_stamps(iso_round_trip_t *trip, int samples, int trips)
{
    iso_transfer_t *t = &trip->transfer;
    t->starts = iso_resized(t->starts, samples * sizeof(double));
    t->arrivals = iso_resized(t->arrivals, trips * sizeof(double));
}

static void ping(iso_round_trip_t *trip, int partner, int size, int samples,
                 int batch, double *seconds)
{
    if (trip->sync) {
        open_stamps(trip, samples, samples * batch);
    }
    prepare(trip, size)->lead(&trip->transfer, samples, batch, seconds);
    if (trip->sync) {
        MPI_CHECK(MPI_Recv(trip->transfer.arrivals, samples * batch, MPI_DOUBLE,
                           partner, TAG_ARRIVALS, trip->ctx->control,
                           MPI_STATUS_IGNORE));
    }
}

static void pong(iso_round_trip_t *trip, int partner, int size, int trips)
{
    if (trip->sync) {
        open_stamps(trip, 1, trips);
    }
    prepare(trip, size)->answer(&trip->transfer, trips);
    if (trip->sync) {
        double *arrivals = trip->transfer.arrivals;
        for (int k = 0; k < trips; k++) {
            arrivals[k] = iso_sync_global(trip->sync, arrivals[k]);
        }
        MPI_CHECK(MPI_Send(arrivals, trips, MPI_DOUBLE, partner, TAG_ARRIVALS,
                           trip->ctx->control));
    }
}

/** Keep the one-way times of samples that are not void. */
static void keep_ways(iso_round_trip_t *trip, int size, int samples, int batch,
                      const double *seconds)
{
    const double *starts = trip->transfer.starts;
    const double *arrivals = trip->transfer.arrivals;
    for (int k = 0; k < samples; k++, arrivals += batch) {
        double end = starts[k] + seconds[k] * batch;
        double times[ISO_WAYS] = {
            arrivals[0] - iso_sync_global(trip->sync, starts[k]),
            iso_sync_global(trip->sync, end) - arrivals[batch - 1]};
        for (int way = 0; way < ISO_WAYS && seconds[k] >= 0; way++) {
            iso_sampler_t *kept = &trip->ways[way][size];
            kept->seconds[kept->n++] = times[way];
        }
    }
}

/** Hand-shake: the partner is ready when it is about to receive. */
static void agree(iso_round_trip_t *trip, int partner, int size, int trips)
{
    int chunk[CHUNK_INTS] = {size, trips};
    MPI_CHECK(MPI_Send(chunk, CHUNK_INTS, MPI_INT, partner, TAG_CHUNK,
                       trip->ctx->control));
    if (size != NO_MORE) {
        trip->transfer.partner = trip->transfer.source = partner;
        trip->shared_cpu[size] = iso_transfer_meet(&trip->transfer, true);
    }
}

void iso_round_trip_answer(iso_round_trip_t *trip, int partner)
{
    const iso_context_t *ctx = trip->ctx;
    for (;;) {
        int chunk[CHUNK_INTS];
        MPI_CHECK(MPI_Recv(chunk, CHUNK_INTS, MPI_INT, partner, TAG_CHUNK,
                           ctx->control, MPI_STATUS_IGNORE));
        if (chunk[SIZE] == NO_MORE) {
            return;
        }
        trip->transfer.partner = trip->transfer.source = partner;
        iso_transfer_meet(&trip->transfer, false);
        pong(trip, partner, chunk[SIZE], chunk[TRIPS]);
    }
}

/** Make untimed round trips, and see how many of them fill a sample. */
static void warm_up(iso_round_trip_t *trip, int partner, int size)
{
    double seconds = 0;
    int trips = iso_sampler_warmup();
    long steps = iso_clock_state.steps - 1;
    /* Of a time in which the clock was set back, no batch can follow. */
    for (int k = 0; k < ISO_MAX_WARMUPS && steps != iso_clock_state.steps;
         k++) {
        steps = iso_clock_state.steps;
        agree(trip, partner, size, trips);
        ping(trip, partner, size, 1, trips, &seconds);
    }
    int batch = iso_clock_batch(&trip->ctx->clock, seconds / trips);
    trip->batch[size] = batch;
    trip->each[size] = seconds / trips * batch;
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
    long steps = iso_clock_state.steps;
    agree(trip, partner, size, samples * batch);
    ping(trip, partner, size, samples, batch, seconds);
    for (int k = 0; k < samples; k++) {
        seconds[k] /= batch;
    }
    iso_clock_void(seconds, samples, steps);
    if (trip->sync) {
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
    agree(trip, partner, NO_MORE, 0);
    for (int size = 0; size < trip->sizes->count; size++) {
        results[size].summary = iso_sampler_summary(&trip->samplers[size]);
        for (int way = 0; way < ISO_WAYS; way++) {
            results[size].ways[way] =
                trip->sync ? iso_sampler_summary(&trip->ways[way][size]).median
                           : 0;
        }
        results[size].batch = trip->batch[size];
        results[size].shared_cpu = trip->shared_cpu[size];
        results[size].lowered = trip->lowered[size];
    }
}

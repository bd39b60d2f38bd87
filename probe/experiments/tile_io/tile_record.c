/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/tile_io/tile_record.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

void iso_tile_record_aggregators(const iso_context_t *ctx,
                                 const iso_domains_t *domains,
                                 const char *source)
{
    iso_record_t *record = ctx->record;
    for (int k = 0; record && k < domains->count; k++) {
        ISO_RECORD(
            record, "aggregator", ("domain", k), ("rank", domains->rank[k]),
            ("node", ctx->places[domains->rank[k]].node), ("source", source));
    }
}

/** Messages of a node when writing. */
struct node_counts {
    long intra, in, out;
};

void iso_tile_record_messages(const iso_context_t *ctx,
                              const iso_tiling_t *tiling,
                              const iso_domains_t *domains)
{
    if (ctx->rank != 0) {
        return;
    }
    size_t count = domains->count;
    long *messages = ISO_NEW(long, count);
    long long *bytes = ISO_NEW(long long, count);
    struct node_counts *nodes = ISO_NEW(struct node_counts, ctx->nodes);
    for (int r = 0; r < ctx->size; r++) {
        int from = ctx->places[r].node;
        iso_domains_count(domains, tiling, r, messages, bytes);
        for (int d = 0; d < domains->count; d++) {
            int to = ctx->places[domains->rank[d]].node;
            if (messages[d] == 0) {
                continue;
            }
            ISO_RECORD(ctx->record, "message", ("rank", r), ("domain", d),
                       ("aggregator", domains->rank[d]),
                       ("messages", messages[d]), ("bytes", bytes[d]));
            nodes[from].intra += from == to ? messages[d] : 0;
            nodes[from].out += from == to ? 0 : messages[d];
            nodes[to].in += from == to ? 0 : messages[d];
        }
    }
    for (int n = 0; n < ctx->nodes; n++) {
        ISO_RECORD(ctx->record, "node", ("node", n), ("intra", nodes[n].intra),
                   ("in", nodes[n].in), ("out", nodes[n].out));
    }
    iso_record_flush(ctx->record);
    free(nodes);
    free(bytes);
    free(messages);
}

static void begin_sample(const iso_context_t *ctx, const char *phase,
                         bool write, long repeat, long long bytes)
{
    iso_record_begin(ctx->record, "sample");
    ISO_MEMBERS(ctx->record, ("op", write ? "write" : "read"), ("phase", phase),
                ("p", ctx->size), ("bytes", bytes), ("repeat", repeat));
}

/** Write the recorded phases and the remainder of the access. */
static void record_parts(const iso_context_t *ctx, const iso_io_parts_t *parts,
                         double seconds)
{
    const struct {
        const char *key;
        double seconds;
    } all[] = {{"offsets", parts->offsets},
               {"counts", parts->counts},
               {"exchange", parts->exchange},
               {"file", parts->file}};
    double sum = 0;
    bool any = false;
    for (size_t k = 0; k < ISO_LENGTH(all); k++) {
        if (all[k].seconds >= 0) {
            any = true;
            sum += all[k].seconds;
            iso_record_double(ctx->record, all[k].key, all[k].seconds);
        }
    }
    if (any) {
        iso_record_double(ctx->record, "rest",
                          sum < seconds ? seconds - sum : 0);
    }
    if (parts->rounds >= 0) {
        iso_record_int(ctx->record, "rounds", parts->rounds);
    }
}

/** Whether the clock was set back since the last record: a time is void. */
static bool was_set_back(void)
{
    static long seen;
    bool stepped = iso_clock_state.steps != seen;
    seen = iso_clock_state.steps;
    return stepped;
}

void iso_tile_record_access(const iso_context_t *ctx,
                            const iso_tiling_t *tiling, bool write, long repeat,
                            const iso_tile_access_t *access)
{
    double mine[5] = {access->open, access->seconds, access->close,
                      access->open + access->seconds + access->close,
                      was_set_back()};
    iso_plain_reduce(ctx->control, mine, 5, MPI_DOUBLE, MPI_MAX);
    if (ctx->rank == 0 && mine[4] == 0) {
        begin_sample(ctx, "file", write, repeat, iso_tiling_bytes(tiling));
        ISO_MEMBERS(ctx->record, ("open", mine[0]), ("seconds", mine[1]),
                    ("close", mine[2]), ("total", mine[3]));
        record_parts(ctx, &access->parts, mine[1]);
        iso_record_end(ctx->record);
        iso_record_flush(ctx->record);
    }
}

void iso_tile_record_exchange(const iso_context_t *ctx,
                              const iso_domains_t *domains, bool write,
                              long repeat, double seconds)
{
    double mine[2] = {seconds, was_set_back()};
    iso_plain_reduce(ctx->control, mine, 2, MPI_DOUBLE, MPI_MAX);
    if (ctx->rank == 0 && mine[1] == 0) {
        begin_sample(ctx, "exchange", write, repeat, domains->file);
        ISO_MEMBERS(ctx->record, ("rounds", domains->rounds),
                    ("seconds", mine[0]));
        iso_record_end(ctx->record);
        iso_record_flush(ctx->record);
    }
}

int iso_tile_record_file_io(const iso_context_t *ctx,
                            const iso_tiling_t *tiling, bool write,
                            long long bytes)
{
    long long *all = ISO_NEW(long long, ctx->size);
    iso_plain_gather(ctx->control, &bytes, sizeof(bytes), all);
    long long sum = 0, sure = 0, file = iso_tiling_bytes(tiling);
    long long most_sent = iso_tiling_tile(tiling) / 20 * 21 + 65536;
    for (int r = 0; ctx->rank == 0 && r < ctx->size; r++) {
        sum += all[r];
        sure += all[r] > most_sent ? all[r] : 0;
    }
    bool only_file = sum < file / 20 * 21 + 4096LL * ctx->size;
    long long least = sure >= file ? most_sent : only_file ? 4096 : sum + 1;
    int found = 0;
    for (int r = 0; ctx->rank == 0 && r < ctx->size; r++) {
        if (all[r] > least) {
            found++;
            ISO_RECORD(ctx->record, "file-io", ("op", write ? "write" : "read"),
                       ("rank", r), ("node", ctx->places[r].node),
                       ("bytes", all[r]));
        }
    }
    free(all);
    return found;
}

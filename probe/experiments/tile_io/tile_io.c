/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tile_io.c
 * The access pattern of mpi-tile-io through collective MPI-IO, and the data
 * exchange inside it by itself.
 *
 * A dense two-dimensional array in one file is cut into tiles, one per rank.
 * --phase file writes all tiles in one collective call and reads them back,
 * each repetition into a new file, and compares every byte. --phase exchange
 * replays the messages of the library's two-phase scheme without a file
 * (two_phase.h): for given aggregators, or one per node. --phase all does both,
 * and replays with the aggregators that the library reports.
 */
#include "base/check.h"
#include "experiments/tile_io/tile_hints.h"
#include "experiments/tile_io/tile_record.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

#include <limits.h>

/* --- aggregators --------------------------------------------------------- */

/* Which ranks access the file for all, where that is not left to the library.
 */

static bool holds(const int *list, int count, long rank)
{
    for (int k = 0; k < count; k++) {
        if (list[k] == rank) {
            return true;
        }
    }
    return false;
}

/**
 * Read "0,12,4": ranks, each once, in the order of their parts of the file.
 *
 * @param list   room for @a ranks + 1
 * @param error  at least ISO_ERROR_LENGTH bytes
 * @return how many, or -1 with one line in @a error
 */
static int parse_aggregators(const char *text, int ranks, int *list,
                             char *error)
{
    int count = 0;
    for (const char *rest = text;; rest++) {
        char *end;
        long rank = strtol(rest, &end, 10);
        if (end == rest || (*end && *end != ',') || rank < 0 || rank >= ranks ||
            holds(list, count, rank)) {
            return ISO_REFUSE(
                error,
                "--aggregators is '%.60s', not a list of ranks below %d, "
                "each once, such as 0,4,8",
                text, ranks);
        }
        list[count++] = rank;
        rest = end;
        if (*rest == '\0') {
            return count;
        }
    }
}

/**
 * The first rank of each node, in the order of ranks.
 *
 * @return released by free
 */
static int *one_a_node(const iso_context_t *ctx, int *count)
{
    int *first = ISO_NEW(int, ctx->nodes);
    *count = 0;
    for (int r = 0; r < ctx->size; r++) {
        if (ctx->node_of[r] == *count) {
            first[(*count)++] = r;
        }
    }
    return first;
}

/* --- the options as they are -----------------------------------------------
 */

enum { MAX_ROUNDS = 1 << 24 };

static const double MAX_BYTES = 1152921504606846976.;

static struct {
    const char *file, *tiles, *tile, *overlap;
    long long element, buffer;
    const char *hints, *aggregators, *phase;
    long repeats;
    bool keep, replace;
} options;

static iso_tiling_t tiling;

/** Of --aggregators. */
static struct {
    int *ranks, count;
} requested; /* as the options say; x and y are 0 if not given */

static const iso_option_t own_options[] = {
    {"file", ISO_OPTION_TEXT, "FILE", NULL,
     "file to write and read, on the file system to measure; required unless "
     "--phase exchange",
     &options.file},
    {"tiles", ISO_OPTION_TEXT, "XxY", NULL,
     "tiles in a row, and rows of tiles; each rank has one tile (default: as "
     "square as possible)",
     &options.tiles},
    {"tile", ISO_OPTION_TEXT, "WxH", "1024x1024",
     "elements in a row of a tile, and rows of a tile", &options.tile},
    {"element", ISO_OPTION_SIZE, "SIZE", "3", "size of an element in bytes",
     &options.element},
    {"overlap", ISO_OPTION_TEXT | ISO_EXPERT, "XxY", "0x0",
     "elements that neighbouring tiles share, horizontally and vertically",
     &options.overlap},
    {"hints", ISO_OPTION_TEXT, "KEY=VALUE,...", NULL,
     "MPI_Info hints for MPI-IO, such as cb_nodes=4,cb_config_list=n3,n1,*:1 "
     "(default: none)",
     &options.hints},
    {"phase", ISO_OPTION_CHOICE, "all|file|exchange", "all",
     "file: collective write and read; exchange: only the messages of them, "
     "without a file; all: both",
     &options.phase},
    {"aggregators", ISO_OPTION_TEXT | ISO_EXPERT, "RANK,...", NULL,
     "--phase exchange: ranks that aggregate, in the order of their parts of "
     "the file (default: first rank of each node)",
     &options.aggregators},
    {"cb-buffer", ISO_OPTION_SIZE | ISO_EXPERT, "SIZE", "16MiB",
     "--phase exchange: buffer of an aggregator for one round (ROMIO's "
     "cb_buffer_size)",
     &options.buffer},
    {"repeats", ISO_OPTION_COUNT, "N", "5", "timed repetitions",
     &options.repeats},
    {"keep", ISO_OPTION_FLAG | ISO_EXPERT, NULL, NULL,
     "keep the file after the last repetition", &options.keep},
    {"replace", ISO_OPTION_FLAG | ISO_EXPERT, NULL, NULL,
     "overwrite the file if it exists", &options.replace},
    {0},
};

static const iso_option_t *const all_options[] = {own_options, NULL};

/* --- options ------------------------------------------------------------- */

/** Read "4x4". @return 0, or -1 with an error text */
static int parse_pair(const char *name, const char *text, int least, int *a,
                      int *b, char *error)
{
    char after;
    if (sscanf(text, "%9dx%9d%c", a, b, &after) == 2 && *a >= least &&
        *b >= least) {
        return 0;
    }
    return ISO_REFUSE(error,
                      "--%s is '%.40s', not two numbers from %d such as %dx%d",
                      name, text, least, least ? 4 : 0, least ? 4 : 0);
}

static bool wants(const char *phase)
{
    return strcmp(options.phase, phase) == 0 ||
           strcmp(options.phase, "all") == 0;
}

/** Read the tiling from the options. */
static int parse_tiling(char *error)
{
    iso_tiling_t *t = &tiling;
    if (options.tiles &&
        parse_pair("tiles", options.tiles, 1, &t->x, &t->y, error)) {
        return -1;
    }
    if (parse_pair("tile", options.tile, 1, &t->width, &t->height, error) ||
        parse_pair("overlap", options.overlap, 0, &t->overlap_x, &t->overlap_y,
                   error)) {
        return -1;
    }
    double tile = (double)t->width * t->height * options.element;
    const char *wrong = NULL;
    if (options.element < 1 || options.element > INT_MAX) {
        wrong = "--element is from 1 byte to below 2 GiB";
    } else if (tile > INT_MAX) {
        wrong = "a tile must be below 2 GiB: see --tile and --element";
    } else if (t->overlap_x >= t->width || t->overlap_y >= t->height) {
        wrong = "--overlap must be smaller than --tile";
    }
    if (wrong) {
        return ISO_REFUSE(error, "%s", wrong);
    }
    t->element = options.element;
    return 0;
}

static int check(char *error)
{
    const char *wrong = NULL;
    if (parse_tiling(error) ||
        (options.hints && iso_hints_parse(options.hints, NULL, error))) {
        return -1;
    }
    if (options.buffer < 1 || options.buffer > INT_MAX) {
        wrong = "--cb-buffer is from 1 byte to below 2 GiB";
    } else if (options.repeats < 1) {
        wrong = "--repeats must be at least 1";
    } else if (wants("file") && options.file == NULL) {
        wrong = "--file FILE is missing (only --phase exchange needs none)";
    } else if (wants("file") && iso_in_simulator()) {
        wrong = "a simulator has no files: use --phase exchange";
    } else if (options.aggregators && wants("file")) {
        wrong = "--aggregators needs --phase exchange; for files, give --hints";
    }
    return wrong ? ISO_REFUSE(error, "%s", wrong) : 0;
}

static int check_ranks(int ranks, char *error)
{
    iso_tiling_t *t = &tiling;
    if (t->x == 0) { /* as square as the number of ranks allows */
        for (int y = 1; (long)y * y <= ranks; y++) {
            t->y = ranks % y == 0 ? y : t->y;
        }
        t->x = ranks / t->y;
    }
    if ((long)t->x * t->y != ranks) {
        return ISO_REFUSE(error,
                          "--tiles %dx%d gives %ld tiles for %d ranks; give "
                          "one tile per rank",
                          t->x, t->y, (long)t->x * t->y, ranks);
    }
    if ((double)t->x * t->width > INT_MAX ||
        (double)t->y * t->height > INT_MAX) {
        return ISO_REFUSE(
            error, "the array is too wide or too high: at most %d elements",
            INT_MAX);
    }
    double bytes = (double)iso_tiling_tile(t) * ranks;
    if (bytes > MAX_BYTES || bytes / options.buffer > MAX_ROUNDS) {
        return ISO_REFUSE(
            error,
            "the file is too large: below 1 EiB, and at most %d times "
            "--cb-buffer",
            MAX_ROUNDS);
    }
    if (options.aggregators) {
        requested.ranks = ISO_NEW(int, ranks);
        requested.count = parse_aggregators(options.aggregators, ranks,
                                            requested.ranks, error);
    }
    return requested.count < 0 ? -1 : 0;
}

/* --- exchange ------------------------------------------------------------ */

static void verify(const iso_context_t *ctx, iso_two_phase_t *exchange,
                   bool write)
{
    long long wrong = iso_two_phase_verify(exchange, write);
    if (wrong > 0) {
        ISO_FAIL("rank %d: %lld bytes are wrong after the exchange", ctx->rank,
                 wrong);
    }
}

/** Replay the messages for these domains, and record them and their times. */
static void run_exchange(const iso_context_t *ctx, const iso_domains_t *domains)
{
    iso_tile_record_messages(ctx, &tiling, domains);
    iso_two_phase_t *exchange = iso_two_phase_create(ctx, &tiling, domains);
    verify(ctx, exchange, true);
    verify(ctx, exchange, false);
    for (long k = 0; k < options.repeats; k++) {
        for (int write = 1; write >= 0; write--) {
            double seconds = iso_two_phase_measure(exchange, write);
            iso_tile_record_exchange(ctx, domains, write, k, seconds);
        }
        iso_progress(ctx, k + 1, options.repeats, 0);
    }
    iso_two_phase_free(exchange);
}

static void run_chosen_exchange(const iso_context_t *ctx)
{
    int count = requested.count, *ranks = requested.ranks;
    if (!ranks) {
        ranks = one_a_node(ctx, &count);
    }
    iso_domains_t domains = iso_domains_make(iso_tiling_bytes(&tiling), count,
                                             ranks, options.buffer);
    iso_tile_record_aggregators(ctx, &domains,
                                requested.ranks ? "--aggregators"
                                                : "first rank of each node");
    run_exchange(ctx, &domains);
    free(domains.rank);
}

/* --- file ---------------------------------------------------------------- */

/** Record the library's report, and replay its exchange if possible. */
static void run_reported_exchange(const iso_context_t *ctx, MPI_Info used)
{
    int count = 0;
    int *ranks = iso_hints_aggregators(ctx, used, &count);
    if (ranks == NULL) {
        return;
    }
    long long buffer = iso_hints_number(ctx, used, "cb_buffer_size", 16 << 20);
    long long nodes = iso_hints_number(ctx, used, "cb_nodes", count);
    iso_domains_t domains =
        iso_domains_make(iso_tiling_bytes(&tiling), count, ranks, buffer);
    iso_tile_record_aggregators(ctx, &domains, "romio_aggregator_list");
    if (nodes != count && ctx->rank == 0) {
        iso_record_warning(ctx->record, "aggregators-incomplete",
                           "exchange not replayed: the library's list of "
                           "aggregators is truncated (fewer than cb_nodes)");
    } else if (nodes == count && wants("exchange")) {
        run_exchange(ctx, &domains);
    }
    free(domains.rank);
}

/** One repetition. @return the hints that were in use */
static MPI_Info write_and_read(iso_tile_file_t *file, long repeat, int *writers)
{
    const iso_context_t *ctx = file->ctx;
    iso_tile_access_t write, read;
    int seed = repeat % 4096 + 1;
    if (repeat > 0) {
        iso_tile_file_remove(file);
    }
    iso_tile_file_write(file, seed, &write);
    iso_tile_record_access(ctx, &tiling, true, repeat, &write);
    iso_tile_file_read(file, seed, &read);
    iso_tile_record_access(ctx, &tiling, false, repeat, &read);
    iso_tile_file_check(file, seed);
    if (repeat == 0) {
        *writers = iso_tile_record_file_io(ctx, &tiling, true, write.file_io);
        iso_tile_record_file_io(ctx, &tiling, false, read.file_io);
    }
    MPI_CHECK(MPI_Info_free(&read.used));
    return write.used;
}

static void run_file(const iso_context_t *ctx)
{
    iso_tile_file_t file;
    int writers = 0;
    char error[ISO_ERROR_LENGTH];
    MPI_Info hints = MPI_INFO_NULL, used = MPI_INFO_NULL;
    if (options.hints) {
        MPI_CHECK(MPI_Info_create(&hints));
        iso_hints_parse(options.hints, &hints, error);
    }
    iso_tile_file_init(&file, ctx, &tiling, options.file, hints,
                       options.replace);
    for (long k = 0; k < options.repeats; k++) {
        if (k > 0) {
            MPI_CHECK(MPI_Info_free(&used));
        }
        used = write_and_read(&file, k, &writers);
        iso_progress(ctx, k + 1, options.repeats, 0);
    }
    iso_tile_file_free(&file, options.keep);
    if (ctx->rank == 0) {
        iso_hints_record(ctx, &tiling, used, hints, writers);
        iso_record_flush(ctx->record);
    }
    run_reported_exchange(ctx, used);
    MPI_CHECK(MPI_Info_free(&used));
    if (options.hints) {
        MPI_CHECK(MPI_Info_free(&hints));
    }
}

/* --- the experiment ------------------------------------------------------ */

/** A tile, and for an aggregator its window. */
static double memory(int ranks)
{
    double part = (double)iso_tiling_bytes(&tiling) / ranks;
    double window = options.buffer;
    return iso_tiling_tile(&tiling) + (window < part ? window : part);
}

static iso_outcome_t run(iso_context_t *ctx)
{
    if (wants("file")) {
        run_file(ctx);
    } else {
        run_chosen_exchange(ctx);
    }
    return ISO_COMPLETE;
}

const iso_experiment_t iso_experiment_tile_io = {
    .name = "tile-io",
    .summary = "a tiled array through collective MPI-IO, and its exchange",
    .kind = "tile-io",
    .options = all_options,
    .min_ranks = 1,
    .check = check,
    .check_ranks = check_ranks,
    .memory = memory,
    .quantity_text = "collective access or its exchange, slowest rank",
    .run = run,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file main.c
 * isochrone-probe EXPERIMENT [options]: measure, and write one run file.
 *
 * The command line is read before MPI is initialised, so --help and --check
 * work where no MPI job can be started.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/check.h"
#include "base/source.h"
#include "machine/own_collectives.h"
#include "machine/watchdog.h"
#include "runfile/clock_set.h"
#include "runfile/preamble.h"
#include "runfile/record.h"

#include <errno.h>

enum { MAX_NOTES = 32, MAX_TABLES = 8, NOT_GIVEN = -1 };

static struct {
    const char *out;
    bool force;
    bool progress;
    long check; /* ranks, or NOT_GIVEN */
    bool here;
    double stall;
} common = {.check = NOT_GIVEN, .stall = NOT_GIVEN};

static const iso_option_t common_options[] = {
    {"out", ISO_OPTION_TEXT, "FILE", NULL,
     "run file to write; standard output if not given", &common.out},
    {"force", ISO_OPTION_FLAG, NULL, NULL, "overwrite the run file",
     &common.force},
    {"report-progress", ISO_OPTION_FLAG, NULL, NULL,
     "report progress on standard error", &common.progress},
    {"check", ISO_OPTION_COUNT, "RANKS", NULL,
     "only check the options, for this many ranks; needs no MPI job",
     &common.check},
    {"stall-timeout", ISO_OPTION_SECONDS, "TIME", NULL,
     "abort if no progress for TIME and name the unresponsive ranks; 0: never "
     "(default: 10min; tile-io: 1h; app: never)",
     &common.stall},
    {"here", ISO_OPTION_FLAG, NULL, NULL,
     "with --check: the ranks will all run on this machine", &common.here},
    {0},
};

static const char *notes[MAX_NOTES + 1]; /* NULL-terminated */
static int note_count;

/** Remove "--note KEY=VALUE" from the arguments; the others stay in order.
 */
static int take_notes(int *argc, char **argv, char *error)
{
    int kept = 0;
    for (int k = 0; k < *argc; k++) {
        if (strcmp(argv[k], "--note") != 0) {
            argv[kept++] = argv[k];
        } else if (k + 1 == *argc || strchr(argv[k + 1], '=') == NULL ||
                   note_count == MAX_NOTES) {
            return ISO_REFUSE(error, "--note needs KEY=VALUE, at most %d times",
                              MAX_NOTES);
        } else {
            notes[note_count++] = argv[++k];
        }
    }
    *argc = kept;
    return 0;
}

static const iso_experiment_t *find_experiment(const char *name)
{
    for (int k = 0; iso_experiments[k]; k++) {
        if (strcmp(iso_experiments[k]->name, name) == 0) {
            return iso_experiments[k];
        }
    }
    return NULL;
}

static void print_version(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\r\n")] = '\0';
    const char *source = iso_source + strlen(ISO_SOURCE_MARK);
    printf("isochrone-probe %s source %s\n%s\n", ISO_VERSION, source, library);
}

static void list_options(iso_record_t *record, const iso_option_t *option)
{
    for (; option->name; option++) {
        ISO_RECORD(record, "option", ("name", option->name),
                   ("value", option->metavar ? option->metavar : ""),
                   ("default", option->initial ? option->initial : ""),
                   ("help", option->help),
                   ("expert", (bool)(option->kind & ISO_EXPERT)));
    }
}

/** For programs: a line of JSON for each experiment, and below it one for each
 *  of its options. */
static void print_list(void)
{
    iso_record_t record;
    iso_record_open(&record, "-", false);
    for (int k = 0; iso_experiments[k]; k++) {
        const char *kind = iso_experiments[k]->kind;
        ISO_RECORD(&record, "experiment", ("name", iso_experiments[k]->name),
                   ("kind", kind ? kind : ""),
                   ("summary", iso_experiments[k]->summary));
        for (int t = 0; iso_experiments[k]->options[t]; t++) {
            list_options(&record, iso_experiments[k]->options[t]);
        }
    }
    iso_record_close(&record);
}

static void print_help(const iso_experiment_t *experiment)
{
    if (experiment == NULL) {
        printf("usage: isochrone-probe EXPERIMENT [options]\n\n"
               "Measures MPI communication and writes a run file (JSON Lines, "
               "seconds and bytes).\nStart it with the machine's launcher:  "
               "srun isochrone-probe latency-map --out map.jsonl\n\n"
               "experiments:\n");
        for (int k = 0; iso_experiments[k]; k++) {
            printf("  %-30s %s\n", iso_experiments[k]->name,
                   iso_experiments[k]->summary);
        }
        printf("\n  EXPERIMENT --help             its options\n"
               "  --list                        of all experiments, as JSON\n"
               "  --version                     of the probe and of MPI\n");
        return;
    }
    printf("usage: isochrone-probe %s [options]\n\n%s\n\noptions:\n",
           experiment->name, experiment->summary);
    for (int k = 0; experiment->options[k]; k++) {
        iso_options_help(experiment->options[k]);
    }
    printf("\noptions of every experiment:\n");
    iso_options_help(common_options);
    printf("  %-30s %s\n", "--note KEY=VALUE",
           "write this into the run file; may be repeated");
}

/** Seconds without a sample after which a run counts as stalled. Applications
 * report no progress; large files take long. */
static double usual_stall(const iso_experiment_t *experiment)
{
    const char *kind = experiment->kind ? experiment->kind : "";
    if (strcmp(kind, "emulation") == 0) {
        return 0;
    }
    return strcmp(kind, "tile-io") == 0 ? 3600 : 600;
}

/** Read the options of an experiment. @return 0, or -1 with an error text */
static int parse_options(const iso_experiment_t *experiment, int argc,
                         char **argv, char *error)
{
    const iso_option_t *tables[MAX_TABLES + 2] = {common_options};
    for (int k = 0; experiment->options[k] && k < MAX_TABLES; k++) {
        tables[k + 1] = experiment->options[k];
    }
    for (int k = 0; tables[k]; k++) {
        if (iso_options_reset(tables[k], error)) {
            return -1;
        }
    }
    if (take_notes(&argc, argv, error) ||
        iso_options_parse(tables, argc, argv, error)) {
        return -1;
    }
    if (common.check == 0) {
        return ISO_REFUSE(error, "--check is 0, but a job has at least 1 rank");
    }
    if (common.stall == NOT_GIVEN) {
        common.stall = usual_stall(experiment);
    }
    if (iso_memory_check(error)) {
        return -1;
    }
    return experiment->check ? experiment->check(error) : 0;
}

/** Check the options for a number of ranks, and what follows from them. */
static int settle(const iso_experiment_t *experiment, int ranks, char *error)
{
    if (ranks < experiment->min_ranks) {
        return ISO_REFUSE(error,
                          "%s needs at least %d ranks, got %d; start more (-n "
                          "4), or check that the launcher belongs to this MPI",
                          experiment->name, experiment->min_ranks, ranks);
    }
    if (experiment->check_ranks && experiment->check_ranks(ranks, error)) {
        return -1;
    }
    if (experiment->resolve) {
        experiment->resolve(ranks);
    }
    return 0;
}

/** Whether @a here of the ranks can measure on this machine, and have room. */
static int check_node(const iso_experiment_t *experiment, int ranks, int here,
                      char *error)
{
    if (experiment->check_node && experiment->check_node(ranks, here, error)) {
        return -1;
    }
    double GiB = 1073741824.;
    double needed = experiment->memory ? experiment->memory(ranks) * here : 0;
    double there = iso_host_memory();
    if (needed <= there) {
        return 0;
    }
    return ISO_REFUSE(error,
                      "buffers need %.1f GiB for %d ranks, available %.1f GiB; "
                      "give smaller --bytes or fewer ranks",
                      needed / GiB, here, there / GiB);
}

/** The same for the machine that each rank has found itself on, and its GPU;
 *  the rank that complains is the first that has reason to. */
static int check_every_node(const iso_experiment_t *experiment, int rank,
                            int size, char *error)
{
    int here = 0, local = 0;
    MPI_Comm node;
    MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                  MPI_INFO_NULL, &node));
    MPI_CHECK(MPI_Comm_size(node, &here));
    MPI_CHECK(MPI_Comm_rank(node, &local));
    MPI_CHECK(MPI_Comm_free(&node));
    int wrong = check_node(experiment, size, here, error) ||
                iso_memory_begin(local, error);
    int complains = wrong ? rank : size;
    iso_plain_allreduce(MPI_COMM_WORLD, &complains, 1, MPI_INT, MPI_MIN);
    if (complains < size && complains != 0 && rank == complains) {
        MPI_CHECK(
            MPI_Send(error, ISO_ERROR_LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD));
    } else if (complains < size && complains != 0 && rank == 0) {
        MPI_CHECK(MPI_Recv(error, ISO_ERROR_LENGTH, MPI_CHAR, complains, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return complains < size ? -1 : 0;
}

void iso_progress(const iso_context_t *ctx, long done, long total,
                  double estimate)
{
    static double last;
    double now = iso_now();
    if (ctx->progress && (now - last > 0.2 || done == total)) {
        fprintf(stderr, "isochrone-progress %ld %ld %.9g\n", done, total,
                estimate);
        last = now;
    }
}

/** Let every rank know the nodes of all, which rank 0 has numbered. */
static void share_nodes(iso_context_t *ctx, const iso_place_t *places)
{
    ctx->node_of = ISO_NEW(int, ctx->size);
    for (int r = 0; ctx->rank == 0 && r < ctx->size; r++) {
        ctx->node_of[r] = places[r].node;
    }
    iso_plain_bcast(ctx->control, ctx->node_of, ctx->size, MPI_INT);
    ctx->node = ctx->node_of[ctx->rank];
    for (int r = 0; r < ctx->size; r++) {
        ctx->nodes += ctx->node_of[r] == ctx->nodes;
    }
}

static iso_beginning_t beginning; /* of this rank */

static double ended; /* seconds of the run, and whether it is complete */
static bool complete;

static void finish(iso_record_t *record)
{
    ISO_RECORD(record, "end", ("seconds", ended), ("complete", complete));
    iso_record_close(record);
}

/** Measure; return the exit code. All ranks come here with the same, checked,
 *  options. */
static int measure(const iso_experiment_t *experiment, int rank, int size,
                   iso_record_t *record)
{
    iso_context_t ctx = {
        .rank = rank, .size = size, .ranks = size, .notes = notes};
    ctx.beginning = beginning;
    ctx.started = iso_now();
    iso_clock_set_begin();
    ctx.progress = common.progress && rank == 0;
    MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &ctx.comm));
    MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &ctx.control));
    MPI_CHECK(MPI_Comm_set_errhandler(ctx.control, MPI_ERRORS_RETURN));
    ctx.clock = iso_clock_examine();
    iso_place_t *places = iso_host_gather(ctx.control, ctx.clock.simulated);
    iso_place_t *invented = NULL;
    share_nodes(&ctx, places);
    iso_memory_t memory = iso_memory_gather(ctx.control, ctx.clock.simulated);
    ctx.memory = &memory;
    if (rank == 0) {
        ctx.record = record;
        invented = experiment->invent ? experiment->invent(&ctx.ranks) : NULL;
        ctx.places = invented ? invented : places;
        iso_preamble_write(&ctx, experiment, notes, note_count);
    }
    iso_outcome_t outcome = experiment->run(&ctx);
    iso_clock_set_warn(&ctx);
    ended = iso_now() - ctx.started;
    complete = outcome == ISO_COMPLETE;
    if (rank == 0 && experiment->finalized == NULL) {
        finish(record);
    }
    iso_memory_forget(&memory);
    free(invented);
    free(places);
    free(ctx.node_of);
    iso_meet(&ctx);
    MPI_CHECK(MPI_Comm_free(&ctx.control));
    MPI_CHECK(MPI_Comm_free(&ctx.comm));
    return ctx.failed ? ISO_EXIT_FAILED : ISO_EXIT_OK;
}

/** Open the run file at rank 0; all ranks get the result. */
static int open_everywhere(iso_record_t *record, int rank, char *error)
{
    int failed = 0;
    if (rank == 0 && iso_record_open(record, common.out, common.force)) {
        snprintf(error, ISO_ERROR_LENGTH, "%.180s: %s%s", common.out,
                 strerror(errno),
                 errno == EEXIST ? " (choose another name, or --force)" : "");
        failed = 1;
    }
    iso_plain_bcast(MPI_COMM_WORLD, &failed, 1, MPI_INT);
    return failed ? -1 : 0;
}

/**
 * Initialise MPI for the threads of an experiment.
 * @return 0, or -1 with one line in @a error
 */
static int begin_mpi(const iso_experiment_t *experiment, bool checked,
                     int *argc, char ***argv, double *seconds, char *error)
{
    bool threads = checked && experiment->threads && experiment->threads() > 0;
    int level = MPI_THREAD_MULTIPLE;
    *seconds = iso_beginning_init(argc, argv, threads ? &level : NULL);
    return level == MPI_THREAD_MULTIPLE
               ? 0
               : ISO_REFUSE(error, "this MPI library lets only one thread at a "
                                   "time call it (no MPI_THREAD_MULTIPLE); use "
                                   "one that was built with threads");
}

static int complain(const char *error)
{
    iso_complain("%s", error);
    return ISO_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    char error[ISO_ERROR_LENGTH] = "";
    beginning.launch = iso_beginning_since_launch();
    const char *name = argc > 1 ? argv[1] : "--help";
    bool help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (strcmp(name, "--version") == 0) {
        print_version();
        return ISO_EXIT_OK;
    }
    if (strcmp(name, "--list") == 0) {
        print_list();
        return ISO_EXIT_OK;
    }
    const iso_experiment_t *experiment = find_experiment(name);
    for (int k = 2; k < argc; k++) {
        help = help || strcmp(argv[k], "--help") == 0;
    }
    if (help && (argc <= 2 || experiment)) {
        print_help(experiment);
        return ISO_EXIT_OK;
    }

    int wrong = -1;
    if (experiment == NULL) {
        snprintf(error, sizeof(error),
                 "there is no experiment '%.80s' (--help lists them)", name);
    } else {
        wrong = parse_options(experiment, argc - 2, argv + 2, error);
    }
    if (wrong == 0 && common.check != NOT_GIVEN) {
        int ranks = (int)common.check;
        wrong = settle(experiment, ranks, error) ||
                (common.here && check_node(experiment, ranks, ranks, error));
        return wrong ? complain(error) : ISO_EXIT_OK;
    }

    int rank, size;
    iso_record_t record;
    iso_watchdog_begin(argc, argv, common.stall);
    int refused =
        begin_mpi(experiment, wrong == 0, &argc, &argv, &beginning.init, error);
    wrong = wrong ? wrong : refused;
    iso_check_begin();
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    iso_watchdog_identify(rank);
    MPI_CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (wrong == 0) {
        wrong = settle(experiment, size, error) ||
                check_every_node(experiment, rank, size, error) ||
                open_everywhere(&record, rank, error);
    }
    int code = ISO_EXIT_USAGE;
    if (wrong == 0) {
        code = measure(experiment, rank, size, &record);
    } else if (rank == 0) {
        iso_complain("%s", error);
    }
    double seconds = iso_beginning_finalize();
    if (wrong == 0 && rank == 0 && experiment->finalized) {
        experiment->finalized(&record, size, seconds);
        finish(&record);
    }
    return code;
}

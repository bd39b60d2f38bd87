/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/app/source.h"

#include "base/check.h"
#include "base/checksum.h"
#include "machine/own_collectives.h"
#include "messages/idle.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

enum { TAG_PART = 8401, MAX_FILE = 1 << 30, CHECKED = 2 * sizeof(uint64_t) };

static struct {
    const char *path;
    iso_program_t program; /**< its memory is the whole file */
    const int *steps;      /**< of all ranks */
    double memory;
} source;

/** Check a file; return what is wrong with it. */
static const char *fault(const unsigned char *file, size_t length)
{
    const iso_program_header_t *header = (const void *)file;
    if (length < sizeof(*header) ||
        memcmp(header->magic, ISO_PROGRAM_MAGIC, sizeof(header->magic)) != 0) {
        return "not a program file of this version of isochrone";
    }
    return iso_crc32(file + CHECKED, length - CHECKED) != header->checksum ||
                   iso_program_head(header) + header->steps * sizeof(int) !=
                       length
               ? "damaged: the checksum differs"
               : NULL;
}

/** Read the whole file. */
static int read_file(const char *path, char *error)
{
    struct stat found;
    const char *wrong = NULL;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return ISO_REFUSE(error, "%.120s: %.130s", path, strerror(errno));
    }
    if (fstat(fileno(stream), &found) != 0 || !S_ISREG(found.st_mode)) {
        wrong = "not a regular file";
    } else if (found.st_size > MAX_FILE) {
        wrong = "longer than 1 GiB";
    } else {
        size_t length = found.st_size;
        unsigned char *file = iso_calloc(length + 1, 1);
        wrong = fread(file, 1, length, stream) == length ? fault(file, length)
                                                         : "cannot be read";
        if (wrong) {
            free(file);
        } else {
            iso_program_load(&source.program, file);
            source.steps =
                (const void *)(file + iso_program_head((const void *)file));
        }
    }
    fclose(stream);
    return wrong ? ISO_REFUSE(error, "%.120s: %s", path, wrong) : 0;
}

/** Read the step at a word of the file and advance to the next one. */
static iso_step_t next_step(int *at)
{
    iso_step_t step = iso_step_read(&source.program, source.steps + *at);
    *at += ISO_STEP_WORDS + step.count;
    return step;
}

/** Bytes that a rank needs for its messages, at most. */
static double most_bytes(const iso_program_t *program)
{
    double most = 0;
    for (int k = 0; k < program->app_count; k++) {
        const iso_app_t *app = &program->apps[k];
        for (int r = 0; r < app->ranks; r++) {
            iso_needs_t needs = {0};
            for (int at = app->begin[r]; at < app->begin[r + 1];) {
                iso_step_t step = next_step(&at);
                iso_needs_add(&needs, program, app, &step);
            }
            most = fmax(most, needs.send + needs.receive + needs.pending);
        }
    }
    return most;
}

static int check_ranks(const iso_program_t *program, int ranks, char *error)
{
    if (program->ranks > ranks) {
        return ISO_REFUSE(
            error,
            "%.120s: its applications need %d ranks, the job has %d; "
            "start it with -n %d",
            source.path, program->ranks, ranks, program->ranks);
    }
    char *taken = iso_calloc(ranks, 1);
    int wrong = 0;
    for (int k = 0; k < program->app_count && !wrong; k++) {
        const iso_app_t *app = &program->apps[k];
        for (int j = 0; j < app->on_count && !wrong; j++) {
            wrong = app->on[j] >= ranks || taken[app->on[j]];
            if (wrong) {
                wrong =
                    ISO_REFUSE(error,
                               "%.120s: application '%.40s' requests rank %d, "
                               "which is in use or not in 0 to %d",
                               source.path, app->name, app->on[j], ranks - 1);
            } else {
                taken[app->on[j]] = 1;
            }
        }
    }
    free(taken);
    return wrong;
}

static int load(const char *path, int ranks, char *error)
{
    iso_source_free();
    source.path = path;
    if (read_file(path, error)) {
        return -1;
    }
    source.memory = most_bytes(&source.program);
    return check_ranks(&source.program, ranks, error);
}

int iso_source_load(const char *path, int ranks, char *error)
{
    int running = 0, rank = 0, wrong = 0;
    MPI_Initialized(&running);
    if (!running) {
        return load(path, ranks, error);
    }
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank == 0) {
        wrong = load(path, ranks, error);
    }
    iso_plain_bcast(MPI_COMM_WORLD, &wrong, 1, MPI_INT);
    iso_plain_bcast(MPI_COMM_WORLD, error, ISO_ERROR_LENGTH, MPI_CHAR);
    iso_plain_bcast(MPI_COMM_WORLD, &source.memory, 1, MPI_DOUBLE);
    return wrong;
}

double iso_source_memory(void)
{
    return source.memory;
}

const iso_program_t *iso_source_program(void)
{
    return &source.program;
}

void iso_source_free(void)
{
    iso_program_free(&source.program);
}

/** Check that a rank shares its node with those it shares memory with. */
static int check_rank(const iso_context_t *ctx, const iso_app_t *app, int rank,
                      const int *members, char *error)
{
    for (int at = app->begin[rank]; at < app->begin[rank + 1];) {
        iso_step_t step = next_step(&at);
        const iso_app_phase_t *phase = &app->phases[step.phase];
        const int *peers = step.list ? step.list : &step.peer;
        int count = iso_step_channels(&step) == 0 ||
                            phase->method != ISO_METHOD_SHARED_MEMORY
                        ? 0
                    : step.list ? step.count
                                : 1;
        for (int k = 0; k < count; k++) {
            if (ctx->places[members[peers[k]]].node !=
                ctx->places[members[rank]].node) {
                return ISO_REFUSE(
                    error,
                    "%.90s: phase '%.30s' of '%.30s' uses shared memory, but "
                    "ranks %d and %d are on different nodes",
                    source.path, phase->name, app->name, rank, peers[k]);
            }
        }
    }
    return 0;
}

static int check_nodes(const iso_context_t *ctx, int *const *members,
                       char *error)
{
    int wrong = 0;
    for (int k = 0; k < source.program.app_count; k++) {
        const iso_app_t *app = &source.program.apps[k];
        for (int r = 0; r < app->ranks && !wrong; r++) {
            wrong = check_rank(ctx, app, r, members[k], error);
        }
    }
    return wrong;
}

void iso_source_check_nodes(const iso_context_t *ctx, int *const *members)
{
    char error[ISO_ERROR_LENGTH];
    int wrong = ctx->rank == 0 ? check_nodes(ctx, members, error) : 0;
    iso_plain_bcast(ctx->control, &wrong, 1, MPI_INT);
    if (wrong) { /* all of them know, so none has to be aborted */
        if (ctx->rank == 0) {
            iso_complain("%s", error);
        }
        MPI_Finalize();
        exit(ISO_EXIT_USAGE);
    }
}

/** Where the steps of a role are in the file, and how many words they have. */
static const int *steps_of(iso_role_t role, int *count)
{
    if (role.app < 0) {
        *count = 0;
        return source.steps;
    }
    const int *begin = &source.program.apps[role.app].begin[role.rank];
    *count = begin[1] - begin[0];
    return source.steps + begin[0];
}

iso_role_t iso_source_share(const iso_context_t *ctx, const iso_role_t *roles,
                            iso_program_t *program)
{
    const iso_program_header_t *file = source.program.memory;
    int length = ctx->rank == 0 ? iso_program_head(file) : 0;
    iso_plain_bcast(ctx->control, &length, 1, MPI_INT);
    char *head = iso_calloc(length, 1);
    if (ctx->rank == 0) {
        memcpy(head, file, length);
    }
    iso_plain_bcast(ctx->control, head, length, MPI_CHAR);
    iso_program_load(program, head);
    int header[3], *steps;
    if (ctx->rank == 0) {
        for (int r = 1; r < ctx->size; r++) {
            int part[] = {roles[r].app, roles[r].rank, 0};
            const int *own = steps_of(roles[r], &part[2]);
            MPI_CHECK(MPI_Send(part, 3, MPI_INT, r, TAG_PART, ctx->control));
            MPI_CHECK(
                MPI_Send(own, part[2], MPI_INT, r, TAG_PART, ctx->control));
        }
        header[0] = roles[0].app;
        header[1] = roles[0].rank;
        const int *mine = steps_of(roles[0], &header[2]);
        steps = ISO_NEW(int, header[2]);
        memcpy(steps, mine, header[2] * sizeof(int));
    } else {
        iso_idle_recv(ctx, header, 3, MPI_INT, 0, TAG_PART);
        steps = ISO_NEW(int, header[2]);
        MPI_CHECK(MPI_Recv(steps, header[2], MPI_INT, 0, TAG_PART, ctx->control,
                           MPI_STATUS_IGNORE));
    }
    iso_program_take_steps(program, steps, header[2]);
    return (iso_role_t){header[0], header[1]};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/app/source.h"

#include "base/check.h"
#include "experiments/app/tally.h"
#include "machine/idle.h"
#include "machine/plain.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { TAG_PART = 8401, MAX_FILE = 1 << 28 };

static struct {
    const char *path;
    char *text;
    size_t length;
    iso_program_t program;
    iso_tally_t tally;
    double memory;
} source;

static int complain(const char *path, const char *what, char *error)
{
    snprintf(error, ISO_ERROR_LENGTH, "%.120s: %.130s", path, what);
    return -1;
}

/** Read the whole file. */
static int read_text(const char *path, char *error)
{
    struct stat found;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return complain(path, strerror(errno), error);
    }
    int wrong = 0;
    if (fstat(fileno(stream), &found) != 0 || !S_ISREG(found.st_mode)) {
        wrong = complain(path, "it is no plain file", error);
    } else if (found.st_size > MAX_FILE) {
        wrong = complain(path, "it is longer than 256 MiB", error);
    } else {
        source.length = (size_t)found.st_size;
        source.text = iso_calloc(source.length + 1, 1);
        if (fread(source.text, 1, source.length, stream) != source.length) {
            wrong = complain(path, "it cannot be read", error);
        }
    }
    fclose(stream);
    return wrong;
}

static int check_ranks(const iso_program_t *program, int ranks, char *error)
{
    char what[ISO_ERROR_LENGTH];
    if (program->ranks > ranks) {
        snprintf(what, sizeof(what),
                 "its applications have %d ranks together, the job has %d: "
                 "start it with more, -n %d",
                 program->ranks, ranks, program->ranks);
        return complain(source.path, what, error);
    }
    char *taken = iso_calloc((size_t)ranks, 1);
    int wrong = 0;
    for (int k = 0; k < program->app_count && !wrong; k++) {
        const iso_app_t *app = &program->apps[k];
        for (int j = 0; j < app->on_count && !wrong; j++) {
            wrong = app->on[j] >= ranks || taken[app->on[j]];
            if (wrong) {
                snprintf(what, sizeof(what),
                         "%.60s asks for rank %d, which is taken, or not one "
                         "of 0 to %d",
                         app->name, app->on[j], ranks - 1);
                complain(source.path, what, error);
            } else {
                taken[app->on[j]] = 1;
            }
        }
    }
    free(taken);
    return wrong ? -1 : 0;
}

static int load(const char *path, int ranks, char *error)
{
    iso_source_free();
    source.path = path;
    if (read_text(path, error)) {
        return -1;
    }
    iso_program_text_t whole = {path, source.text, source.length, -1, -1};
    int wrong =
        iso_program_parse(&source.program, &whole, &source.tally, error);
    source.memory = source.program.most_bytes;
    return wrong ? -1 : check_ranks(&source.program, ranks, error);
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
    free(source.text);
    source.text = NULL;
    free(source.tally.items);
    source.tally = (iso_tally_t){0};
    iso_program_free(&source.program);
}

static int check_nodes(const iso_context_t *ctx, const iso_role_t *roles,
                       char *error)
{
    const iso_program_t *program = &source.program;
    int **nodes = iso_calloc((size_t)program->app_count, sizeof(int *));
    for (int k = 0; k < program->app_count; k++) {
        nodes[k] = iso_calloc((size_t)program->apps[k].ranks, sizeof(int));
    }
    for (int r = 0; r < ctx->size; r++) {
        if (roles[r].app >= 0) {
            nodes[roles[r].app][roles[r].rank] = ctx->places[r].node;
        }
    }
    int wrong = iso_tally_check_nodes(&source.tally, program, nodes,
                                      source.path, error);
    for (int k = 0; k < program->app_count; k++) {
        free(nodes[k]);
    }
    free(nodes);
    return wrong;
}

void iso_source_check_nodes(const iso_context_t *ctx, const iso_role_t *roles)
{
    char error[ISO_ERROR_LENGTH];
    int wrong = ctx->rank == 0 ? check_nodes(ctx, roles, error) : 0;
    iso_plain_bcast(ctx->control, &wrong, 1, MPI_INT);
    if (wrong) { /* all of them know, so none has to be aborted */
        if (ctx->rank == 0) {
            iso_complain("%s", error);
        }
        MPI_Finalize();
        exit(ISO_EXIT_USAGE);
    }
}

/* --- every rank's part --------------------------------------------------- */

/** Whether a line says something that all ranks must know. */
static bool for_all(const char *line, const char *end)
{
    static const char *const keywords[] = {"isochrone-program",
                                           "seed",
                                           "placement",
                                           "values",
                                           "app",
                                           "on",
                                           "phase",
                                           "run"};
    const char *word;
    iso_words_t words = {.at = line, .end = end};
    size_t length = iso_words_take(&words, &word);
    for (size_t k = 0; k < sizeof(keywords) / sizeof(keywords[0]); k++) {
        if (iso_words_same(word, length, keywords[k])) {
            return true;
        }
    }
    return false;
}

/** The lines that are for all ranks. @return their length */
static size_t take_head(char *head)
{
    const char *at = source.text, *end = source.text + source.length;
    size_t length = 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (for_all(at, stop)) {
            memcpy(head + length, at, (size_t)(stop - at));
            length += (size_t)(stop - at);
            head[length++] = '\n';
        }
        at = stop + 1;
    }
    return length;
}

/** Send a rank its role and its steps, as lines. */
static void send_part(const iso_context_t *ctx, int to, iso_role_t role)
{
    static const iso_section_t none;
    const iso_section_t *section =
        role.app < 0 ? &none
                     : &source.program.apps[role.app].sections[role.rank];
    int length = (int)(section->end - section->begin);
    int header[] = {role.app, role.rank, length};
    MPI_CHECK(MPI_Send(header, 3, MPI_INT, to, TAG_PART, ctx->control));
    MPI_CHECK(MPI_Send(length ? section->begin : NULL, length, MPI_CHAR, to,
                       TAG_PART, ctx->control));
}

/** Put head and steps together, and read them. */
static void parse_part(const char *head, size_t head_length, iso_role_t role,
                       const char *steps, size_t length, iso_program_t *program)
{
    char error[ISO_ERROR_LENGTH], title[64] = "";
    if (role.app >= 0) {
        snprintf(title, sizeof(title), "steps %d %d", role.app, role.rank);
    }
    char *text = iso_calloc(head_length + length + sizeof(title) + 16, 1);
    char *at = text;
    memcpy(at, head, head_length);
    at += head_length;
    at += sprintf(at, "%s", title);
    memcpy(at, steps, length); /* begins with the end of the line before */
    at += length;
    at += sprintf(at, "\nend\n");
    iso_program_text_t part = {"its part", text, (size_t)(at - text), role.app,
                               role.rank};
    if (iso_program_parse(program, &part, NULL, error)) {
        ISO_FAIL("%s", error); /* it was read by rank 0 before */
    }
    for (int k = 0; k < program->app_count; k++) { /* they point into it */
        free(program->apps[k].sections);
        program->apps[k].sections = NULL;
    }
    free(text);
}

iso_role_t iso_source_share(const iso_context_t *ctx, const iso_role_t *roles,
                            iso_program_t *program)
{
    int header[3] = {-1, -1, 0};
    long head_length = 0;
    char *head = NULL, *steps = NULL;
    const char *mine = "";
    if (ctx->rank == 0) {
        head = iso_calloc(source.length + 1, 1);
        head_length = (long)take_head(head);
    }
    iso_plain_bcast(ctx->control, &head_length, 1, MPI_LONG);
    if (head == NULL) {
        head = iso_calloc((size_t)head_length, 1);
    }
    iso_plain_bcast(ctx->control, head, (int)head_length, MPI_CHAR);
    for (int r = 1; ctx->rank == 0 && r < ctx->size; r++) {
        send_part(ctx, r, roles[r]);
    }
    if (ctx->rank != 0) {
        iso_idle_recv(&ctx->clock, header, 3, MPI_INT, 0, TAG_PART,
                      ctx->control, MPI_STATUS_IGNORE);
        mine = steps = iso_calloc((size_t)header[2], 1);
        MPI_CHECK(MPI_Recv(steps, header[2], MPI_CHAR, 0, TAG_PART,
                           ctx->control, MPI_STATUS_IGNORE));
    } else if (roles[0].app >= 0) {
        const iso_section_t *section =
            &source.program.apps[roles[0].app].sections[roles[0].rank];
        header[0] = roles[0].app;
        header[1] = roles[0].rank;
        header[2] = (int)(section->end - section->begin);
        mine = section->begin ? section->begin : "";
    }
    iso_role_t role = {header[0], header[1]};
    parse_part(head, (size_t)head_length, role, mine, (size_t)header[2],
               program);
    free(steps);
    free(head);
    return role;
}

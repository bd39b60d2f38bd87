/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "recording/output.h"

#include "recording/memory.h"
#include "runfile/preamble.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { TAG = 1, CHUNK = 1 << 28 };

static _Noreturn void no_memory(void)
{
    fprintf(stderr, "%s: no memory for the recording\n", iso_program_library);
    abort();
}

FILE *iso_memory_open(char **text, size_t *length)
{
    FILE *stream = open_memstream(text, length);
    if (stream == NULL) {
        no_memory();
    }
    return stream;
}

void iso_memory_close(FILE *stream)
{
    int failed = ferror(stream);
    if (fclose(stream) || failed) {
        no_memory(); /* incomplete */
    }
}

void iso_send_bytes(const void *data, long bytes, int to, MPI_Comm comm)
{
    PMPI_Send(&bytes, 1, MPI_LONG, to, TAG, comm);
    for (long done = 0; done < bytes; done += CHUNK) {
        long part = bytes - done < CHUNK ? bytes - done : CHUNK;
        PMPI_Send((const char *)data + done, (int)part, MPI_BYTE, to, TAG,
                  comm);
    }
}

void *iso_receive_bytes(long *bytes, int from, MPI_Comm comm)
{
    PMPI_Recv(bytes, 1, MPI_LONG, from, TAG, comm, MPI_STATUS_IGNORE);
    char *data = iso_resized(NULL, *bytes);
    for (long done = 0; done < *bytes; done += CHUNK) {
        long part = *bytes - done < CHUNK ? *bytes - done : CHUNK;
        PMPI_Recv(data + done, (int)part, MPI_BYTE, from, TAG, comm,
                  MPI_STATUS_IGNORE);
    }
    return data;
}

enum { MAX_COMMAND = 500 };

bool iso_output_requested(const char *variable, char **path)
{
    int rank = 0, wanted = 0;
    *path = NULL;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        const char *value = getenv(variable);
        wanted = value != NULL && value[0] != '\0';
        *path = wanted ? iso_copied(value) : NULL;
    }
    PMPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return wanted;
}

/** Put the command line of this process after "command=". */
static void find_command(char *note)
{
    strcpy(note, "command=");
    char *text = note + strlen(note);
    int file = open("/proc/self/cmdline", O_RDONLY);
    ssize_t length = file >= 0 ? read(file, text, MAX_COMMAND) : 0;
    if (file >= 0) {
        close(file);
    }
    length = length > 0 ? length - 1 : 0; /* the last 0 */
    for (ssize_t k = 0; k < length; k++) {
        text[k] = text[k] ? text[k] : ' ';
    }
    text[length] = '\0';
}

/** At rank 0. */
static void open_file(iso_output_t *output, const char *path)
{
    output->path = path;
    output->stream = fopen(path, "wx");
    if (output->stream == NULL) {
        fprintf(stderr, "%s: cannot write %s: %s\n", iso_program_library, path,
                strerror(errno));
        output->stream = fopen("/dev/null", "w");
        output->path = NULL;
    }
    output->record = (iso_record_t){.stream = output->stream};
}

void iso_output_begin(iso_output_t *output, const char *path, const char *kind,
                      const char *quantity)
{
    static const iso_option_t *const no_options[] = {NULL};
    const iso_experiment_t experiment = {.name = kind,
                                         .kind = kind,
                                         .options = no_options,
                                         .quantity_text = quantity};
    char note[MAX_COMMAND + 16];
    *output = (iso_output_t){.path = NULL};
    PMPI_Comm_dup(MPI_COMM_WORLD, &output->comm);
    PMPI_Comm_rank(output->comm, &output->rank);
    PMPI_Comm_size(output->comm, &output->ranks);
    if (output->rank == 0) {
        open_file(output, path);
    }
    iso_clock_t clock = iso_clock_examine();
    iso_place_t *places = iso_host_gather(output->comm, false);
    const iso_memory_t memory = {.text = "host"};
    iso_context_t ctx = {.comm = output->comm,
                         .control = output->comm,
                         .size = output->ranks,
                         .ranks = output->ranks,
                         .clock = clock,
                         .record = &output->record,
                         .places = places,
                         .memory = &memory};
    if (places) {
        find_command(note);
        iso_preamble_write(&ctx, &experiment, (const char *const[]){note}, 1);
    }
    free(places);
}

void iso_output_collect(iso_output_t *output, const char *text, size_t length,
                        const void *list, size_t bytes, void *self,
                        void (*take)(void *self, int rank, const void *list,
                                     size_t bytes))
{
    if (output->rank > 0) {
        iso_send_bytes(text, length, 0, output->comm);
        iso_send_bytes(list, bytes, 0, output->comm);
        return;
    }
    fwrite(text, 1, length, output->stream);
    take(self, 0, list, bytes);
    for (int r = 1; r < output->ranks; r++) {
        long size = 0, number = 0;
        char *their_text = iso_receive_bytes(&size, r, output->comm);
        void *their_list = iso_receive_bytes(&number, r, output->comm);
        fwrite(their_text, 1, size, output->stream);
        take(self, r, their_list, number);
        free(their_text);
        free(their_list);
    }
}

void iso_output_end(iso_output_t *output, double seconds, bool complete)
{
    PMPI_Comm_free(&output->comm);
    if (output->stream == NULL) {
        return;
    }
    ISO_RECORD(&output->record, "end", ("seconds", seconds),
               ("complete", complete));
    bool wrong = fflush(output->stream) != 0 || ferror(output->stream);
    wrong = fclose(output->stream) != 0 || wrong;
    if (wrong && output->path) {
        fprintf(stderr, "%s: cannot write %s: %s\n", iso_program_library,
                output->path, strerror(errno));
        unlink(output->path);
    }
}

char *iso_output_ranks(const int *ranks, int count)
{
    char *text = iso_resized(NULL, (size_t)count * 24 + 1), *end = text;
    *end = '\0';
    for (int k = 0; k < count;) {
        int length = 1;
        while (k + length < count && ranks[k + length] == ranks[k] + length) {
            length++;
        }
        end += sprintf(end, "%s%d", k ? " " : "", ranks[k]);
        end += length > 1 ? sprintf(end, "-%d", ranks[k] + length - 1) : 0;
        k += length;
    }
    return text;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "recording/sending.h"

#include "recording/memory.h"

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

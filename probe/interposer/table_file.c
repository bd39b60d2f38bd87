/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "interposer/table_file.h"

#include "interposer/report.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, NO_TABLE = -1, NOT_READ = -2 };

/** End all ranks, each of which knows that it has to. */
static _Noreturn void stop(void)
{
    fflush(NULL);
    PMPI_Finalize();
    _exit(EXIT_USAGE);
}

/** Read a file; return its length, or NOT_READ after a line that says why. */
static int read_file(const char *path, char **text)
{
    FILE *file = fopen(path, "rb");
    size_t length = 0;
    int code = errno;
    *text = file ? malloc(ISO_TABLE_MAX_BYTES + 1) : NULL;
    if (*text) {
        length = fread(*text, 1, ISO_TABLE_MAX_BYTES + 1, file);
        code = errno;
    }
    if (*text == NULL || ferror(file)) {
        iso_report_line("%s: cannot read the tuning table: %s", path,
                        strerror(code));
        length = 0;
    } else if (length > ISO_TABLE_MAX_BYTES) {
        iso_report_line("%s: too large for a tuning table", path);
        length = 0;
    } else if (length == 0) {
        iso_report_line("%s: not a tuning table: it is empty", path);
    }
    if (file) {
        fclose(file);
    }
    return length ? (int)length : NOT_READ;
}

/** At rank 0: read what is asked for; return its length, NO_TABLE or NOT_READ.
 */
static int read_asked(char *path, char **text)
{
    const char *asked = getenv("ISOCHRONE_TUNING");
    if (asked == NULL || *asked == '\0') {
        return NO_TABLE;
    }
    snprintf(path, ISO_TABLE_PATH, "%s", asked);
    return read_file(path, text);
}

bool iso_table_file_read(iso_table_t *table, char *path)
{
    char error[ISO_TABLE_ERROR], *text = NULL;
    int rank = 0, length = 0;
    path[0] = '\0';
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        length = read_asked(path, &text);
    }
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length < 0) {
        free(text);
        if (length == NO_TABLE) {
            return false;
        }
        stop();
    }
    if (text == NULL && (text = malloc((size_t)length)) == NULL) {
        fprintf(stderr, "isochrone-grid: no memory for the tuning table\n");
        PMPI_Abort(MPI_COMM_WORLD, EXIT_USAGE); /* the others do not know it */
    }
    PMPI_Bcast(text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    int bad = iso_table_read(text, (size_t)length, table, error);
    free(text);
    if (bad) { /* at all ranks alike */
        iso_report_line("%s: not a tuning table that can be applied: %s", path,
                        error);
        stop();
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file file_calls.c
 * The beginning and the end of programs; calls for whole files. Those
 * of C under MPI_ names, those of Fortran under PMPI_ names.
 */
#include "io_recorder/intercept.h"
#include "io_recorder/io_recorder.h"

#define BOTH(DEFINE, Name) DEFINE(MPI_##Name) DEFINE(PMPI_##Name)

#define BEGINS(Name, ...)                                                      \
    ISO_WRAPPER int Name(ISO_PARAMETERS(__VA_ARGS__))                          \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        int code = next(ISO_ARGUMENTS(__VA_ARGS__));                           \
        if (code == MPI_SUCCESS) {                                             \
            iso_io_begins();                                                   \
        }                                                                      \
        return code;                                                           \
    }
#define INIT(Name)        BEGINS(Name, int *, char ***)
#define INIT_THREAD(Name) BEGINS(Name, int *, char ***, int, int *)

#define FINALIZE(Name)                                                         \
    ISO_WRAPPER int Name(void)                                                 \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        iso_io_ends();                                                         \
        return next();                                                         \
    }

#define OPEN(Name)                                                             \
    ISO_WRAPPER int Name(MPI_Comm comm, const char *path, int mode,            \
                         MPI_Info info, MPI_File *file)                        \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        bool on;                                                               \
        double begin;                                                          \
        iso_open_id_t id = iso_file_opening(comm, &on, &begin);                \
        int code = next(comm, path, mode, info, file);                         \
        double end = PMPI_Wtime();                                             \
        if (on && code == MPI_SUCCESS) {                                       \
            iso_file_opened(id, path, info, *file);                            \
            iso_file_called(*file, ISO_OPEN, begin, end);                      \
        }                                                                      \
        if (on) {                                                              \
            iso_outermost_ends();                                              \
        }                                                                      \
        return code;                                                           \
    }

#define SET_VIEW(Name)                                                         \
    ISO_WRAPPER int Name(MPI_File file, MPI_Offset displacement,               \
                         MPI_Datatype etype, MPI_Datatype filetype,            \
                         const char *representation, MPI_Info info)            \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        bool first = iso_outermost();                                          \
        double begin = PMPI_Wtime();                                           \
        int code =                                                             \
            next(file, displacement, etype, filetype, representation, info);   \
        if (first && code == MPI_SUCCESS) {                                    \
            iso_file_called(file, ISO_SET_VIEW, begin, PMPI_Wtime());          \
            iso_file_viewed(file, displacement, etype, filetype,               \
                            representation, info);                             \
        }                                                                      \
        if (first) {                                                           \
            iso_outermost_ends();                                              \
        }                                                                      \
        return code;                                                           \
    }

#define CLOSE(Name)                                                            \
    ISO_WRAPPER int Name(MPI_File *file)                                       \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        MPI_File handle = *file;                                               \
        bool first = iso_outermost();                                          \
        double begin = PMPI_Wtime();                                           \
        int code = next(file);                                                 \
        if (first) {                                                           \
            iso_file_called(handle, ISO_CLOSE, begin, PMPI_Wtime());           \
            iso_file_closed(handle);                                           \
            iso_outermost_ends();                                              \
        }                                                                      \
        return code;                                                           \
    }

/** Calls whose time counts, with parameters of these types. */
#define TIMED(Name, CALL, PARAMETERS, ARGUMENTS)                               \
    ISO_WRAPPER int Name PARAMETERS                                            \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        bool first = iso_outermost();                                          \
        double begin = PMPI_Wtime();                                           \
        int code = next ARGUMENTS;                                             \
        if (first) {                                                           \
            iso_file_called(file, CALL, begin, PMPI_Wtime());                  \
            iso_outermost_ends();                                              \
        }                                                                      \
        return code;                                                           \
    }
#define SIZED(Name)                                                            \
    TIMED(Name, ISO_SET_SIZE, (MPI_File file, MPI_Offset size), (file, size))
#define SYNC(Name) TIMED(Name, ISO_SYNC, (MPI_File file), (file))

BOTH(INIT, Init)
BOTH(INIT_THREAD, Init_thread)
BOTH(FINALIZE, Finalize)
BOTH(OPEN, File_open)
BOTH(SET_VIEW, File_set_view)
BOTH(CLOSE, File_close)
BOTH(SIZED, File_set_size)
BOTH(SIZED, File_preallocate)
BOTH(SYNC, File_sync)

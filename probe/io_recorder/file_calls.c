/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file file_calls.c
 * The beginning and the end of programs; calls for whole files. Those
 * of C under MPI_ names, those of Fortran under PMPI_ names.
 */
#include "io_recorder/intercept.h"
#include "io_recorder/io_recorder.h"

#define BEGINS                                                                 \
    if (code == MPI_SUCCESS) {                                                 \
        iso_io_begins();                                                       \
    }

ISO_INTERCEPT_BOTH(Init, (int *argc, char ***argv), (argc, argv), , BEGINS)
ISO_INTERCEPT_BOTH(Init_thread,
                   (int *argc, char ***argv, int required, int *provided),
                   (argc, argv, required, provided), , BEGINS)
ISO_INTERCEPT_BOTH(Finalize, (void), (), iso_io_ends(), )

/** A call for a file, which does DONE after it if it is no part of another. */
#define OUTERMOST(Name, PARAMETERS, ARGUMENTS, BEFORE, DONE)                   \
    ISO_INTERCEPT_BOTH(                                                        \
        Name, PARAMETERS, ARGUMENTS, bool first = iso_outermost();             \
        double begin = PMPI_Wtime(); BEFORE, if (first) {                      \
            double end = PMPI_Wtime();                                         \
            DONE;                                                              \
            iso_outermost_ends();                                              \
        })

OUTERMOST(
    File_open,
    (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file),
    (comm, path, mode, info, file),
    iso_open_id_t id = iso_file_opening(comm, first), if (code == MPI_SUCCESS) {
        iso_file_opened(id, path, info, *file);
        iso_file_called(*file, ISO_OPEN, begin, end);
    })
OUTERMOST(
    File_set_view,
    (MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
     MPI_Datatype filetype, const char *representation, MPI_Info info),
    (file, displacement, etype, filetype, representation, info), ,
    if (code == MPI_SUCCESS) {
        iso_file_called(file, ISO_SET_VIEW, begin, end);
        iso_file_viewed(file, displacement, etype, filetype, representation,
                        info);
    })
OUTERMOST(File_close, (MPI_File * file), (file), MPI_File handle = *file,
          iso_file_called(handle, ISO_CLOSE, begin, end);
          iso_file_closed(handle))
OUTERMOST(File_set_size, (MPI_File file, MPI_Offset size), (file, size), ,
          iso_file_called(file, ISO_SET_SIZE, begin, end))
OUTERMOST(File_preallocate, (MPI_File file, MPI_Offset size), (file, size), ,
          iso_file_called(file, ISO_SET_SIZE, begin, end))
OUTERMOST(File_sync, (MPI_File file), (file), ,
          iso_file_called(file, ISO_SYNC, begin, end))

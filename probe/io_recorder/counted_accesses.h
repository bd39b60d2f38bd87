/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file counted_accesses.h
 * The accesses to files, of one kind of counts. Included once for each, with
 * COUNT, CALL(Name) and LIBRARY(Name) defined.
 */
#include "io_recorder/intercept.h"
#include "io_recorder/io_recorder.h"

#define NAME_OF(Call) #Call
#define TEXT_OF(Call) NAME_OF(Call)

#define ACCESS(Full, Name, COLLECTIVE, WRITE, WHERE, OFFSET, PARAMETERS,       \
               ARGUMENTS)                                                      \
    ISO_WRAPPER int Full PARAMETERS                                            \
    {                                                                          \
        ISO_NEXT(Full)                                                         \
        iso_access_t access =                                                  \
            iso_access_begin(file, COLLECTIVE, WHERE, OFFSET);                 \
        return iso_access_end(&access, next ARGUMENTS, Name, WRITE, count,     \
                              type);                                           \
    }

#define BOTH(Name, ...)                                                        \
    ACCESS(CALL(Name), TEXT_OF(CALL(Name)), __VA_ARGS__)                       \
    ACCESS(LIBRARY(Name), TEXT_OF(CALL(Name)), __VA_ARGS__)

#define READ    void *buffer, COUNT count, MPI_Datatype type
#define WRITTEN const void *buffer, COUNT count, MPI_Datatype type
#define MOVED   buffer, count, type

/** Reading and writing at an offset, or at a pointer. */
#define AT(Read, Write, COLLECTIVE, WHERE, LAST, VALUE)                        \
    BOTH(Read, COLLECTIVE, false, WHERE, at,                                   \
         (MPI_File file, MPI_Offset at, READ, LAST), (file, at, MOVED, VALUE)) \
    BOTH(Write, COLLECTIVE, true, WHERE, at,                                   \
         (MPI_File file, MPI_Offset at, WRITTEN, LAST),                        \
         (file, at, MOVED, VALUE))
#define HERE(Read, Write, COLLECTIVE, WHERE, LAST, VALUE)                      \
    BOTH(Read, COLLECTIVE, false, WHERE, 0, (MPI_File file, READ, LAST),       \
         (file, MOVED, VALUE))                                                 \
    BOTH(Write, COLLECTIVE, true, WHERE, 0, (MPI_File file, WRITTEN, LAST),    \
         (file, MOVED, VALUE))

#define STATUS  MPI_Status *status
#define REQUEST MPI_Request *request

AT(File_read_at_all, File_write_at_all, true, ISO_AT, STATUS, status)
HERE(File_read_all, File_write_all, true, ISO_HERE, STATUS, status)
HERE(File_read_ordered, File_write_ordered, true, ISO_UNKNOWN, STATUS, status)

/* Of those that are split, the beginning is the access. */
BOTH(File_read_at_all_begin, true, false, ISO_AT, at,
     (MPI_File file, MPI_Offset at, READ), (file, at, MOVED))
BOTH(File_write_at_all_begin, true, true, ISO_AT, at,
     (MPI_File file, MPI_Offset at, WRITTEN), (file, at, MOVED))
#define BEGIN(Kind, WHERE)                                                     \
    BOTH(File_read_##Kind##_begin, true, false, WHERE, 0,                      \
         (MPI_File file, READ), (file, MOVED))                                 \
    BOTH(File_write_##Kind##_begin, true, true, WHERE, 0,                      \
         (MPI_File file, WRITTEN), (file, MOVED))
BEGIN(all, ISO_HERE)
BEGIN(ordered, ISO_UNKNOWN)

/* Independent ones, which are counted. */
AT(File_read_at, File_write_at, false, ISO_AT, STATUS, status)
HERE(File_read, File_write, false, ISO_HERE, STATUS, status)
HERE(File_read_shared, File_write_shared, false, ISO_UNKNOWN, STATUS, status)
HERE(File_iread, File_iwrite, false, ISO_HERE, REQUEST, request)
HERE(File_iread_shared, File_iwrite_shared, false, ISO_UNKNOWN, REQUEST,
     request)
AT(File_iread_at, File_iwrite_at, false, ISO_UNKNOWN, REQUEST, request)

/* Nonblocking collective accesses: their end is not observed, so they are only
 * counted. */
AT(File_iread_at_all, File_iwrite_at_all, true, ISO_UNKNOWN, REQUEST, request)
HERE(File_iread_all, File_iwrite_all, true, ISO_UNKNOWN, REQUEST, request)

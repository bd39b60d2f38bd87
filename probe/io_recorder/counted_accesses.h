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

#define ACCESS(Full, Name, KIND, WRITE, WHERE, OFFSET, PARAMETERS, ARGUMENTS,  \
               REQUEST)                                                        \
    ISO_INTERCEPT(                                                             \
        Full, PARAMETERS, ARGUMENTS,                                           \
        iso_access_t access = iso_access_begin(file, KIND, WHERE, OFFSET),     \
        iso_access_end(&access, code, Name, WRITE, count, type, REQUEST))

#define BOTH(Name, ...)                                                        \
    ACCESS(CALL(Name), TEXT_OF(CALL(Name)), __VA_ARGS__)                       \
    ACCESS(LIBRARY(Name), TEXT_OF(CALL(Name)), __VA_ARGS__)

#define READ    void *buffer, COUNT count, MPI_Datatype type
#define WRITTEN const void *buffer, COUNT count, MPI_Datatype type
#define MOVED   buffer, count, type

/** Reading and writing at an offset, or at a pointer. LAST: the last parameter,
 *  its name, and the request. */
#define AT(Read, Write, KIND, WHERE, LAST) AT_(Read, Write, KIND, WHERE, LAST)
#define AT_(Read, Write, KIND, WHERE, LAST, VALUE, ...)                        \
    BOTH(Read, KIND, false, WHERE, at,                                         \
         (MPI_File file, MPI_Offset at, READ, LAST), (file, at, MOVED, VALUE), \
         __VA_ARGS__)                                                          \
    BOTH(Write, KIND, true, WHERE, at,                                         \
         (MPI_File file, MPI_Offset at, WRITTEN, LAST),                        \
         (file, at, MOVED, VALUE), __VA_ARGS__)
#define HERE(Read, Write, KIND, WHERE, LAST)                                   \
    HERE_(Read, Write, KIND, WHERE, LAST)
#define HERE_(Read, Write, KIND, WHERE, LAST, VALUE, ...)                      \
    BOTH(Read, KIND, false, WHERE, 0, (MPI_File file, READ, LAST),             \
         (file, MOVED, VALUE), __VA_ARGS__)                                    \
    BOTH(Write, KIND, true, WHERE, 0, (MPI_File file, WRITTEN, LAST),          \
         (file, MOVED, VALUE), __VA_ARGS__)

#define STATUS  MPI_Status *status, status, NULL
#define REQUEST MPI_Request *request, request, request

AT(File_read_at_all, File_write_at_all, ISO_COLLECTIVE, ISO_AT, STATUS)
HERE(File_read_all, File_write_all, ISO_COLLECTIVE, ISO_HERE, STATUS)
HERE(File_read_ordered, File_write_ordered, ISO_ORDERED, ISO_UNKNOWN, STATUS)

/* Of those that are split, the beginning is the access. */
BOTH(File_read_at_all_begin, ISO_COLLECTIVE, false, ISO_AT, at,
     (MPI_File file, MPI_Offset at, READ), (file, at, MOVED), NULL)
BOTH(File_write_at_all_begin, ISO_COLLECTIVE, true, ISO_AT, at,
     (MPI_File file, MPI_Offset at, WRITTEN), (file, at, MOVED), NULL)
#define BEGIN(Kind, CALLED, WHERE)                                             \
    BOTH(File_read_##Kind##_begin, CALLED, false, WHERE, 0,                    \
         (MPI_File file, READ), (file, MOVED), NULL)                           \
    BOTH(File_write_##Kind##_begin, CALLED, true, WHERE, 0,                    \
         (MPI_File file, WRITTEN), (file, MOVED), NULL)
BEGIN(all, ISO_COLLECTIVE, ISO_HERE)
BEGIN(ordered, ISO_ORDERED, ISO_UNKNOWN)

AT(File_iread_at_all, File_iwrite_at_all, ISO_ICOLLECTIVE, ISO_AT, REQUEST)
HERE(File_iread_all, File_iwrite_all, ISO_ICOLLECTIVE, ISO_HERE, REQUEST)

/* Independent ones, which are counted. */
AT(File_read_at, File_write_at, ISO_INDEPENDENT, ISO_AT, STATUS)
HERE(File_read, File_write, ISO_INDEPENDENT, ISO_HERE, STATUS)
HERE(File_read_shared, File_write_shared, ISO_SHARED, ISO_UNKNOWN, STATUS)
AT(File_iread_at, File_iwrite_at, ISO_IINDEPENDENT, ISO_AT, REQUEST)
HERE(File_iread, File_iwrite, ISO_IINDEPENDENT, ISO_HERE, REQUEST)
HERE(File_iread_shared, File_iwrite_shared, ISO_SHARED, ISO_UNKNOWN, REQUEST)

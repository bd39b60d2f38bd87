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

#define LIST(...) __VA_ARGS__
#define READ      void *buffer, COUNT count, MPI_Datatype type
#define WRITTEN   const void *buffer, COUNT count, MPI_Datatype type
#define MOVED     buffer, count, type

/** Reading and writing at an offset, or at a pointer. */
#define AT(Kind, COLLECTIVE, WHERE, LAST, VALUE)                               \
    BOTH(File_read_##Kind, COLLECTIVE, false, WHERE, at,                       \
         (MPI_File file, MPI_Offset at, READ, LAST), (file, at, MOVED, VALUE)) \
    BOTH(File_write_##Kind, COLLECTIVE, true, WHERE, at,                       \
         (MPI_File file, MPI_Offset at, WRITTEN, LAST),                        \
         (file, at, MOVED, VALUE))
#define HERE(Read, Write, COLLECTIVE, WHERE, LAST, VALUE)                      \
    BOTH(Read, COLLECTIVE, false, WHERE, 0, (MPI_File file, READ, LAST),       \
         (file, MOVED, VALUE))                                                 \
    BOTH(Write, COLLECTIVE, true, WHERE, 0, (MPI_File file, WRITTEN, LAST),    \
         (file, MOVED, VALUE))

#define STATUS  MPI_Status *status
#define REQUEST MPI_Request *request

AT(at_all, true, ISO_AT, STATUS, status)
HERE(File_read_all, File_write_all, true, ISO_HERE, STATUS, status)
HERE(File_read_ordered, File_write_ordered, true, ISO_UNKNOWN, STATUS, status)

/* Of those that are split, the beginning is the access. */
#define BEGIN_AT(Name, WRITE, DATA)                                            \
    BOTH(Name, true, WRITE, ISO_AT, at, (MPI_File file, MPI_Offset at, DATA),  \
         (file, at, MOVED))
#define BEGIN(Name, WRITE, WHERE, DATA)                                        \
    BOTH(Name, true, WRITE, WHERE, 0, (MPI_File file, DATA), (file, MOVED))
BEGIN_AT(File_read_at_all_begin, false, LIST(READ))
BEGIN_AT(File_write_at_all_begin, true, LIST(WRITTEN))
BEGIN(File_read_all_begin, false, ISO_HERE, LIST(READ))
BEGIN(File_write_all_begin, true, ISO_HERE, LIST(WRITTEN))
BEGIN(File_read_ordered_begin, false, ISO_UNKNOWN, LIST(READ))
BEGIN(File_write_ordered_begin, true, ISO_UNKNOWN, LIST(WRITTEN))

/* Independent ones, which are counted. */
AT(at, false, ISO_AT, STATUS, status)
HERE(File_read, File_write, false, ISO_HERE, STATUS, status)
HERE(File_read_shared, File_write_shared, false, ISO_UNKNOWN, STATUS, status)
HERE(File_iread, File_iwrite, false, ISO_HERE, REQUEST, request)
HERE(File_iread_shared, File_iwrite_shared, false, ISO_UNKNOWN, REQUEST,
     request)
#define I_AT(Name, COLLECTIVE, WRITE, DATA)                                    \
    BOTH(Name, COLLECTIVE, WRITE, ISO_UNKNOWN, at,                             \
         (MPI_File file, MPI_Offset at, DATA, REQUEST),                        \
         (file, at, MOVED, request))
I_AT(File_iread_at, false, false, LIST(READ))
I_AT(File_iwrite_at, false, true, LIST(WRITTEN))

/* Nonblocking collective accesses: their end is not observed, so they are only
 * counted. */
I_AT(File_iread_at_all, true, false, LIST(READ))
I_AT(File_iwrite_at_all, true, true, LIST(WRITTEN))
HERE(File_iread_all, File_iwrite_all, true, ISO_UNKNOWN, REQUEST, request)

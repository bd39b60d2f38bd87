/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/message.h"

#include "base/check.h"

#include <limits.h>

static const long long BLOCK = 1LL << 30;

size_t iso_message_extent(long long bytes, long stride)
{
    long long elements = bytes / (long long)sizeof(double);
    if (stride == 0 || elements == 0) {
        return bytes;
    }
    return ((elements - 1) * stride + 1) * sizeof(double);
}

/** A type of more bytes than an int counts: whole blocks and a remainder. */
static MPI_Datatype large_type(long long bytes)
{
    MPI_Datatype block, whole;
    int lengths[2] = {bytes / BLOCK, bytes % BLOCK};
    MPI_Aint places[2] = {0, bytes - bytes % BLOCK};
    MPI_CHECK(MPI_Type_contiguous(BLOCK, MPI_BYTE, &block));
    MPI_Datatype types[2] = {block, MPI_BYTE};
    MPI_CHECK(MPI_Type_create_struct(2, lengths, places, types, &whole));
    MPI_CHECK(MPI_Type_free(&block));
    return whole;
}

void iso_message_create(iso_message_t *message, long long bytes, long stride)
{
    long long elements = bytes / (long long)sizeof(double);
    message->bytes = bytes;
    message->stride = stride;
    message->extent = iso_message_extent(bytes, stride);
    message->owned = true;
    message->count = 1;
    if (stride > 0) {
        MPI_CHECK(
            MPI_Type_vector(elements, 1, stride, MPI_DOUBLE, &message->type));
    } else if (bytes > INT_MAX) {
        message->type = large_type(bytes);
    } else {
        message->owned = false;
        message->count = bytes;
        message->type = MPI_BYTE;
    }
    if (message->owned) {
        MPI_CHECK(MPI_Type_commit(&message->type));
    }
}

void iso_message_free(iso_message_t *message)
{
    if (message->owned) {
        MPI_CHECK(MPI_Type_free(&message->type));
        message->owned = false;
    }
}

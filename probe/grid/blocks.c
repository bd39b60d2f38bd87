/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/blocks.h"

#include <stdlib.h>
#include <string.h>

/** Whether elements of a type lie one after the other, in the order of their
 *  signature. Unknown for derived types. */
static bool is_dense(MPI_Datatype type, int size)
{
    int integers, addresses, types, combiner;
    MPI_Aint low, extent;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types,
                                  &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED &&
           PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS &&
           low == 0 && extent == size;
}

iso_blocks_t iso_blocks_of(const void *buffer, int count, MPI_Datatype type)
{
    iso_blocks_t blocks = {
        .buffer = (char *)buffer, .count = count, .type = type, .bytes = -1};
    int size = 0;
    MPI_Aint low, extent = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL ||
        PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0 ||
        PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS) {
        return blocks;
    }
    blocks.stride = extent * count;
    blocks.dense = is_dense(type, size);
    if (buffer != NULL || !blocks.dense || count == 0) {
        blocks.bytes = (long long)size * count;
    }
    return blocks;
}

int iso_blocks_pack(const iso_blocks_t *blocks, int block, char *packed,
                    MPI_Comm comm)
{
    const char *from = iso_blocks_at(blocks, block);
    int position = 0;
    if (blocks->dense) {
        memcpy(packed, from, blocks->bytes);
        return MPI_SUCCESS;
    }
    return PMPI_Pack(from, blocks->count, blocks->type, packed, blocks->bytes,
                     &position, comm);
}

int iso_blocks_unpack(const iso_blocks_t *blocks, int block, const char *packed,
                      MPI_Comm comm)
{
    char *to = iso_blocks_at(blocks, block);
    int position = 0;
    if (blocks->dense) {
        memcpy(to, packed, blocks->bytes);
        return MPI_SUCCESS;
    }
    return PMPI_Unpack(packed, blocks->bytes, &position, to, blocks->count,
                       blocks->type, comm);
}

iso_elements_t iso_elements_alloc(long long count, MPI_Datatype type)
{
    iso_elements_t elements = {NULL, NULL};
    MPI_Aint low, extent, true_low, true_extent;
    if (PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &true_low, &true_extent) !=
            MPI_SUCCESS) {
        return elements;
    }
    /* From the first byte of the first or last element to the other's last. */
    MPI_Aint last = extent * (count - 1);
    MPI_Aint first = true_low + (last < 0 ? last : 0);
    MPI_Aint span = true_extent + (last < 0 ? -last : last);
    elements.memory = malloc(span);
    if (elements.memory != NULL) {
        elements.buffer = (char *)elements.memory - first;
    }
    return elements;
}

void iso_elements_free(iso_elements_t *elements)
{
    free(elements->memory);
    elements->memory = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/flat_array.h"

#include <mpi.h>

/** The indices of one dimension: blocks of `length`, `stride` apart. */
typedef struct iso_cut {
    int64_t first, length, stride, size;
} iso_cut_t;

/** Where the process of a darray is in its grid, which is always row by row. */
static int64_t coordinate(const iso_array_t *array, int dimension)
{
    int64_t rank = array->rank;
    for (int d = array->dimensions - 1; d > dimension; d--) {
        rank /= array->processes[d];
    }
    return rank % array->processes[dimension];
}

static iso_cut_t cut_of(const iso_array_t *array, int d)
{
    int64_t size = array->sizes[d];
    if (array->parts) {
        return (iso_cut_t){array->starts[d], array->parts[d], size + 1,
                           array->starts[d] + array->parts[d]};
    }
    int64_t processes = array->processes[d], block = array->arguments[d];
    int64_t at = coordinate(array, d);
    if (array->kinds[d] == MPI_DISTRIBUTE_NONE) {
        return (iso_cut_t){0, size, size + 1, size};
    }
    if (array->kinds[d] == MPI_DISTRIBUTE_BLOCK) {
        block = block == MPI_DISTRIBUTE_DFLT_DARG
                    ? (size + processes - 1) / processes
                    : block;
        return (iso_cut_t){at * block, block, size + 1, size};
    }
    block = block == MPI_DISTRIBUTE_DFLT_DARG ? 1 : block;
    return (iso_cut_t){at * block, block, processes * block, size};
}

/** Repeat what is inside along one dimension. */
static void add_dimension(const iso_cut_t *cut, const iso_pieces_t *inside,
                          int64_t extent, iso_pieces_t *list)
{
    for (int64_t at = cut->first; at < cut->size && !list->too_many;
         at += cut->stride) {
        int64_t rest = cut->size - at;
        iso_pieces_repeat(list, inside, at * extent,
                          cut->length < rest ? cut->length : rest, extent);
    }
    iso_pieces_end(list);
}

void iso_array_flatten(const iso_array_t *array, const iso_pieces_t *element,
                       int64_t extent, iso_pieces_t *list)
{
    iso_pieces_t inside = {0};
    iso_pieces_add_all(&inside, element, 0);
    iso_pieces_end(&inside);
    for (int k = 0; k < array->dimensions; k++) {
        int d = array->order == MPI_ORDER_C ? array->dimensions - 1 - k : k;
        iso_cut_t cut = cut_of(array, d);
        iso_pieces_t outside = {0};
        add_dimension(&cut, &inside, extent, &outside);
        extent *= array->sizes[d];
        iso_pieces_free(&inside);
        inside = outside;
    }
    iso_pieces_add_all(list, &inside, 0);
    iso_pieces_free(&inside);
}

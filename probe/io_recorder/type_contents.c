/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/type_contents.h"

#include "recording/memory.h"

/** A copy of whole numbers of another type, as 64 bits. */
#define COPY(to, from, count)                                                  \
    for (int64_t copied = 0; copied < (count); copied++) {                     \
        (to)[copied] = (from)[copied];                                         \
    }

#if MPI_VERSION >= 4
typedef MPI_Count count_t;
#define ENVELOPE(type, small, addresses, large, types, combiner)               \
    PMPI_Type_get_envelope_c(type, small, addresses, large, types, combiner)
#define CONTENTS PMPI_Type_get_contents_c
#else
typedef int count_t;
/* There are no large counts. */
#define ENVELOPE(type, small, addresses, large, types, combiner)               \
    ((void)(large),                                                            \
     PMPI_Type_get_envelope(type, small, addresses, types, combiner))
#define CONTENTS(type, small, addresses, large, types, whole, bytes, numbers,  \
                 made)                                                         \
    PMPI_Type_get_contents(type, small, addresses, types, whole, bytes, made)
#endif

int iso_type_combiner(MPI_Datatype type)
{
    count_t counts, addresses, large, types;
    int combiner = MPI_COMBINER_NAMED;
    ENVELOPE(type, &counts, &addresses, &large, &types, &combiner);
    return combiner;
}

/** How many of the large counts of a datatype are displacements in bytes,
 *  which follow the others. */
static int64_t displacements_among(int combiner, int64_t count)
{
    switch (combiner) {
    case MPI_COMBINER_HVECTOR:
        return 1;
    case MPI_COMBINER_RESIZED:
        return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return count;
    default:
        return 0;
    }
}

/** How many of the small counts precede the large ones, where a datatype
 *  of small counts has all of them in one list. */
static int64_t small_before(int combiner)
{
    return combiner == MPI_COMBINER_SUBARRAY ? 1
           : combiner == MPI_COMBINER_DARRAY ? 3
                                             : 0;
}

/** Ask in the way of MPI 4, and put what it says in the order of MPI 3. Some
 *  libraries answer in no other way for what was made of large counts. */
static void ask(MPI_Datatype type, iso_contents_t *contents)
{
    count_t small = 0, addresses = 0, large = 0, types = 0;
    ENVELOPE(type, &small, &addresses, &large, &types, &contents->combiner);
    if (types == 0) {
        return;
    }
    int *whole = iso_zeroed(small * sizeof(*whole));
    MPI_Aint *bytes = iso_zeroed(addresses * sizeof(*bytes));
    count_t *numbers = iso_zeroed((large + 1) * sizeof(*numbers));
    contents->type_count = types;
    contents->types = iso_zeroed(types * sizeof(*contents->types));
    CONTENTS(type, small, addresses, large, types, whole, bytes, numbers,
             contents->types);
    int64_t behind =
        large ? displacements_among(contents->combiner, numbers[0]) : 0;
    int64_t between = large - behind;
    int64_t before = large ? small_before(contents->combiner) : small;
    contents->counts = iso_zeroed((small + between) * sizeof(int64_t));
    contents->displacements =
        iso_zeroed((addresses + behind) * sizeof(int64_t));
    COPY(contents->counts, whole, before)
    COPY(&contents->counts[before], numbers, between)
    COPY(&contents->counts[before + between], &whole[before], small - before)
    COPY(contents->displacements, bytes, addresses)
    COPY(&contents->displacements[addresses], &numbers[between], behind)
    free(whole);
    free(bytes);
    free(numbers);
}

bool iso_type_contents(MPI_Datatype type, iso_contents_t *contents)
{
    *contents = (iso_contents_t){0};
    ask(type, contents);
    return contents->type_count > 0;
}

static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED ||
           combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX ||
           combiner == MPI_COMBINER_F90_INTEGER;
}

void iso_contents_free(iso_contents_t *contents)
{
    for (int k = 0; k < contents->type_count; k++) {
        if (!is_predefined(iso_type_combiner(contents->types[k]))) {
            PMPI_Type_free(&contents->types[k]);
        }
    }
    free(contents->counts);
    free(contents->displacements);
    free(contents->types);
}

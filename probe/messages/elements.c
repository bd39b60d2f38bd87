/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/elements.h"

#include "base/check.h"

#include <complex.h>
#undef complex /* a word below */
#include <string.h>

typedef double _Complex pair_t;

/** A double, and a gap of the size of one behind it. */
typedef struct {
    double value, gap;
} gapped_t;

/** X(word, datatype, C type, member, data bytes, ordered, summed, value to
 *  store) */
#define ELEMENTS(X)                                                            \
    X(byte, MPI_BYTE, unsigned char, , 1, false, false, value)                 \
    X(char, MPI_SIGNED_CHAR, signed char, , 1, true, true, (signed char)value) \
    X(double, MPI_DOUBLE, double, , sizeof(double), true, true, value)         \
    X(float, MPI_FLOAT, float, , sizeof(float), true, true, value)             \
    X(int, MPI_INT, int, , sizeof(int), true, true, value)                     \
    X(complex, MPI_C_DOUBLE_COMPLEX, pair_t, , sizeof(pair_t), false, true,    \
      value - 2 * value * I)                                                   \
    X(strided, MPI_DATATYPE_NULL, gapped_t, .value, sizeof(double), false,     \
      false, value)

#define FUNCTIONS(word, type_, kind, member, ...)                              \
    static void add_##word(void *from, void *into, int *count,                 \
                           MPI_Datatype *type)                                 \
    {                                                                          \
        const kind *a = from;                                                  \
        kind *b = into;                                                        \
        for (int k = 0; k < *count; k++) {                                     \
            b[k] member += a[k] member;                                        \
        }                                                                      \
    }                                                                          \
    STORE(word, kind, member, __VA_ARGS__)
#define STORE(word, kind, member, bytes, ordered, summed, stored)              \
    static void store_##word(char *element, double value)                      \
    {                                                                          \
        kind whole = {0};                                                      \
        whole member = stored;                                                 \
        memcpy(element, &whole, bytes);                                        \
    }
ELEMENTS(FUNCTIONS)

#define ENTRY(word, type_, kind, member, bytes, is_ordered, is_summed, stored) \
    {#word,     bytes,      sizeof(kind), is_ordered,                          \
     is_summed, add_##word, store_##word},
const iso_element_t iso_elements[] = {ELEMENTS(ENTRY){0}};

const iso_element_t *iso_element_find(const char *word)
{
    for (const iso_element_t *e = iso_elements; e->word; e++) {
        if (strcmp(e->word, word) == 0) {
            return e;
        }
    }
    return NULL;
}

MPI_Datatype iso_element_type(const iso_element_t *element)
{
#define TYPE(kind, is, ...)                                                    \
    if (strcmp(element->word, #kind) == 0 && (is) != MPI_DATATYPE_NULL) {      \
        return is;                                                             \
    }
    ELEMENTS(TYPE)
    MPI_Datatype type;
    MPI_CHECK(MPI_Type_create_resized(MPI_DOUBLE, 0, (MPI_Aint)element->extent,
                                      &type));
    MPI_CHECK(MPI_Type_commit(&type));
    return type;
}

void iso_element_free(const iso_element_t *element, MPI_Datatype *type)
{
    if (element->extent > element->size) {
        MPI_CHECK(MPI_Type_free(type));
    }
}

MPI_Op iso_reduction(const iso_element_t *element, const char *word)
{
    MPI_Op reduction = strcmp(word, "max") == 0 ? MPI_MAX : MPI_SUM;
    if (strcmp(word, "user") == 0) {
        MPI_CHECK(MPI_Op_create(element->add, 1, &reduction));
    }
    return reduction;
}

void iso_reduction_free(MPI_Op *reduction, const char *word)
{
    if (strcmp(word, "user") == 0) {
        MPI_CHECK(MPI_Op_free(reduction));
    }
}

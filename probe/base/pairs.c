/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pairs.h"

#include "base/sizes.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

int iso_pairs_next(const char **rest, iso_pair_t *pair)
{
    if (*rest == NULL) {
        return 0;
    }
    if (!isdigit((unsigned char)**rest)) {
        return -1;
    }
    char *end = NULL;
    long i = strtol(*rest, &end, 10);
    if (*end != '-' || !isdigit((unsigned char)end[1])) {
        return -1;
    }
    long j = strtol(end + 1, &end, 10);
    if (i == j || i > INT_MAX || j > INT_MAX || (*end && *end != ',')) {
        return -1;
    }
    *pair = (iso_pair_t){i, j};
    *rest = *end ? end + 1 : NULL;
    return 1;
}

int iso_pairs_check_ranks(const char *list, int ranks, char *error)
{
    iso_pair_t pair;
    while (iso_pairs_next(&list, &pair) > 0) {
        int highest = pair.i > pair.j ? pair.i : pair.j;
        if (highest >= ranks) {
            return ISO_REFUSE(error,
                              "--pairs: there is no rank %d; ranks are 0 to %d",
                              highest, ranks - 1);
        }
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/hotspot/star_record.h"

#include "runfile/record.h"

void iso_star_record_sample(const iso_star_t *star,
                            const iso_star_point_t *point, long repeat,
                            double seconds, int batch)
{
    iso_record_t *record = star->ctx->record;
    long hot = star->hot;
    iso_record_begin(record, "sample");
    ISO_MEMBERS(record, ("intra", 2 * hot * point->intra),
                ("in", hot * point->in), ("out", hot * point->out),
                ("pa", hot * point->intra),
                ("pe", 0.5 * (double)(hot * (point->in + point->out))),
                ("shape", point->ring ? "ring" : "star"),
                ("busy", iso_star_busy(star, point)),
                ("order", point->inter_first ? "inter-first" : "intra-first"),
                ("hot", hot), ("bytes", point->bytes), ("repeat", repeat),
                ("seconds", seconds));
    if (batch > 1) {
        iso_record_int(record, "batch", batch);
    }
    iso_record_end(record);
}

void iso_star_record_roles(const iso_star_t *star)
{
    static const char *const names[] = {"", "hot", "intra", "inter"};
    iso_record_t *record = star->ctx->record;
    for (int r = 0; r < star->ctx->size; r++) {
        int group, index;
        iso_role_t role = iso_star_role(star, r, &group, &index);
        if (role != ISO_ROLE_NONE) {
            ISO_RECORD(record, "role", ("rank", r), ("role", names[role]),
                       ("group", group), ("index", index));
        }
    }
}

void iso_star_record_unreachable(const iso_star_t *star, long hot, int intra,
                                 int inter)
{
    iso_record_t *record = star->ctx->record;
    char why[160];
    if (star->hot == 0) {
        snprintf(why, sizeof(why),
                 "no node has enough ranks for %ld hot processes", hot);
    } else if (intra > star->reach_intra) {
        snprintf(why, sizeof(why),
                 "the node has only enough ranks for %d partners of each hot "
                 "process",
                 star->reach_intra);
    } else {
        snprintf(why, sizeof(why),
                 "other nodes have only enough ranks for %d partners of each "
                 "hot process",
                 star->reach_inter);
    }
    ISO_RECORD(record, "unreachable", ("intra", intra), ("inter", inter),
               ("why", why));
}

void iso_star_warn(const iso_star_t *star, long unreachable, long points)
{
    int partners = star->hot * star->reach_inter;
    if (unreachable > 0) {
        iso_record_warning(
            star->ctx->record, "unreachable",
            "%ld of %ld points of the grid cannot be measured with these "
            "nodes and ranks",
            unreachable, points);
    }
    if (partners > star->other_nodes) {
        iso_record_warning(star->ctx->record, "partners-share-nodes",
                           "up to %d partners are on %d other nodes; those "
                           "that share a node load it as well",
                           partners, star->other_nodes);
    }
}

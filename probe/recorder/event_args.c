/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/event_args.h"

#include "recorder/requests.h"

int64_t iso_bytes(int64_t count, MPI_Datatype type)
{
    int small = 0;
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL) {
        return 0;
    }
    PMPI_Type_size(type, &small);
    size = small;
    if (small < 0) { /* MPI_UNDEFINED: beyond int */
        PMPI_Type_size_x(type, &size);
    }
    return count * size;
}

bool iso_is_root(int root, MPI_Comm comm)
{
    return root == MPI_ROOT || (root >= 0 && root == iso_members(comm)->rank &&
                                !iso_members(comm)->inter);
}

int iso_partners(MPI_Comm comm)
{
    return iso_members(comm)->remote;
}

/** Record a completed or pending operation. */
static void keep(iso_call_t *call, iso_start_t start, const iso_event_t *event,
                 const MPI_Request *request)
{
    if (start == ISO_LATER) {
        iso_requests_keep(*request, event);
        return;
    }
    iso_event_store(call, event);
    if (start == ISO_BEGUN) {
        iso_requests_open(*request);
        iso_thread_requests(*request != MPI_REQUEST_NULL);
    }
}

static int64_t bytes_of(const MPI_Status *status)
{
#ifdef SMPI_H /* has no MPI_Get_elements_x */
    int bytes = 0;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
#else
    MPI_Count bytes = 0;
    PMPI_Get_elements_x((MPI_Status *)status, MPI_BYTE, &bytes);
#endif
    return bytes > 0 ? bytes : 0;
}

void iso_event_message(iso_call_t *call, iso_op_t op, iso_start_t start,
                       int64_t bytes, int rank, MPI_Comm comm,
                       const MPI_Request *request)
{
    iso_event_t event = iso_event(op);
    event.bytes = bytes;
    event.any = rank == MPI_ANY_SOURCE;
    event.peer = iso_members_world(iso_members(comm), rank);
    if (rank != MPI_PROC_NULL) {
        keep(call, start, &event, request);
    }
}

void iso_event_received(iso_call_t *call, const MPI_Status *status, int source,
                        MPI_Comm comm)
{
    iso_event_t event = iso_event(ISO_OP_recv);
    if (source == MPI_PROC_NULL) {
        return;
    }
    event.bytes = bytes_of(status);
    event.any = source == MPI_ANY_SOURCE;
    // a library may number a rank that sends to itself otherwise
    event.peer = iso_members_world(iso_members(comm),
                                   event.any ? status->MPI_SOURCE : source);
    keep(call, ISO_NOW, &event, NULL);
}

void iso_event_exchange(iso_call_t *call, int64_t bytes, int to,
                        int64_t received, int source, MPI_Comm comm,
                        const MPI_Status *status, const MPI_Request *request)
{
    const iso_members_t *members = iso_members(comm);
    iso_event_t event = iso_event(request ? ISO_OP_isendrecv : ISO_OP_sendrecv);
    bool known = status && source != MPI_PROC_NULL;
    if (to == MPI_PROC_NULL && source == MPI_PROC_NULL) {
        return;
    }
    event.bytes = to == MPI_PROC_NULL ? 0 : bytes;
    event.peer = iso_members_world(members, to);
    event.received = known ? bytes_of(status) : received;
    event.any = source == MPI_ANY_SOURCE;
    event.source = iso_members_world(
        members, known && event.any ? status->MPI_SOURCE : source);
    keep(call, request ? ISO_BEGUN : ISO_NOW, &event, request);
}

void iso_event_probe(iso_call_t *call, const MPI_Status *status, MPI_Comm comm,
                     const MPI_Message *message)
{
    iso_event_other(call, ISO_OP_probe, 0);
    if (message && *message != MPI_MESSAGE_NO_PROC) {
        iso_matched_store(
            *message, iso_members_world(iso_members(comm), status->MPI_SOURCE));
    }
}

void iso_event_matched(iso_call_t *call, MPI_Message message, int64_t bytes,
                       const MPI_Status *status, const MPI_Request *request)
{
    iso_event_t event = iso_event(request ? ISO_OP_irecv : ISO_OP_recv);
    if (message == MPI_MESSAGE_NO_PROC) {
        return;
    }
    event.bytes = status ? bytes_of(status) : bytes;
    event.peer = iso_matched_take(message);
    keep(call, request ? ISO_BEGUN : ISO_NOW, &event, request);
}

void iso_event_collective(iso_call_t *call, iso_op_t op, iso_start_t start,
                          int64_t bytes, int root, MPI_Comm comm,
                          const MPI_Request *request)
{
    const iso_members_t *members = iso_members(comm);
    iso_op_t begun = op - ISO_OP_barrier + ISO_OP_ibarrier;
    iso_event_t event = iso_event(start == ISO_NOW ? op : begun);
    event.bytes = bytes;
    event.root = iso_members_world(members, root);
    event.group = members->group;
    keep(call, start, &event, request);
}

void iso_event_starts(iso_call_t *call, int count, const MPI_Request *requests)
{
    for (int k = 0; k < count; k++) {
        const iso_event_t *event = iso_requests_start(requests[k]);
        if (event) {
            iso_event_t copy = *event;
            iso_thread_requests(1);
            iso_event_store(call, &copy);
            call->begin = call->end; /* the time is that of the first one */
        }
    }
}

/** Whether requests remain open of which any may complete next. Handles are not
 * unique: MPICH gives the same to several requests. */
static bool is_left(const MPI_Request *requests, int count, const int *indices,
                    int done)
{
    bool left = false;
    for (int k = 0; k < count && !left; k++) {
        bool complete = false;
        for (int i = 0; i < done && !complete; i++) {
            complete = indices[i] == k;
        }
        left = !complete && iso_requests_is_open(requests[k]);
    }
    return left;
}

void iso_event_completed(iso_call_t *call, iso_op_t op,
                         const MPI_Request *requests, int count,
                         const int *indices, int done)
{
    iso_event_t event = iso_event(op);
    bool left = false;
    int complete = 0;
    for (int k = 0; k < done; k++) {
        int index = indices ? indices[k] : k;
        if (index >= 0 && index < count) { /* or the library is wrong */
            complete += iso_requests_complete(requests[index]);
        }
    }
    bool open = iso_thread_requests(-complete);
    if (op == ISO_OP_wait || op == ISO_OP_waitall) {
        event.open = open;
        event.requests = complete;
    } else if (indices) {
        left = is_left(requests, count, indices, done);
    }
    if (complete && !left) {
        iso_event_store(call, &event);
    } else {
        iso_set_aside(call, &event);
    }
}

void iso_event_other(iso_call_t *call, iso_op_t op, int64_t bytes)
{
    iso_event_t event = iso_event(op);
    event.bytes = bytes;
    iso_set_aside(call, &event);
}

"""The collective operations of MPI, made from operation_table.h by `make operations`."""

TABLE = """
barrier Barrier barrier empty
bcast Bcast bcast rooted in_one_buffer
reduce Reduce reduce rooted reduces root_receives
allreduce Allreduce allreduce reduces
gather Gather gather rooted receives_all root_receives
scatter Scatter scatter rooted sends_all
allgather Allgather allgather receives_all
alltoall Alltoall alltoall sends_all receives_all
reduce_scatter_block Reduce_scatter_block reduce_scatter_block reduces sends_all
scan Scan scan reduces of_those_before
exscan Exscan scan reduces of_those_before without_own
gatherv Gatherv gather rooted receives_all root_receives varying
scatterv Scatterv scatter rooted sends_all varying
allgatherv Allgatherv allgather receives_all varying
alltoallv Alltoallv alltoall sends_all receives_all varying
alltoallw Alltoallw alltoall sends_all receives_all varying in_bytes
reduce_scatter Reduce_scatter reduce_scatter_block reduces sends_all varying
neighbor_allgather Neighbor_allgather neighbor_allgather receives_all neighbors
neighbor_allgatherv Neighbor_allgatherv neighbor_allgather receives_all neighbors varying
neighbor_alltoall Neighbor_alltoall neighbor_alltoall sends_all receives_all neighbors
neighbor_alltoallv Neighbor_alltoallv neighbor_alltoall sends_all receives_all neighbors varying
neighbor_alltoallw Neighbor_alltoallw neighbor_alltoall sends_all receives_all neighbors varying
"""
"""Name, name in MPI, what stands for it where it was not measured, and traits."""

"""Choose the order of nodes, or the aggregators, for collective MPI-IO."""

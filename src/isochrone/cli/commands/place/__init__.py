"""Choose the node order or the aggregators of collective MPI-IO."""

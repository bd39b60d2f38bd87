"""Choose the node order or the aggregators of MPI-IO that make collective I/O fastest."""

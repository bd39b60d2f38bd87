"""What tests run on: the command line, MPIs, simulated machines, a shim below the MPI.

Clusters have a folder of their own: other processes import it, with `tests` on their path.
"""

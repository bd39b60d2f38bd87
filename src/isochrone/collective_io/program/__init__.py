"""The collective I/O of a program, made faster by trying: recorded, chosen, proved."""

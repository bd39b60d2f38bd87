"""Print the ten slowest pairs of a latency map:  python slowest_pairs.py map.jsonl."""

import sys

import numpy as np

import isochrone

run = isochrone.read(sys.argv[1])
pairs = run.pairs()
for k in np.argsort(pairs["median"])[::-1][:10]:
    i, j = pairs["i"][k], pairs["j"][k]
    print(f"{run.hosts[i]}:{i} - {run.hosts[j]}:{j}  {pairs['median'][k] * 1e6:.2f} us")

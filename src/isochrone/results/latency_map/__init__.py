"""A latency map: what the round trips between all pairs of ranks say about the machine.

`topology.analyse` reads a map in steps, one module each:

1. `levels`: the levels of the hierarchy (package, node, switch …), found by clustering the
   latencies. `singletons` takes off the cost of parts that clustering leaves alone, so that a slow
   node neither makes a level nor hides one.
2. `placement`: how the ranks were dealt out to the hosts: block, cyclic or irregular.
3. `costs`: a robust fit of t_ij = level + cost_i + cost_j; it tells a slow rank from a slow link.
4. `diagnosis`: which ranks, nodes, switches and pairs are slow for their level, beyond chance; each
   is a `slow.Slow`.
"""

"""A latency map: what the round trips between all pairs of ranks say about the machine.

A map is explained as a whole: a time for each level of the hierarchy, and what slow parts add.

1. `pairs`: from ranks to nodes. What a single rank costs is its difference to its node.
2. `groupings` proposes hierarchies whatever single parts cost; `fitting` and `slow_components`
   explain the map on each; `hierarchy` keeps the shortest explanation, by description length.
3. `cores` and `core_effects` explain the map of a single node instead.
4. `explained_map` has both explanations, between nodes and within them; `what_is_slow` names what
   adds time, each a `slow_part.Slow`, and the pairs that nothing explains.
5. `topology` puts it together with the placement of the ranks.
"""

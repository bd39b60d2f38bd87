"""A master, rank 0, that hands out tasks to all others."""

from isochrone.applications.description.topology import Topology, star

TOPOLOGY = Topology(make=star, flow="farm")

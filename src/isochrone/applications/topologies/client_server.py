"""Clients that ask, and a server, rank 0, that answers."""

from isochrone.applications.description.topology import Topology, star

TOPOLOGY = Topology(make=star, flow="request")

"""A cluster on one machine: real hosts made of Linux namespaces, with shaped links between them."""

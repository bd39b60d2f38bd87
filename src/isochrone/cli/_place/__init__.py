"""What can be placed: ONE FILE = ONE THING, with ``add_arguments`` and ``run``."""

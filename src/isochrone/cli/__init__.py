"""The command line: ONE FILE = ONE SUBCOMMAND."""

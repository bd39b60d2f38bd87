"""Commands: ONE FILE OR FOLDER = ONE SUBCOMMAND, named as the user types it."""

"""The foundation: errors, text, units, files, tables, statistics, plug-ins."""

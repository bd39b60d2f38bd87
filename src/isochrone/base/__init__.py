"""What everything else stands on: errors, text, units, files, tables, statistics, plug-ins."""

"""The run file: one measurement, one JSON Lines file.

`run` is a measurement in memory, `file` reads and writes it (with `shape`, which reads many samples
at once), `header` gives its first line types, `samples` decides which samples are valid and what
their median is, `columns` checks what other records hold, `origin` tracks
where times come from.
"""

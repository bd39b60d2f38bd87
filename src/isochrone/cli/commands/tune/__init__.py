"""Choose faster collectives, or hints of collective I/O, from measurements, and apply them."""

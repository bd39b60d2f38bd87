"""Files of other programs, read into runs and written from them."""

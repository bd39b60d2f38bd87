"""What there is to say about each kind of result, once; `terminal` and `html` only render it."""

"""Two measurements of the same thing: what became slower, what did not, what cannot be known."""

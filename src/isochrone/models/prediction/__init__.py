"""What a model says of points that were asked for, how far it is trusted, and its file."""

"""What is said of the results of this subject."""

"""What a collective call costs, by models."""

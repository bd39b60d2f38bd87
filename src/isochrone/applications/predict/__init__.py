"""What an application costs, by models."""

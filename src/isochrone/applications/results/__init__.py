"""What programs were recorded to do."""

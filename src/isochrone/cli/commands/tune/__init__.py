"""Select faster collective algorithms or I/O hints, and apply them."""

"""What was measured of hot spots and collective calls."""

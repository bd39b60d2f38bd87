"""Applications: described, recorded, emulated, simulated, and what they cost."""

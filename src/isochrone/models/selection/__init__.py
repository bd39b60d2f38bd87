"""Which formulas are taken, and how well they predict what was left out."""

"""Applications written down once: described, worked out as steps of ranks, emulated, predicted."""

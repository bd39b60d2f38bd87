"""An application simulated in virtual time, with models for clocks."""

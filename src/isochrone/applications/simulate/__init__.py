"""An application played through in virtual time, with models for clocks."""

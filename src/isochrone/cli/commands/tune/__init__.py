"""Choose faster realisations of communication from measurements, and put them to work."""

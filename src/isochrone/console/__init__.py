"""What all commands share: options, input, output, progress."""

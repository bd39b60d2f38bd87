"""What the commands of this subject share."""

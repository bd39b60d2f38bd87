"""Special sweeps of this subject: ONE FILE = ONE MEMBER of samples."""

"""Records of the kinds of results of this subject: ONE FILE = ONE KIND."""

"""What can be predicted: ONE FILE = ONE KIND OF PREDICTION, with ``add_arguments`` and ``run``."""

"""``python -m tests.cluster``: the cluster by hand; see docs/developers/test-beds.md."""

import importlib
import sys
from pathlib import Path

# The package is called `cluster` in the tests, which find it by this folder, and so it is here.
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.exit(importlib.import_module("cluster.commands").main())

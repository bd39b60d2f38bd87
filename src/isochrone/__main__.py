"""``python -m isochrone`` is ``isochrone``."""

import sys

from isochrone.cli.main import main

sys.exit(main())

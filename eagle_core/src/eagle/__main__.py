"""``python -m eagle``."""

import sys

from eagle.cli import main

sys.exit(main())

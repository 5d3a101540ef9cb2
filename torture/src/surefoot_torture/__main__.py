"""``python -m surefoot_torture`` is ``surefoot-torture``."""

import sys

from surefoot_torture.cli import main

sys.exit(main())

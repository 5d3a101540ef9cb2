"""The command line, with the rig's doors open: `python -m rig.tool DOORS surefoot's words`."""

import json
import sys

from rig import doors

if __name__ == "__main__":
    doors.open_all(json.loads(sys.argv[1]))
    from surefoot.cli import main

    sys.argv = ["surefoot", *sys.argv[2:]]
    main()

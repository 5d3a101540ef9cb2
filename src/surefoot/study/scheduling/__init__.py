"""Tasks, who carries them out, and in what order."""

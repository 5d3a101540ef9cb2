"""What a study has on disk: its finished runs, by cell, and what they are runs of."""

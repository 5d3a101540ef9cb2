"""Study files, in TOML: from the text to a sweep, and the other way."""

"""From the finished runs of a study to figures, tables and its report."""

"""``surefoot study better``: other policies under the paper's floors, against those it printed."""

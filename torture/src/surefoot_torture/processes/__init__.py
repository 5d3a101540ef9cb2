"""Real processes on one ledger: killed, stopped, racing, on a full disk; and their audit."""

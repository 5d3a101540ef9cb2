"""What a log says: reading it, the real cases, backtests, and outlooks before going live."""

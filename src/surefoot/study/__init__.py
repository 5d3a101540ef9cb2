"""The paper's problems as studies, backtests of a log, and outlooks before going live.

A study goes from ``panel``, ``problems`` and ``sweep`` (or ``toml``, what a user writes), by tasks
(``scheduling``), to ``results`` on disk, and from those alone to figures and pages (``report``).
``runs`` is what fits in memory: ``logs`` for backtests and outlooks, ``better`` and ``compare``.
``experiment`` joins the steps of a study, and ``run_study`` is ``sf.run_study``; ``outputs`` writes
what the others found.
"""

"""The paper's problems as studies, backtests of a log, and outlooks before going live.

All three go the same way, a file for each step: inputs (``panel``, ``problems``, ``sweep``;
``logs``), ``runs``, ``results`` on disk, what is found (``findings`` of a panel;
``logs.backtest`` and ``logs.outlook`` have their own), ``figures`` or ``charts``, ``report``.
``experiment`` joins the steps.
"""

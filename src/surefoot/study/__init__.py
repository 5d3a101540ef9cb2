"""The paper's problems as studies, backtests of a log, and outlooks before going live.

All three go the same way, a file for each step: inputs (``panel``, ``problems``, ``sweep``;
``log``, ``flights``), ``runs``, ``results`` on disk, what is found (``findings`` of a panel;
``backtest`` and ``outlook`` have their own), ``figures`` or ``charts``, ``report``.
``experiment`` joins the steps.
"""

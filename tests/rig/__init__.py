"""The chaos rig: real processes and servers, what befalls them, and an auditor who trusts none.

``scripts/chaos.py`` is its command. Nothing of it is in the installed package.
"""

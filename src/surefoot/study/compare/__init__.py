"""``surefoot compare``: policies of other libraries and ours, unguarded and guarded."""

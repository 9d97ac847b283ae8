"""Cloud drives: one module for each provider's dialect, and what they have in common."""

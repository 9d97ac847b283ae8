"""The HTTP API: the SQL functions that a signed-in user may call, over HTTP."""

import gc

# A collection while modules are loaded finds nothing, and takes 25 ms of a cold start. What is loaded stays.
gc.disable()
try:
    from tickwork.api.app import api_function
finally:
    gc.freeze()
    gc.enable()

__all__ = ["api_function"]

"""What a function is made of: `main = serve(family, handlers)`."""

from tickwork.serve.wake_up import serve

__all__ = ["serve"]

"""What functions-framework costs by itself."""

from flask import Request


def main(request: Request) -> str:
    return "hello"

"""Says what kind of document a text is, how sure that is, and why. Standard library only: it starts in milliseconds."""

from tickwork.classifier.model import Classification, DocumentType, Example, classify
from tickwork.classifier.words import words_of

__all__ = ["Classification", "DocumentType", "Example", "classify", "words_of"]

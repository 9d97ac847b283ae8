"""The words of the default rules, by those that the models use for them, in small letters."""

CATEGORIES = {name: name for name in ("ev", "lmt", "industrial", "stationary")}
STATUSES = {
    **{name: name for name in ("original", "repurposed", "reused", "remanufactured", "waste")},
    # Catena-X from version 4 on, and version 3.
    "re-used": "reused",
    "first life": "original",
}
CLASSES = {name.lower(): name for name in "ABCDE"}

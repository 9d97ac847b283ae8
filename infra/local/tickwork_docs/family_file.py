"""The page on family.toml, from the models that read it."""

from pydantic import BaseModel

from tickwork_docs.markdown import table
from tickwork_gcp.family_file import FamilyFile, Shape

HEAD = """\
# family.toml

`functions/<family>/family.toml` says how `tickwork deploy gcp` deploys the family and which variables of its own it
gets. Every key is optional, and so is the file. Settings of tickwork itself need not be named: a function gets those
that are set. Of its secrets, the database and those that callers prove themselves with go to every function, the others
only to the families that name them.

```text
settings = ["BILLING_CURRENCY"]
secrets = ["STRIPE_KEY"]

[deploy]
memory = "1Gi"
timeout = 300
```

"""


def page() -> str:
    outer = rows(FamilyFile, "") + rows(Shape, "deploy.")
    return HEAD + table(["key", "default", "meaning"], outer)


def rows(model: type[BaseModel], prefix: str) -> list[tuple[str, str, str]]:
    return [
        (f"`{prefix}{name}`", f"`{str(field.default).lower() if prefix == '' else field.default}`", field.description)
        for name, field in model.model_fields.items()
        if field.description
    ]

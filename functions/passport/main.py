"""The passport function: takes facts from documents, tests rules, compiles passports, and exports them."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due(
    "tickwork.families.passport",
    "parse_facts",
    "build_snapshot",
    "run_rule_tests",
    "compile_passport",
    "generate_qr",
    "export_passport",
)

main = serve("passport", HANDLERS)

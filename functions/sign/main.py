"""The sign function: signs passports and the list of revoked ones. Only it has the key."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.sign", "sign_passport", "sign_status_list")

main = serve("sign", HANDLERS)

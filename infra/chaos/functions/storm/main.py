"""The function of the family storm: its jobs live through storms."""

from tickwork.serve import serve
from tickwork_chaos.handlers import handlers_of
from tickwork_chaos.runtime_mutants import break_runtime

break_runtime()
HANDLERS = handlers_of("storm")

main = serve("storm", HANDLERS)

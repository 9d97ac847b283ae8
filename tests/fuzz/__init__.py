"""Foreign bytes, made up by Hypothesis: the same ones each time, and more of them with `make fuzz`."""

import os

from hypothesis import HealthCheck, settings

bounded = settings(
    max_examples=int(os.environ.get("TICKWORK_FUZZ_EXAMPLES", "40")),
    # `make test` tries the same examples everywhere; whoever asks for more wants new ones.
    derandomize="TICKWORK_FUZZ_EXAMPLES" not in os.environ,
    print_blob=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
# For what takes no longer than a statement.
quick = settings(bounded, max_examples=5 * bounded.max_examples)

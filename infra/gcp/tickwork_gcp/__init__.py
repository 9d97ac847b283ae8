"""From the repository to Google Cloud: bundles, a plan of commands, and the jobs of Cloud Scheduler."""

"""What reads files: one engine here, one at a third party."""

"""Storms of faults over a real queue, and a checker that says what they broke."""

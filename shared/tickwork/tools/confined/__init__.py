"""Processes that read files of strangers: with little memory and time, and without files, network and rights."""

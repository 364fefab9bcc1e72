"""Errors, files, digests, devices and threads."""

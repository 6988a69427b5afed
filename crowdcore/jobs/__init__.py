"""Fits in processes of their own, forked from a warm daemon. For Linux and macOS."""

from crowdcore.jobs.launch import ensure_daemon, stop_daemon

__all__ = ["ensure_daemon", "stop_daemon"]

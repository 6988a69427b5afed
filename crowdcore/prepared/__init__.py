"""Prepared folders: labels as codes on the disk, in buckets of items, for data beyond memory."""

"""Models of communication time: ONE FILE = ONE FAMILY, fitted by weighted least squares."""

from __future__ import annotations

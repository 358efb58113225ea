"""rocetune: one declarative profile becomes a lossless RoCE v2 fabric."""

__version__ = "0.1.0"

"""What decides, without I/O and without a clock: instants are milliseconds that callers hand in.

``clients/conformance`` has the table that this package and its siblings in other languages pass.
"""

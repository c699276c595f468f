#!/usr/bin/env python3
"""Stands for redis-server where a test suite starts one by itself.

It says that it is ready and waits to be interrupted, while the port that the suite then dials is
the harness' server. Not a shell script: who starts it may ignore interrupts, and a shell keeps
that.
"""

import signal
import sys

if "--version" in sys.argv:
    print("Redis server v=7.0.0")
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(" * Ready to accept connections", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        pass

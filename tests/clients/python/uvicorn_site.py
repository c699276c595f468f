"""An ASGI application under uvicorn, on a port of its own in a thread of this process."""

import threading
import time

import uvicorn
from limiters import HOST, Site

START_SECONDS_MAX = 15


def serve(app):
    server = uvicorn.Server(uvicorn.Config(app, host=HOST, port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    deadline = time.monotonic() + START_SECONDS_MAX
    while not server.started:
        if time.monotonic() > deadline:
            raise RuntimeError("uvicorn did not start")
        time.sleep(0.01)
    return Site(server.servers[0].sockets[0].getsockname()[1])

"""redis-py as it is when nothing is set: see ../calls/caller.py for what a caller does."""

import json
import os
import sys
import threading

import redis

PORT = int(os.environ["CLIENTS_PORT"])
READ_MS = int(os.environ.get("CLIENTS_READ_MS", 0))
# Longer than any TIMEOUT that is asked for.
WAIT_SECONDS = 60

USER = {"username": os.environ["CLIENTS_USER"],
        "password": os.environ["CLIENTS_PASSWORD"]} if "CLIENTS_USER" in os.environ else {}

shared = redis.Redis(host="127.0.0.1", port=PORT, **USER,
                     **({"socket_timeout": READ_MS / 1000} if READ_MS else {}))
waiting = redis.Redis(host="127.0.0.1", port=PORT, socket_timeout=WAIT_SECONDS)
lock = threading.Lock()


def text(reply):
    if isinstance(reply, list):
        return " ".join(map(text, reply))
    return reply.decode() if isinstance(reply, bytes) else str(reply)


def shape(reply):
    if isinstance(reply, dict):
        return {text(key): shape(value) for key, value in reply.items()}
    if isinstance(reply, list):
        return [shape(value) for value in reply]
    return text(reply) if isinstance(reply, bytes) else reply


def words_of(words):
    """redis-py takes a reply by the first word: its own name of a subcommand is one of two words."""
    return [" ".join(words[:2]), *words[2:]] if words[0] == "COMMAND" else words


def obey(number, how, words):
    client = waiting if how == "wait" else shared
    try:
        reply = client.execute_command(*words_of(words))
        answer = "ok " + (json.dumps(shape(reply)) if how == "shape" else text(reply))
    except Exception as error:  # whatever the library throws is its answer
        answer = f"error {type(error).__name__}: {error}"
    with lock:
        print(number, " ".join(answer.split()), flush=True)


print("version", redis.__version__, flush=True)
for line in sys.stdin:
    first, second, *rest = line.split()
    threading.Thread(target=obey, args=(first, second, rest), daemon=True).start()

"""lua-resty-redis inside a real nginx of two workers: limiters asked over HTTP."""

import atexit
import getpass
import http.client
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from report import (HOST, IS_WEIR, PORT, Skip, check, expect, expect_between, need_durable,  # noqa: E402
                    need_weir, restart_server, say, together)
from support.processes import Program, free_port  # noqa: E402
from support.resp import ask  # noqa: E402

SOURCE = Path(__file__).resolve().parent
MODULES = ("ndk_http_module", "ngx_http_lua_module")
folder = Path(tempfile.mkdtemp(prefix="clients-nginx-"))
atexit.register(shutil.rmtree, folder, ignore_errors=True)
HTTP_PORT = free_port()


class Nginx(Program):
    def is_ready(self):
        try:
            return get("/", "", 0, 0)
        except OSError:
            return False


def start_nginx():
    values = {
        "MODULES": "\n".join(f"load_module /usr/lib/nginx/modules/{name}.so;" for name in MODULES),
        "USER": getpass.getuser(), "FOLDER": folder, "SOURCE": SOURCE, "HTTP_PORT": HTTP_PORT,
        "REDIS_PORT": PORT}
    text = re.sub(r"@([A-Z_]+)@", lambda match: str(values[match[1]]),
                  (SOURCE / "nginx.conf").read_text())
    (folder / "nginx.conf").write_text(text)
    log = folder / "error.log"
    nginx = Nginx("nginx", ["/usr/sbin/nginx", "-e", log, "-p", folder, "-c", folder / "nginx.conf"], log)
    atexit.register(nginx.start().stop)


def get(path, key, limit, period_ms):
    """Status, remaining and milliseconds to wait of one request; a 503 raises."""
    connection = http.client.HTTPConnection(HOST, HTTP_PORT, timeout=10)
    connection.request("GET", f"{path}?key={key}&limit={limit}&period_ms={period_ms}")
    answer = connection.getresponse()
    headers.append(dict(answer.getheaders()))
    connection.close()
    if answer.status == 503 and path != "/":
        raise AssertionError(headers[-1].get("X-Error"))
    numbers = [int(answer.getheader(name) or -1) for name in ("X-Remaining", "X-Wait-Ms")]
    return answer.status, *numbers


headers = []


def statuses(path, key, limit, period_ms, count):
    return [get(path, key, limit, period_ms)[0] for _ in range(count)]


def window_figures():
    got = [get("/window", "w:a", 3, 60000) for _ in range(5)]
    expect([reply[:2] for reply in got],
           [(200, 2), (200, 1), (200, 0), (429, 0), (429, 0)])
    for reply in got:
        expect_between(50000, reply[2], 60000, "milliseconds to wait")
    expect(ask(PORT, "GET", "w:a"), b"5", "stored")
    expect(ask(PORT, "TYPE", "w:a"), "string")


def window_passes():
    expect(statuses("/window", "w:b", 2, 500, 3), [200, 200, 429])
    time.sleep(0.55)
    expect(statuses("/window", "w:b", 2, 500, 3), [200, 200, 429])


def window_concurrent():
    answers = together(lambda: statuses("/window", "w:crowd", 100, 600000, 20))
    expect(sum(answers, []).count(200), 100, "admitted")


def bucket_figures():
    got = [get("/bucket", "b:a", 3, 600000) for _ in range(5)]
    expect([reply[:2] for reply in got],
           [(200, 2), (200, 1), (200, 0), (429, 0), (429, 0)])
    expect_between(190000, got[-1][2], 200000, "milliseconds to wait")
    expect_between(590000, ask(PORT, "PTTL", "b:a"), 600000, "stored for")
    at_ms = float(ask(PORT, "HGET", "b:a", "at"))
    now_ms = time.time() * 1000
    expect_between(now_ms - 10000, at_ms, now_ms + 1000, "the server's time")


def bucket_refills():
    expect(statuses("/bucket", "b:b", 2, 800, 3), [200, 200, 429])
    time.sleep(0.45)
    expect(statuses("/bucket", "b:b", 2, 800, 2), [200, 429])


def bucket_concurrent():
    answers = together(lambda: statuses("/bucket", "b:crowd", 100, 36000000, 20))
    expect(sum(answers, []).count(200), 100, "admitted")


def throttle():
    need_weir()
    got = [get("/throttle", "t:a", 3, 60000) for _ in range(4)]
    expect([reply[:2] for reply in got], [(200, 2), (200, 1), (200, 0), (429, 0)])
    expect_between(19000, got[-1][2], 20000, "milliseconds to wait")
    answers = together(lambda: statuses("/throttle", "t:crowd", 100, 3600000, 20))
    expect(sum(answers, []).count(200), 100, "admitted")


def pooled():
    """Connections are kept and used again, so what one request left does not reach the next."""
    expect(sum(one.get("X-Pooled") == "1" for one in headers) > len(headers) // 2, True)


def script_sent_once():
    for path in ("/window", "/bucket"):
        get(path, f"sent:{path}", 1, 1000)
        expect("X-Script" in headers[-1], False, "the text sent again")


def restart():
    expect(statuses("/window", "w:kept", 5, 600000, 3), [200] * 3)
    expect(statuses("/bucket", "b:kept", 5, 36000000, 3), [200] * 3)
    restart_server()


def reconnect():
    """A kept connection that broke is an error once; none of them lets a request through."""
    broken = 0
    for _ in range(40):
        try:
            expect(get("/window", "w:after", 1000, 600000)[0], 200)
        except AssertionError as error:
            expect("closed" in str(error) or "broken" in str(error) or "reset" in str(error), True,
                   str(error))
            broken += 1
    expect_between(0, broken, 32, "requests refused for a broken connection")


def limiter_kept():
    need_durable()
    expect(statuses("/window", "w:kept", 5, 600000, 3), [200, 200, 429])
    expect(statuses("/bucket", "b:kept", 5, 36000000, 3), [200, 200, 429])


def script_kept():
    need_durable()
    if not IS_WEIR:
        raise Skip("Redis forgets its scripts")
    sent = [one for one in headers[headers_before_restart[0]:] if "X-Script" in one]
    expect(sent, [], "texts sent again after the restart")


start_nginx()
headers_before_restart = []
say(f"version {os.environ['CLIENTS_VERSION']}")
for body in (window_figures, window_passes, window_concurrent, bucket_figures, bucket_refills,
             bucket_concurrent, throttle, pooled, script_sent_once, restart, reconnect,
             limiter_kept, script_kept):
    if body is reconnect:
        headers_before_restart.append(len(headers))
    check(body.__name__.replace("_", "-"), body)
say("done")

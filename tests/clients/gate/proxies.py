"""The five proxies of docs/http.md, by the examples of that page as they stand, with weir there and away.

Each is asked with weir there (two requests pass, the third is denied), and then in the ways of the page's
table, whose statuses have to be those that it answers, within 300 ms. A machine that is busy with something
else may make one answer slow: what counts is the best of a few tries, each of several requests, all of them
with connections of their own; a proxy that waits too long does so in every one of them.
"""

import http.client
import http.server
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CLIENTS), str(CLIENTS / "python"), str(CLIENTS / "calls")]

from away_worlds import Demoted, Killed  # noqa: E402
from report import IS_WEIR, Skip, check, expect, say  # noqa: E402
from support.fields import rate_limits  # noqa: E402
from support.processes import Program, free_port  # noqa: E402
from support.waiting import wait_until  # noqa: E402

PAGE = (CLIENTS.parents[1] / "docs/http.md").read_text()
PACKAGES = Path(os.environ["CLIENTS_PROXIES"])
ROW = re.compile(r"^\| (\w+) " + r"\| (\d{3}) " * 5 + r"\|$", re.MULTILINE)
STATES = ("killed", "stopped", "demoted", "no-policy", "closed")
TABLE = {name: dict(zip(STATES, map(int, statuses))) for name, *statuses in ROW.findall(PAGE)}
ERRORS_OPEN = re.compile(r"(errors=|[Xx]-[Ww]eir-[Ee]rrors[^\n]{0,20}?)open")

MS_MAX = 300
TRIES, REQUESTS = 5, 3
LIMIT = 2


def block(language, number=0):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", PAGE)[number]


class Application(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "16")
        self.end_headers()
        self.wfile.write(b"the application\n")

    def log_message(self, *ignored):
        pass


class Applications(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *ignored):
        """A proxy that is killed leaves its connections."""


class Proxy(Program):
    """One of the five, in a folder of its own; `files` are the page's blocks, (name in the folder, text)."""

    def __init__(self, name, files, command, weir_port, application_port, is_closed):
        self.folder = Path(tempfile.mkdtemp(prefix=f"weir-clients-{name}-"))
        self.port = free_port()
        ports = {"7080": weir_port, "7081": free_port(), "8000": self.port, "8080": application_port}
        for file, text in files(self.folder):
            text = re.sub(r"\b(7080|7081|8000|8080)\b", lambda match: str(ports[match[1]]), text)
            (self.folder / file).write_text(ERRORS_OPEN.sub(r"\1closed", text) if is_closed else text)
        super().__init__(name, command(self.folder), self.folder / "log", cwd=self.folder,
                         env={**os.environ, "HOME": str(self.folder)})

    def is_ready(self):
        try:
            return self.get()[0] != 404  # Traefik listens before it has its routes
        except OSError:
            return False

    def get(self):
        """Status, fields, and milliseconds of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        begin = time.monotonic()
        try:
            connection.request("GET", "/some/path?cost=0&key=other")
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers, (time.monotonic() - begin) * 1000
        finally:
            connection.close()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def nginx_files(folder):
    paths = "".join(f"{name}_temp_path {folder}/{name};" for name in
                    ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    yield "nginx.conf", (f"daemon off; master_process off; pid {folder}/pid; error_log stderr warn; events {{}} "
                         f"http {{ access_log off; {paths} {block('nginx')} }}")


def haproxy_files(folder):
    yield "weir.lua", block("lua")
    yield "haproxy.cfg", block("haproxy").replace("/etc/haproxy/weir.lua", f"{folder}/weir.lua")


def traefik_files(folder):
    yield "traefik.yaml", block("yaml", 0).replace("/etc/traefik/site.yaml", f"{folder}/site.yaml")
    yield "site.yaml", block("yaml", 1)


def found(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if path is None:
        raise Skip(f"{program} is not installed")
    return path


# How each is run: its files, and its command line.
PROXIES = {
    "nginx": (nginx_files, lambda folder: [
        found("nginx"), "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]),
    "HAProxy": (haproxy_files, lambda folder: [found("haproxy"), "-db", "-f", folder / "haproxy.cfg"]),
    "Caddy": (lambda folder: [("Caddyfile", "{\n\tadmin off\n\tauto_https off\n}\n" + block("caddyfile"))],
              lambda folder: [PACKAGES / "bin/caddy", "run", "--adapter", "caddyfile", "--config",
                              folder / "Caddyfile"]),
    "Traefik": (traefik_files, lambda folder: [
        PACKAGES / "bin/traefik", f"--configFile={folder}/traefik.yaml"]),
    "Envoy": (lambda folder: [("envoy.yaml", block("yaml", 2))],
              lambda folder: [PACKAGES / "envoy/_bin/envoy", "-c", folder / "envoy.yaml", "--concurrency", "1",
                              "--disable-hot-restart", "--log-level", "error"]),
}


class Crowd:
    """All five before one weir."""

    def __init__(self, weir_port, application_port):
        self.ports = weir_port, application_port
        self.proxies = {}

    def start(self, name, is_closed=False):
        proxy = Proxy(name, *PROXIES[name], *self.ports, is_closed)
        self.proxies[name] = proxy.start()

    def start_all(self, about, **options):
        for name in PROXIES:
            check(f"{name}-{about}", lambda name=name: self.start(name, **options))

    def close(self):
        for proxy in self.proxies.values():
            proxy.close()


class Cells:
    """What was measured: {proxy: {state: (status, ms)}}."""

    def __init__(self):
        self.measured = {name: {} for name in PROXIES}

    def measure(self, crowd, state):
        for name, proxy in crowd.proxies.items():
            check(f"{name}-{state}", lambda proxy=proxy: self.cell(proxy, state))

    def cell(self, proxy, state):
        """The first answers may still be those of before: a try counts if all of it is as it should be."""
        tries = []
        for _ in range(TRIES):
            answers = [proxy.get() for _ in range(REQUESTS)]
            tries.append((max(ms for _, _, ms in answers), sorted({status for status, _, _ in answers})))
            if tries[-1][1] == [TABLE[proxy.name][state]] and tries[-1][0] <= MS_MAX:
                break
        worst_ms, statuses = min(tries, key=lambda one: (one[1] != [TABLE[proxy.name][state]], one[0]))
        self.measured[proxy.name][state] = (statuses, worst_ms)
        expect(statuses, [TABLE[proxy.name][state]], "statuses")
        if worst_ms > MS_MAX:
            raise AssertionError(f"{worst_ms:.0f} ms, at most {MS_MAX} are right")

    def tell(self):
        for name, states in self.measured.items():
            cells = (f"{state} {'/'.join(map(str, statuses))} in {ms:.0f} ms" for state, (statuses, ms) in
                     states.items())
            say(f"figure {name} {'; '.join(cells)}")


def limits(world, proxy):
    """The third is denied, with the fields that tell when to come again. A weir that was stopped first answers what
    was asked meanwhile, which is taken into account as it comes."""
    for _ in range(TRIES):
        world.ask("DEL ip:127.0.0.1")
        answers = [proxy.get() for _ in range(LIMIT + 1)]
        if answers[LIMIT - 1][0] == 200:
            break
    expect([status for status, _, _ in answers], [200] * LIMIT + [429], "statuses")
    fields = rate_limits(answers[-1][1])
    expect(fields["RateLimit"]["api"]["r"], 0, "permits left")
    expect(int(answers[-1][1]["Retry-After"]) > 0, True, "Retry-After")
    if proxy.name != "nginx":  # it has them in every answer
        return
    expect(rate_limits(answers[0][1])["RateLimit"]["api"]["r"], LIMIT - 1, "permits left of a request that passes")


def limits_all(world, crowd, about):
    for name, proxy in crowd.proxies.items():
        check(f"{name}-{about}", lambda proxy=proxy: limits(world, proxy))


def closed(world, cells, application_port):
    crowd = Crowd(world.http_port, application_port)
    try:
        crowd.start_all("starts-closed", is_closed=True)
        cells.measure(crowd, "closed")
    finally:
        crowd.close()


def alone(cells, application_port):
    """A server by itself: there, killed, there again, stopped, there, without its policy."""
    http_port = free_port()
    world = Killed("--http-port", str(http_port))
    world.http_port = http_port
    crowd = Crowd(http_port, application_port)
    try:
        world.start()
        world.ask(f"RL.POLICY SET api FIXED {LIMIT}/1h")
        crowd.start_all("starts")
        limits_all(world, crowd, "limits")
        world.leave()
        cells.measure(crowd, "killed")
        world.come_back()
        limits_all(world, crowd, "limits-again")
        world.server.send_signal(signal.SIGSTOP)
        cells.measure(crowd, "stopped")
        world.server.send_signal(signal.SIGCONT)
        wait_until(lambda: world.ask("PING") == "PONG", "it goes on")
        limits_all(world, crowd, "limits-after-stop")
        world.ask("RL.POLICY DEL api")
        cells.measure(crowd, "no-policy")
        closed(world, cells, application_port)
    finally:
        crowd.close()
        world.close()


def demoted(cells, application_port):
    """The member that is asked is demoted by a switchover."""
    world = Demoted()
    ports = {}
    for member in world.shard.members:
        ports[member] = free_port()
        member.command += ["--http-port", ports[member]]
    crowd = None
    try:
        world.start()
        world.shard.primary()
        crowd = Crowd(ports[world.asked], application_port)
        crowd.start_all("starts-before-a-shard")
        world.leave()
        cells.measure(crowd, "demoted")
    finally:
        if crowd is not None:
            crowd.close()
        world.close()


def run():
    application = Applications(("127.0.0.1", 0), Application)
    threading.Thread(target=application.serve_forever, daemon=True).start()
    cells = Cells()
    for part in (alone, demoted):
        check(part.__name__, lambda part=part: part(cells, application.server_address[1]))
    cells.tell()


def rethrow(error):
    raise error


say("version -")
check("a-row-for-each", lambda: expect(sorted(TABLE), sorted(PROXIES)))
if IS_WEIR:
    run()
else:
    check("the-gate", lambda: rethrow(Skip("Redis has no gate")))
say("done")

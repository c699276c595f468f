"""What an operator is promised, each in one function: it answers its figures, or raises.

A function's fault is what `--plant` puts in its way; it must fail then.
"""

import json
import os
import re
import shutil
import signal
import threading
import time
import urllib.parse
import urllib.request

import browser
import harness
import http_fixture
from load import Takers, call_site
from root import TOOLS, Failed

NOTICED_S = 5
SITE_LIMIT, CALLERS, REQUESTS = 500, 8, 250


def demand(holds, words):
    if not holds:
        raise Failed(words)


def install(proof):
    """The fault: half of the file."""
    root = proof.root
    shutil.copy(proof.package, root.path("/srv"))
    if proof.plants("install"):
        os.truncate(root.path("/srv") / os.path.basename(proof.package), os.path.getsize(proof.package) // 2)
    root.run("apt-get", "-q", "update")
    before = len(root.run("dpkg-query", "-W").splitlines())
    begin = time.monotonic()
    root.run("sh", "-c", "DEBIAN_FRONTEND=noninteractive apt -q -y install ./weir_*.deb", place="/srv")
    took = time.monotonic() - begin
    status = root.run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "weir").split()
    demand(status[0] == "installed", f"dpkg calls it {status}")
    others = len(root.run("dpkg-query", "-W").splitlines()) - before - 1
    return f"weir {status[1]} and {others} packages that it needs, in {took:.0f} s"


def tls(proof):
    """The fault: tls-auth-clients no."""
    service = proof.service
    proof.root.install("openssl", "redis-tools")
    service.make_certificates()
    service.edit(port=0, tls_port=service.port)
    lines = service.edited
    service.edit(metrics_port=service.metrics_port, http_port=service.http_port)
    if proof.plants("tls"):
        service.edit(tls_auth_clients="no")
    service.start()
    status, said = service.redis_cli("CL.THROTTLE", "user:42", 15, 30, 60)
    demand((status, said.split()) == (0, "0 16 15 -1 2".split()), f"CL.THROTTLE is answered {said!r}")
    _, without = service.redis_cli("PING", certificate=False)
    demand("PONG" not in without and int(service.metric("weir", "tls_handshakes_failed")) > 0,
           f"without a certificate PING is answered {without!r}")
    _, plain = service.redis_cli("PING", certificate=False, tls=False)
    demand("PONG" not in plain, f"without TLS PING is answered {plain!r}")
    return (f"{lines} lines of weir.conf edited, and one each for metrics and HTTP; redis-cli with a certificate: "
            f"{' '.join(said.split())}; without: {without.strip()}")


def ask_prometheus(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
        return json.load(answer)["data"]


def prometheus_value(port, query):
    result = ask_prometheus(port, "query?" + urllib.parse.urlencode({"query": query}))["result"]
    return float(result[0]["value"][1]) if result else None


def prometheus(proof):
    """The fault: another port in its configuration."""
    proof.root.install("prometheus")
    page = (TOOLS.parent / "docs/metrics.md").read_text(encoding="utf-8")
    config = re.search(r"(?ms)^```yaml\n(.*?)^```", page)[1]
    wrong = harness.free_port()
    scraped = wrong if proof.plants("prometheus") else proof.service.metrics_port
    config = "global: {scrape_interval: 1s}\n" + config.replace(":9121", f":{scraped}")
    proof.root.path("/etc/prometheus/prometheus.yml").write_text(config, encoding="utf-8")
    for _ in range(20):
        proof.service.call("RL.TAKE", "counted", "FIXED", "5/1h")
    port = harness.free_port()
    begin = time.monotonic()
    program = proof.root.start(
        "prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=metrics2",
        f"--web.listen-address=127.0.0.1:{port}", user="prometheus", place="/var/lib/prometheus")

    def seen():
        demand(program.process.poll() is None, "Prometheus has ended")
        try:
            return prometheus_value(port, 'weir_verdicts_total{outcome="denied"}') == 15
        except OSError:
            return False

    try:
        harness.wait_until(seen, "Prometheus has 15 denials in weir_verdicts_total")
        took = time.monotonic() - begin
        target = ask_prometheus(port, "targets")["activeTargets"][0]
        demand(target["health"] == "up", f"the target is {target['health']}: {target['lastError']}")
        series = prometheus_value(port, 'count({__name__=~"weir_.*"})')
        return f"target up, {series:.0f} series, weir_verdicts_total right {took:.1f} s after its start"
    finally:
        program.stop()


def page(proof):
    """The fault: a storm of requests of which none is denied."""
    limit = "FIXED", "1000000/1h" if proof.plants("page") else "1/1h"
    window = browser.Browser(proof.root.folder / "chromedriver.log")
    stop = threading.Event()

    def storm():
        with proof.service.connect() as client:
            while not stop.wait(0.002):
                client.call("RL.TAKE", "storm", *limit)

    thread = threading.Thread(target=storm)
    try:
        window.size(1280, 1000)
        window.open(f"http://127.0.0.1:{proof.service.metrics_port}/")
        harness.wait_until(lambda: "serves writes" in window.text("#state"), "the page is there")
        time.sleep(3)
        demand("Denial storm" not in window.text("#banner"), "the page tells of a storm before it begins")
        begin = time.monotonic()
        thread.start()
        while "Denial storm" not in window.text("#banner"):
            demand(time.monotonic() - begin < 3 * NOTICED_S, f"nothing is told in {3 * NOTICED_S} s")
            time.sleep(0.01)
        took = time.monotonic() - begin
        harness.wait_until(lambda: "storm" in window.text("#top"), "the key is named")
        demand(took < NOTICED_S, f"it is told after {took:.1f} s")
        return f"a storm told after {took:.1f} s of at most {NOTICED_S}, and its key named"
    finally:
        stop.set()
        if thread.ident is not None:
            thread.join()
        window.close()


def gate(proof):
    """The fault: nginx does not ask."""
    proof.root.install("nginx")
    site, application = harness.free_port(), harness.free_port()
    config = http_fixture.example("nginx")
    for there, here in (("7080", proof.service.http_port), ("8000", site), ("8080", application)):
        config = config.replace(f":{there}", f":{here}")
    if proof.plants("gate"):
        config = config.replace("auth_request /weir;", "")
    proof.root.path("/etc/nginx/conf.d/site.conf").write_text(config + f"""
        server {{
            listen 127.0.0.1:{application};
            access_log /var/log/nginx/application.log;
            location / {{ return 200 "the application\\n"; }}
        }}""", encoding="utf-8")
    proof.root.path("/etc/nginx/sites-enabled/default").unlink()  # port 80 may be somebody's
    proof.service.call("RL.POLICY", "SET", "api", "FIXED", f"{SITE_LIMIT}/1h")
    program = proof.root.start("nginx", "-g", "daemon off;")
    try:
        harness.wait_until(lambda: proof.is_open(site) or program.process.poll() is not None, "nginx listens")
        demand(program.process.poll() is None, "nginx has ended")
        begin = time.monotonic()
        statuses = call_site(site, CALLERS, REQUESTS)
        took = time.monotonic() - begin
    finally:
        program.stop(signal.SIGQUIT)
    wanted = {200: SITE_LIMIT, 429: CALLERS * REQUESTS - SITE_LIMIT}
    demand(statuses == wanted, f"statuses {dict(statuses)}, but the limit allows {wanted}")
    reached = len(proof.root.path("/var/log/nginx/application.log").read_text().splitlines())
    demand(reached == SITE_LIMIT, f"{reached} requests have reached the application")
    return (f"{CALLERS * REQUESTS} requests by {CALLERS} callers in {took:.1f} s: {statuses[200]} times 200, "
            f"{statuses[429]} times 429, where {SITE_LIMIT} an hour may pass")


def make_checkpoint(service):
    service.call("BGSAVE")
    harness.wait_until(lambda: service.metric("persistence", "rdb_bgsave_in_progress") == "0", "the checkpoint")
    demand(service.metric("persistence", "rdb_last_bgsave_status") == "ok", "BGSAVE has failed")
    return service.metric("storage", "last_checkpoint")


def missing(those, there):
    """How many of `those` are not there, key by key."""
    return sum(max(0, one - other) for row, found in zip(those, there) for one, other in zip(row, found))


def checkpoint(proof):
    """The fault: a checkpoint of before is taken for it."""
    service, root = proof.service, proof.root
    earlier = make_checkpoint(service)
    takers = Takers(service.connect)
    try:
        harness.wait_until(lambda: takers.total() > 10_000, "the load")
        before = takers.now()
        begin = sum(map(sum, before))
        name = make_checkpoint(service)
        meanwhile = takers.total() - begin
    finally:
        takers.end()
    demand(meanwhile > 0, "there was no load meanwhile")
    root.run("install", "-d", "-o", "weir", "-g", "weir", "-m", "0750", "/srv/elsewhere")
    root.run("cp", "-a", f"/var/lib/weir/checkpoints/{earlier if proof.plants('checkpoint') else name}",
             "/srv/elsewhere/backup")
    checked = root.run("weir-server", "--check", "/srv/elsewhere/backup")
    demand("all of it is whole" in checked, "--check does not call it whole")
    root.run("weir-server", "--restore", "/srv/elsewhere/backup", "--dir", "/srv/elsewhere/data")
    port = harness.free_port()
    restored = service.launch([*service.unit_command("ExecStart"), "--dir", "/srv/elsewhere/data", "--tls-port",
                               port, "--metrics-port", 0, "--http-port", 0], port)
    with service.connect(port) as client:
        stored = takers.stored(client)
    restored.stop()
    lost, invented = missing(before, stored), missing(stored, takers.sent)
    demand(lost == 0, f"{lost} of {begin} acknowledged decisions are not there")
    demand(invented == 0, f"{invented} decisions are there that nobody has asked for")
    return (f"{begin} decisions acknowledged before it, {meanwhile} while it was made; "
            f"{sum(map(sum, stored))} restored, none lost")


CHECKS = [install, tls, prometheus, page, gate, checkpoint]

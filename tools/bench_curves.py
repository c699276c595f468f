"""How latency grows with the offered load: an open loop, and its picture.

Requests fall due at a fixed rate, whether or not the server keeps up, and a latency counts from the instant at which the
request was due. So a server that is late pays for all that wait, as it does with callers who do not wait for one another.
"""

import math

FRACTIONS = {"p50_us": ("p50", "2 4"), "p99_us": ("p99", "8 3"), "p999_us": ("p99.9", "")}  # and their dashes
COLOURS = ["#0b6e99", "#b3541e", "#6a51a3", "#2e7d32"]
SENT_LEAST = 0.98  # of what was due: below that the server does not carry the load
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 420, 70, 190, 40, 50
HEAD = ["server", "command", "offered per s", "answered per s", "p50 us", "p99 us", "p99.9 us", "CPU us/cmd", "others"]


def measure(bench, servers, commands, rates):
    """name -> the results by rate, up to the first that the server does not carry."""
    curves = {server.name: [] for server in servers}
    gone_on = list(servers)
    for rate in rates:
        for server in list(gone_on):
            result = bench.run(server, commands[server.name], 1, rate=rate)
            if result is None or result["per_second"] < SENT_LEAST * rate:
                gone_on.remove(server)
            if result is not None:
                curves[server.name].append((rate, result))
    return curves


def rows(servers, curves, titles, show):
    for server in servers:
        for rate, result in curves[server.name]:
            carried = result["per_second"] >= SENT_LEAST * rate
            yield [server.title, titles[server.name], show(rate), show(result["per_second"]) + ("" if carried else " (late)"),
                   *(show(result[field]) for field in FRACTIONS), show(result["server_cpu_us"], 2),
                   f"{result['others_percent']:.0f} %"]


def picture(servers, curves, titles):
    """An SVG: offered load to the right, latency upwards, on a logarithmic axis."""
    points = [result[field] for curve in curves.values() for _, result in curve for field in FRACTIONS]
    rate_max = max(rate for curve in curves.values() for rate, _ in curve)
    low = 10 ** math.floor(math.log10(max(1, min(points))))
    high = 10 ** math.ceil(math.log10(max(points) + 1))
    decades = math.log10(high / low)

    def x_of(rate):
        return LEFT + (WIDTH - LEFT - RIGHT) * rate / rate_max

    def y_of(latency_us):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log10(max(latency_us, low) / low) / decades

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="20">Latency from the instant at which a request was due, by offered load</text>']
    for decade in range(round(decades) + 1):
        latency_us = low * 10 ** decade
        shown = f"{latency_us / 1000:g} ms" if latency_us >= 1000 else f"{latency_us:g} us"
        lines.append(f'<path d="M{LEFT} {y_of(latency_us):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y_of(latency_us) + 4:.1f}" text-anchor="end">{shown}</text>')
    for part in range(6):
        rate = rate_max * part / 5
        lines.append(f'<text x="{x_of(rate):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{rate / 1000:g}</text>')
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">thousand requests a second</text>')
    for number, server in enumerate(servers):
        colour = COLOURS[number % len(COLOURS)]
        for field, (_, dashes) in FRACTIONS.items():
            path = " ".join(f"{x_of(rate):.1f},{y_of(result[field]):.1f}" for rate, result in curves[server.name])
            lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        lines.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 14 + 36 * number}" fill="{colour}">{server.title}</text>'
                     f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 28 + 36 * number}" fill="{colour}">{titles[server.name]}</text>')
    for number, (name, dashes) in enumerate(FRACTIONS.values()):
        y = HEIGHT - BOTTOM - 50 + 18 * number
        lines.append(f'<path d="M{WIDTH - RIGHT + 10} {y}h40" stroke="#333" stroke-width="2" stroke-dasharray="{dashes}"/>'
                     f'<text x="{WIDTH - RIGHT + 56}" y="{y + 4}">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"

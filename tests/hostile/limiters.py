"""What a user of the README's role can do: queues, bookings and many limits on one key."""

import time

from attacks import attack, filled


def limits_of(rates):
    return [word for rate in rates for word in ("GCRA", rate)]


def take_all(client, key, limits, *options):
    """How often a key is granted until it denies."""
    count = 0
    while count < 1000 and client.call("RL.TAKE", key, *limits, *options)[0] == 1:
        count += 1
    return count


@attack
def log_behind_queue(arena):
    """RL.TAKE while somebody waits, on a limiter with a long log."""
    arena.start()
    count = arena.size(20_000, 200_000)
    limits = ("SLIDINGLOG", f"{count}/1h")
    client = arena.connect("shop")
    for requests in filled(count, 5000, lambda begin, end: [
            ("RL.TAKE", "shop:k", *limits)] * (end - begin)):
        client.pipeline(requests)
    arena.connect("shop").request("RL.ACQUIRE", "shop:k", *limits, "TIMEOUT", 0)
    time.sleep(0.2)
    with arena.bystander():
        client.pipeline([("RL.TAKE", "shop:k", *limits)] * arena.size(30, 100))


@attack
def waiters_of_many_limits(arena):
    """Many wait for a key with sixteen limits, which is touched, and then all of them leave."""
    arena.start()
    limits = limits_of(f"1/{hours}h" for hours in range(1, 17))
    client = arena.connect("shop")
    client.call("RL.TAKE", "shop:k", *limits)
    waiting = [arena.connect("shop") for _ in range(arena.size(150, 2000))]
    for waiter in waiting:
        waiter.request("RL.ACQUIRE", "shop:k", *limits, "TIMEOUT", 0)
    with arena.bystander():
        client.pipeline([("CL.THROTTLE", "shop:k", 5, 1, 3600),
                         ("RL.TAKE", "shop:k", *limits)] * arena.size(20, 100))
        for waiter in waiting:
            waiter.close()
        arena.settle()


@attack
def waiters_of_own_limits(arena):
    """Many wait for a key, each with sixteen limits of his own; whoever asks has the queue's end worked
    out anew, since the key is touched in between."""
    arena.start()
    client = arena.connect("shop")
    limits = limits_of(f"1/{hours}h" for hours in range(1, 17))
    client.call("RL.TAKE", "shop:k", *limits)
    waiting = [arena.connect("shop") for _ in range(arena.size(600, 620))]
    for number, waiter in enumerate(waiting):
        own = limits_of(f"1/{100_000 + 16 * number + i}s" for i in range(16))
        waiter.request("RL.ACQUIRE", "shop:k", *own, "TIMEOUT", 0)
    with arena.bystander():
        client.pipeline([("CL.THROTTLE", "shop:k", 5, 1, 3600),
                         ("RL.PEEK", "shop:k", *limits)] * arena.size(20, 100))
        for waiter in waiting:
            waiter.close()
        arena.settle()


@attack
def cancel_bookings(arena):
    """RL.CANCEL of a key with very many bookings of sixteen limits each."""
    arena.start()
    client = arena.connect("shop")
    limits = [word for i in range(16) for word in ("GCRA", f"1/{100_000 + i}ms", "BURST", 0)]
    ids = []
    for requests in filled(arena.size(4000, 65_000), 4000, lambda begin, end: [
            ("RL.RESERVE", "shop:k", *limits)] * (end - begin)):
        ids += [reply[2] for reply in client.pipeline(requests) if isinstance(reply, list)]
    with arena.bystander():
        client.pipeline([("RL.CANCEL", "shop:k", booking) for booking in ids[1:51]])


@attack
def pushed_out_limit(arena):
    """Sixteen other limits on a key; the one that was used up must not be given out again."""
    arena.start()
    client = arena.connect("shop")
    with arena.bystander():
        client.call("RL.TAKE", "shop:k", "FIXED", "1/1h")
        client.ask("RL.TAKE", "shop:k", *limits_of(f"1/{days}d" for days in range(1, 17)))
        again = client.ask("RL.TAKE", "shop:k", "FIXED", "1/1h")
        arena.expect(not (isinstance(again, list) and again[0] == 1),
                     "the permit of that hour was given out twice")


@attack
def guessed_departure(arena):
    """RL.CANCEL of ids near one's own: somebody's place in a funnel is not to be had by guessing,
    and whoever loses it is not granted."""
    arena.start()
    limits = ("LEAKY", "1/1s", "CAPACITY", 10)
    thief, waiter = arena.connect("shop"), arena.connect("shop")
    with arena.bystander():
        thief.call("RL.ACQUIRE", "shop:q", *limits, "TIMEOUT", 0)
        thief.call("RL.RESERVE", "shop:other", "GCRA", "1/1h", "BURST", 0)
        own = thief.call("RL.RESERVE", "shop:other", "GCRA", "1/1h", "BURST", 0)[2]
        waiter.request("RL.ACQUIRE", "shop:q", *limits, "TIMEOUT", 0)
        time.sleep(0.1)
        cancelled = sum(thief.pipeline([("RL.CANCEL", "shop:q", own + i) for i in range(1, 200)]))
        granted = waiter.read()[0]
        arena.expect(not (cancelled and granted), "a place was given back and granted as well")
        arena.expect(cancelled == 0, "the id of somebody's place could be guessed")


@attack
def same_id_twice(arena):
    """A request is repeated by its ID while the first still departs: at most one is charged."""
    arena.start()
    limits = ("LEAKY", "2/1s", "CAPACITY", 10)
    clients = [arena.connect("shop") for _ in range(3)]
    with arena.bystander():
        clients[0].call("RL.ACQUIRE", "shop:q", *limits, "TIMEOUT", 0)
        for client in clients[1:]:
            client.request("RL.ACQUIRE", "shop:q", *limits, "TIMEOUT", 0, "ID", "t")
            time.sleep(0.05)
        left = clients[0].call("RL.PEEK", "shop:q", *limits, "COST", 0)[2]
        arena.expect(left >= 8, f"{10 - left} of 10 are taken where 2 were asked for")


@attack
def kept_lists(arena):
    """Logs that are made and dropped: nothing of them stays in memory."""
    arena.start()
    client = arena.connect("limits")  # who may reset
    arena.memory_mb = arena.form.maxmemory_mb + 150
    count = arena.size(4000, 40_000)
    with arena.bystander():
        for requests in filled(count, 1000, lambda begin, end: [
                words for i in range(begin, end) for words in (
                    ("RL.TAKE", "shop:k", "SLIDINGLOG", f"{i % 900 + 1}/1h"),
                    ("RL.RESET", "shop:k"))]):
            client.pipeline(requests)


@attack
def give_backs_of_full_limits(arena):
    """What is cancelled or settled with nothing long after its limit was full again."""
    arena.start()
    client = arena.connect("shop")
    two = ("GCRA", "10/1s", "GCRA", "100/1h")
    one = ("GCRA", "10/1s")
    funnel = ("LEAKY", "5/1s", "CAPACITY", "15")
    client.call("RL.TAKE", "shop:booked", *two, "COST", "0,100")
    held, booked = [], []
    for _ in range(4):
        held.append(client.call("RL.TAKE", "shop:held", *one, "COST", 10, "HOLD", "1d")[6])
        booked.append(client.call("RL.RESERVE", "shop:booked", *two, "COST", 10)[2])
        time.sleep(1.02)
    drop = client.call("RL.RESERVE", "shop:funnel", *funnel, "COST", 15)[2]
    time.sleep(2.9)
    with arena.bystander():
        for what, key, limits, options, ids, most in (
                ("holds", "shop:held", one, (), held, 10),
                ("bookings", "shop:booked", two, ("COST", "1,0"), booked, 10),
                ("a booking", "shop:funnel", funnel, (), [drop], 15)):
            begin = time.monotonic()
            count = take_all(client, key, limits, *options)
            for identity in ids:
                client.call("RL.CANCEL", key, identity)
                count += take_all(client, key, limits, *options)
            most += 1 + int((time.monotonic() - begin) * 10)  # what comes meanwhile
            if count > most:
                arena.fault(f"{what} that were cancelled let {count} pass at once, not {most}")


@attack
def leavers_of_a_former_window(arena):
    """Who was let into a funnel in the window before leaves it: this window has its own permits."""
    arena.start()
    client = arena.connect("shop")
    limits = ("LEAKY", "5/1s", "CAPACITY", "400", "FIXED", "40/4s", "ALIGN", "EPOCH")
    time.sleep(4 - time.time() % 4 + 0.02)  # a window has just begun
    waiting = [arena.connect("shop") for _ in range(40)]
    for waiter in waiting:
        waiter.request("RL.ACQUIRE", "shop:k", *limits, "TIMEOUT", 0)
    time.sleep(0.2)
    window = time.time() // 4
    time.sleep(4 - time.time() % 4 + 0.02)  # and now the next one; most of them are in the funnel
    with arena.bystander():
        count = take_all(client, "shop:k", limits)
        for waiter in waiting:
            waiter.close()
        time.sleep(0.3)
        count += take_all(client, "shop:k", limits)
    if count > 40 and time.time() // 4 == window + 1:
        arena.fault(f"leavers of the window before let {count} pass in one window, not 40")

#!/usr/bin/env python3
"""A wire between two interfaces that delays each frame and loses some of them: what tc's netem does where
the kernel has it.

    wire.py INTERFACE INTERFACE DELAY_MS LOSS_PERCENT SEED
"""

import collections
import random
import select
import socket
import sys
import time

ALL_PROTOCOLS = 0x0003
SOL_PACKET, PACKET_VNET_HDR = 263, 15
OUTGOING = 4
FRAME_MAX = 10 + 14 + 65536


def tap(interface):
    """Frames come and go with the header in which the kernel says what it left undone (sums, segments)."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.bind((interface, ALL_PROTOCOLS))
    return sock


def take(sock, queue, to, due, lost):
    try:
        frame, (_, _, kind, _, _) = sock.recvfrom(FRAME_MAX)
    except OSError:
        return  # the link has gone down, which a second fault may do
    if kind != OUTGOING and not lost:
        queue.append((due, to, frame))


def main():
    one, other = tap(sys.argv[1]), tap(sys.argv[2])
    delay_s, loss = float(sys.argv[3]) / 1000, float(sys.argv[4]) / 100
    rng = random.Random(int(sys.argv[5]))
    queue = collections.deque()
    while True:
        wait = max(0, queue[0][0] - time.monotonic()) if queue else None
        for sock in select.select([one, other], [], [], wait)[0]:
            take(sock, queue, other if sock is one else one, time.monotonic() + delay_s, rng.random() < loss)
        while queue and queue[0][0] <= time.monotonic():
            _, to, frame = queue.popleft()
            try:
                to.send(frame)
            except OSError:
                pass  # a link that is down loses it


if __name__ == "__main__":
    main()

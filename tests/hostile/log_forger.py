"""A shared log in a file (storage/shared_logs/file_log.h), read and written by who is no member:
storage/FORMAT.md and storage/replication/FORMAT.md have the grammar.
"""

import random
import struct

ELEMENTS = 1 << 31  # added to a database's generation: that of its elements
PUT, ERASED, DROPPED = 1, 2, 3
STRING, LIMITER, ELEMENT, HASH, LIST, SET, ZSET, ENTRIES = 2, 3, 15, 16, 17, 18, 19, 20


def table(polynomial):
    sums = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (polynomial if number & 1 else 0)
        sums.append(number)
    return sums


CRC32C = table(0x82F63B78)
CRC64 = table(0xC96C5795D7870F42)


def crc(sums, ones, data):
    value = ones
    for byte in data:
        value = sums[(value ^ byte) & 255] ^ value >> 8
    return value ^ ones


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def text(data):
    return varint(len(data)) + data


def put(generation, name, kind, payload):
    return bytes([PUT]) + varint(generation) + text(name) + text(bytes([1, kind]) + payload)


def header(name, kind, lists, rest=b"\0"):
    return put(1, name, kind, varint(len(lists)) + b"".join(map(varint, lists)) + rest)


def element(of_list, member, order, value=b""):
    return put(1 | ELEMENTS, varint(of_list) + member, ELEMENT, struct.pack(">Q", order) + value)


def erased(generation, name):
    return bytes([ERASED]) + varint(generation) + text(name)


def dropped(of_list):
    return bytes([DROPPED]) + varint(1 | ELEMENTS) + text(varint(of_list))


def system(name, payload):
    return put(0, name, 1, payload)


class Log:
    """The bytes of a log as its members wrote it, and what the next record has to say."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.lists = {}  # of each header, by its key
        at = 0
        while at + 24 <= len(self.data):
            size, self.log_index, sum64 = struct.unpack_from("<IQQ", self.data, at)
            self._read(sum64, self.data[at + 24:at + 24 + size])
            at += 24 + size

    def _read(self, sum64, record):
        self.shard = record[11:19]
        if record[2] == 2:  # CLAIM
            self.epoch = struct.pack("<QQ", self.log_index, sum64)
        if record[2] != 3:  # TURNS
            return
        first = struct.unpack_from("<Q", record, 35)[0]
        count, at = read_varint(record, 43)
        for number in range(count):
            size, at = read_varint(record, at)
            self.turn = first + number
            self._read_turn(record[at:at + size])
            at += size

    def _read_turn(self, turn):
        self.instant = struct.unpack_from("<Q", turn, 1)[0]
        at = 9
        while at < len(turn):
            operation = turn[at]
            generation, at = read_varint(turn, at + 1)
            size, at = read_varint(turn, at)
            name, at = turn[at:at + size], at + size
            if operation != PUT:
                continue
            size, at = read_varint(turn, at)
            value, at = turn[at:at + size], at + size
            if generation and generation < ELEMENTS and value[1] & 127 >= HASH:
                self.lists[name] = read_varint(value, 3 if value[1] < 128 else 11)[0]

    def with_turn(self, *entries):
        """The log with one turn more, of the primary's epoch."""
        turn = b"\1" + struct.pack("<Q", self.instant + 1) + b"".join(entries)
        record = (b"W\1\3" + random.randbytes(8) + self.shard + self.epoch
                  + struct.pack("<Q", self.turn + 1) + varint(1) + text(turn))
        head = struct.pack("<IQQ", len(record), self.log_index + 1, crc(CRC64, (1 << 64) - 1, record))
        return self.data + head + struct.pack("<I", crc(CRC32C, (1 << 32) - 1, head)) + record

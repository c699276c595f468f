"""Redis' dump form in all the encodings that servers have written over the years, old ones included:
what no server at hand writes any more is made here."""

import struct

POLYNOMIAL = 0x95ac9329ac4bc9b5


def crc_table():
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc_table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sealed(body, version=10):
    payload = body + struct.pack("<H", version)
    return payload + struct.pack("<Q", crc64(payload))


def size(number, wide=False):
    if wide:
        return b"\x81" + struct.pack(">Q", number)
    if number < 64:
        return bytes([number])
    return struct.pack(">H", number | 1 << 14) if number < 1 << 14 else b"\x80" + struct.pack(">I", number)


def text(data):
    return size(len(data)) + data


def as_integer(data):
    """The number, for what Redis keeps as one."""
    try:
        number = int(data)
    except ValueError:
        return None
    return number if str(number).encode() == data and -1 << 63 <= number < 1 << 63 else None


def ziplist_entry(data):
    number = as_integer(data)
    if number is None:
        if len(data) < 64:
            return bytes([len(data)]) + data
        if len(data) < 1 << 14:
            return struct.pack(">H", len(data) | 1 << 14) + data
        return b"\x80" + struct.pack(">I", len(data)) + data
    if 0 <= number <= 12:
        return bytes([0xf1 + number])
    for head, width in ((0xfe, 1), (0xc0, 2), (0xf0, 3), (0xd0, 4), (0xe0, 8)):
        if -1 << 8 * width - 1 <= number < 1 << 8 * width - 1:
            return bytes([head]) + number.to_bytes(width, "little", signed=True)
    return None


def ziplist(texts):
    entries, previous, last_at, at = b"", 0, 10, 10
    for data in texts:
        last_at = at
        head = bytes([previous]) if previous < 254 else b"\xfe" + struct.pack("<I", previous)
        entry = head + ziplist_entry(data)
        entries += entry
        at, previous = at + len(entry), len(entry)
    count = min(len(texts), 0xffff)
    return struct.pack("<IIH", at + 1, last_at, count) + entries + b"\xff"


def listpack(texts):
    """Texts only: what writes it makes integers of some, and both may be read."""
    entries = b""
    for data in texts:
        entry = (bytes([0x80 | len(data)]) if len(data) < 64 else
                 struct.pack(">H", 0xe000 | len(data)) if len(data) < 4096 else
                 b"\xf0" + struct.pack("<I", len(data))) + data
        entries += entry + backlen(len(entry))
    return struct.pack("<IH", len(entries) + 7, min(len(texts), 0xffff)) + entries + b"\xff"


def backlen(length):
    if length <= 127:
        return bytes([length])
    if length < 16383:
        return bytes([length >> 7, length & 127 | 128])
    return bytes([length >> 14, length >> 7 & 127 | 128, length & 127 | 128])


def zipmap(pairs):
    def length(number):
        return bytes([number]) if number < 254 else b"\xfe" + struct.pack("<I", number)
    body = b"".join(length(len(field)) + field + length(len(value)) + bytes([2]) + value + b"??"
                    for field, value in pairs)
    return bytes([min(len(pairs), 254)]) + body + b"\xff"


def score_text(score):
    if score in (float("inf"), float("-inf")):
        return bytes([254 if score > 0 else 255])
    shown = b"%.17g" % score
    return bytes([len(shown)]) + shown


def strings(data):
    """Forms of a string."""
    yield b"\0" + text(data)
    yield b"\0" + size(len(data), wide=True) + data
    number = as_integer(data)
    for kind, width in ((0, 1), (1, 2), (2, 4)):
        if number is not None and -1 << 8 * width - 1 <= number < 1 << 8 * width - 1:
            yield bytes([0, 0xc0 + kind]) + number.to_bytes(width, "little", signed=True)
    packed = b"".join(bytes([len(part) - 1]) + part for part in
                      (data[at:at + 32] for at in range(0, len(data), 32)))
    if data:
        yield b"\0\xc3" + size(len(packed)) + size(len(data)) + packed
    if len(data) > 3 and data == data[:1] * len(data) and len(data) <= 264 + 1:
        length = len(data) - 1 - 2  # repeats the first byte
        more = bytes([length << 5 | 0]) if length < 7 else bytes([7 << 5, length - 7])
        yield b"\0\xc3" + size(2 + len(more) + 1) + size(len(data)) + b"\0" + data[:1] + more + b"\0"


def lists(texts):
    yield b"\x01" + size(len(texts)) + b"".join(text(data) for data in texts)
    yield b"\x0a" + text(ziplist(texts))
    parts = [texts[at:at + 3] for at in range(0, len(texts), 3)]
    yield b"\x0e" + size(len(parts)) + b"".join(text(ziplist(part)) for part in parts)
    yield b"\x12" + size(len(parts)) + b"".join(
        b"\x01" + text(part[0]) if len(part) == 1 and part[0] else b"\x02" + text(listpack(part)) for part in parts)


def hashes(pairs):
    flat = [data for pair in pairs for data in pair]
    yield b"\x04" + size(len(pairs)) + b"".join(text(data) for data in flat)
    yield b"\x0d" + text(ziplist(flat))
    yield b"\x10" + text(listpack(flat))
    if len(pairs) < 254:
        yield b"\x09" + text(zipmap(pairs))


def zsets(pairs):
    """Members with their scores, in order."""
    flat = [data for member, score in pairs for data in (member, b"%.17g" % score)]
    yield b"\x03" + size(len(pairs)) + b"".join(text(member) + score_text(score) for member, score in pairs)
    yield b"\x05" + size(len(pairs)) + b"".join(text(member) + struct.pack("<d", score)
                                                for member, score in reversed(pairs))
    yield b"\x0c" + text(ziplist(flat))
    yield b"\x11" + text(listpack(flat))


def sets(members):
    yield b"\x02" + size(len(members)) + b"".join(text(member) for member in members)
    numbers = [as_integer(member) for member in members]
    if None not in numbers:
        width = next(w for w in (2, 4, 8) if all(-1 << 8 * w - 1 <= n < 1 << 8 * w - 1 for n in numbers))
        yield b"\x0b" + text(struct.pack("<II", width, len(numbers)) + b"".join(
            number.to_bytes(width, "little", signed=True) for number in sorted(numbers)))


def listpack_set(members):
    """Of Redis 7.2."""
    return b"\x14" + text(listpack(members))

"""Where arguments come from: few keys so that commands meet, and values at every corner."""

KEYS = [b"a", b"b", b"k1", b"k2", b"k3", b"{tag}x", b"{tag}y", b"", b"0", b"\x00", b"new\r\nline",
        b"[a-z]*?", b"caf\xc3\xa9", b"\xff\xfe", b"long" * 90]

INTEGERS = [b"0", b"1", b"-1", b"2", b"3", b"-2", b"7", b"10", b"-10", b"16", b"99", b"1000",
            b"2147483647", b"-2147483648", b"2147483648", b"-2147483649", b"4294967296",
            b"9007199254740991", b"9223372036854775806", b"9223372036854775807",
            b"-9223372036854775807", b"-9223372036854775808"]

NOT_INTEGERS = [b"", b" 1", b"1 ", b"+1", b"01", b"-0", b"-", b"1.0", b"0x10", b"1e3", b"abc",
                b"1\x00", b"9223372036854775808", b"-9223372036854775809",
                b"18446744073709551616", b"1" * 40]

FLOATS = [b"0", b"1", b"-1", b"0.1", b"0.5", b"-0.25", b"3.14159", b"1e3", b"1e-3", b"-1e10",
          b"1e17", b"123456789012345678", b"0.30000000000000004", b".5", b"5.", b"-0", b"0x1p3",
          b"1e300", b"1e4900", b"-1e4900", b"1e-4000", b"9007199254740993"]

NOT_FLOATS = [b"", b" 1", b"1 ", b"nan", b"inf", b"-inf", b"infinity", b"1e5000", b"-1e5000",
              b"abc", b"1.2.3", b"1\x00", b"1,5", b"--1", b"1e", b"0" * 50]

FAR_S = [b"4102444800", b"4102444801", b"5000000000", b"33333333333", b"9223372036854775"]
FAR_MS = [b"4102444800000", b"4102444800499", b"4102444800500", b"4102444801501",
          b"9007199254740991", b"9223372036854775307", b"9223372036854775807"]
PAST = [b"1", b"100", b"1000000000"]
ENDED = [b"0", b"-1", b"-1000", b"-9223372036854775", b"-9223372036854775808"]
OVERFLOWS = [b"9223372036854776", b"-9223372036854776", b"9223372036854775807"]
# Of a relative time too long in either unit.
NEVER_FITS = [b"9223372036854775807", b"9223372036854775806"]

PATTERNS = [b"*", b"k*", b"k?", b"?", b"[ab]", b"[^a]*", b"[a-k]*", b"{tag}*", b"*\x00*", b"",
            b"\\[a-z]*?", b"[", b"[a", b"\\", b"*a*b*", b"k[1-2]", b"k[2-1]", b"**", b"nosuch",
            b"a", b"long*long", b"\xff*", b"[^]*"]

# Of commands that wait; all others would hold up the run.
TIMEOUTS = [b"0.001", b"0.002", b"1e-3", b"0.0001", b"0x0.01", b".003", b"-1", b"-0.5", b"abc", b"",
            b" 1", b"nan", b"inf", b"1e400", b"1e18"]

JUNK = [b"", b"\x00", b"\r\n", b"foo", b"NX", b"xx", b"GET", b"EX", b"keepttl", b"%s", b"'", b'"',
        b"\\x", b"1" * 300, b"\xff\x80\x00\x01"]

CURSORS = [b"0", b"0", b"0", b"+0", b"-0", b"", b"00", b"abc", b" 0", b"0 ", b"1x",
           b"18446744073709551616", b"-", b"0\x00", b"\x00"]


def random_bytes(rng, size_max=24):
    return rng.randbytes(rng.randint(0, size_max))


def value(rng):
    kind = rng.random()
    if kind < 0.25:
        return rng.choice(INTEGERS)
    if kind < 0.35:
        return rng.choice(FLOATS)
    if kind < 0.42:
        return rng.choice(NOT_INTEGERS + NOT_FLOATS)
    if kind < 0.8:
        return random_bytes(rng)
    if kind < 0.97:
        return rng.randbytes(rng.choice((43, 44, 45, 100, 1000, 3000)))
    return rng.randbytes(16) * rng.choice((1000, 2048, 4097, 8192))


class RelativeTimes:
    """Times from now on that are so far apart that no two of a stream can come out equal or in
    another order on a server that was a little slower."""

    def __init__(self):
        self.next_s = 1_000_000

    def seconds(self):
        self.next_s += 600
        return b"%d" % self.next_s

    def milliseconds(self):
        self.next_s += 600
        return b"%d" % (self.next_s * 1000)

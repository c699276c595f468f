"""Scripts made at random: calls of other tables' commands, values to be converted, errors, the
libraries. Their names for what differs on purpose are avoided: REDIS_VERSION, an error_reply of
one word, breakpoints. So is error() with a table without `err`, which ends Redis 7.0.15."""

import hashlib

from grammar import Row
from tables import hashes, keys, lists, sets, strings, zsets

RANDOM = ("HRANDFIELD", "SRANDMEMBER", "ZRANDMEMBER", "SPOP")
ALL = [row for table in (strings, keys, hashes, sets, lists, zsets) for row in table.ROWS
       if not row.ends and not row.has_times and row.usage.split()[0] not in RANDOM]
# Each of two kinds: what answers the same bytes, and what answers the same elements in any order.
TIMELESS = [row for row in ALL if row.compare in ("exact", "special:as-is")]
UNORDERED = [row for row in ALL if row.compare == "unordered"]
CALL_ARGUMENTS_MAX = 130

NUMBERS = ["0", "1", "-1", "3.99", "-3.99", "-0.5", "0.1", "1/3", "1e15", "1e15+0.5", "1e17",
           "2^53", "-2^53", "2^31", "2^63", "-2^63", "1/0", "-1/0", "0/0", "1e300", "-0.0",
           "1719234234.1234567", "127", "128", "255", "256", "65536", "-33", "-32768", "2^32+5"]

TEXTS = [b"", b"a", b"abc", b"10", b"1.5", b"0x10", b" 7 ", b"\x00", b"a\x00b", b"\r\n", b'"\\/',
         b"\x7f\x1f", b"\xc3\xa9", b"x" * 33, b"y" * 300, b"nan", b"user_script:1:"]

JSON = [b"[1,2,[3]]", b'{"a":1,"b":[true,false,null],"c":"x"}', b"[", b"[1,]", b'{"a":}',
        b'"\\u00e9\\ud83d\\ude00"', b'"\\ud800"', b"1e5", b"nan", b"-", b"01", b"tru", b"1 2", b"",
        b'{"a":1,"a":2}', b"  [ ]  ", b'"\\q"', b"[[[[]]]]", b'{"1":2,"x":{"y":{}}}', b"-Infinity"]

PACKS = ["Bc0I", ">I2<I4", "!4bi", "!bd", "bBhHlL", "i3", "I5", "s", "c3", "f", "d", "T", "x b",
         ">i10", "i33", "!3b", "z", "c0", "c", "<d>d"]

EXPRESSIONS = [
    "cjson.encode(%V)", "cjson.decode(%J)", "cjson.encode(cjson.decode(%J))",
    "cmsgpack.pack(%V,%V)", "{cmsgpack.unpack(cmsgpack.pack(%V,%V))}", "{cmsgpack.unpack(%S)}",
    "{cmsgpack.unpack_one(cmsgpack.pack(%V,%V))}", "{cmsgpack.unpack_limit(%S,2,1)}",
    "struct.pack(%P,%N,%N,%N,%N,%N,%N)", "struct.pack(%P,%S,%S)", "struct.pack(%P,%V)",
    "{struct.unpack(%P,%S)}", "{struct.unpack(%P,string.rep(%S,20))}", "struct.size(%P)",
    "bit.%B(%N,%N)", "bit.%B(%V,%N)", "bit.tohex(%N,%N)", "{bit.bnot(%N),bit.bswap(%N)}",
    "redis.sha1hex(%V)", "tostring(%N)", "tonumber(%S)", "tostring(%V==%V)", "#%S", "%S..%N",
    "%N+%S", "%S<%S", "string.format('%%d|%%s|%%5.1f|%%x',%N,%S,%N,5)", "{%S,%N,%V}",
    "select('#',unpack({%V,%V,nil,1}))", "math.floor(%N)", "%N %% 7", "{math.randomseed(7) or math.random(),math.random(9)}",
    "redis.status_reply(%S)", "redis.error_reply('E '..%S)", "{err='X '..%S}", "{ok=%S}",
    "{double=%N}", "{map={%S,%N}}", "{set={[%S]=true}}", "{big_number=%S}",
    "{verbatim_string={format='txt',string=%S}}", "{pcall(error,%V)}", "{pcall(redis.call,%S)}",
    "{xpcall(function() return %V.x end,function(e) return e end)}", "nosuch", "next(%V)",
    "type(getmetatable(%V))", "%V", "%V", "%N", "%S", "(%S):rep(3)", "{string.byte(%S,1,-1)}",
    "{loadstring('return '..%N)()}", "table.concat({%S,%N},',')", "{table.maxn({%V}),#{%V,%V}}",
    "coroutine.wrap(function(a) return a end)(%V)", "rawget({%V},1)", "assert(%V,'no '..%S)"]

STATEMENTS = ["redis.setresp(3)", "redis.setresp(2)", "foo=1", "redis.x=1", "KEYS[1]=%V",
              "table.insert(ARGV,%V)", "error(%S)", "error({err='E '..%S})", "local x x.y=1",
              "math.randomseed(7)", "cjson.encode_sparse_array(true)", "redis.log(0,%S)",
              "for i=1,5 do redis.call('incr','k'..i) end", "%C", "%C", "%C", "%C", "%C",
              "for i=1,2 do local r=%C if type(r)=='table' and r.err then return r end end"]

# What a reply has become in Lua: show() tells all of it, bag() leaves out the order of what is in it.
HELPERS = """local function show(r) if type(r)~='table' then return type(r)..':'..tostring(r) end local l={}
for k,v in pairs(r) do l[#l+1]=show(k)..'='..show(v) end table.sort(l) return '{'..table.concat(l,',')..'}' end
local function bag(r) if type(r)~='table' or r.err then return show(r) end local l={}
for k,v in pairs(r.map or r.set or r) do l[#l+1]=(r.map and show(k)..'=' or '')..show(r.set and k or v) end
table.sort(l) return l end """
SEEN = ["local r=%C return show(r)", "local r=%C redis.setresp(3) return {show(r),show(%C)}",
        "redis.setresp(3) local r=%C return show(r)", "redis.setresp(3) local r=%C redis.setresp(2) return r",
        "local r=%C return {type(r),type(r)=='table' and (r.err or r.ok or #r),r}",
        "return {%C,%C,%C}", "local a,b=%C,%C return {a==b,b,a}", "return {pcall(function() return %C end)}",
        "local r=%C return redis.pcall('append','a',type(r)=='table' and 'table' or tostring(r))",
        "local r=%C return redis.call('rpush','l',type(r)=='number' and r or show(r))",
        "return cjson.encode({show(%C)})", "return bag(%U)", "redis.setresp(3) return bag(%U)",
        "local r=%C local s=show(r) return {s,show(%C)==s}", "local r=%C if r then return %C end return %C"]


def literal(value):
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\%' else f"\\{byte:03d}"
                         for byte in value) + '"'


def call(maker, rows=TIMELESS):
    outer, chosen = maker.row, maker.chosen
    for _ in range(100):
        row = maker.rng.choice(rows)
        args = maker.mutated(row, maker.args(row))[:CALL_ARGUMENTS_MAX]
        if maker.is_steady(row, args):
            break
    maker.row, maker.chosen = outer, chosen
    shown = [literal(arg) for arg in args]
    if row.only_keys:
        return f"redis.pcall({','.join(shown)})"
    if maker.rng.random() < 0.2 and len(shown) > 1:
        shown[maker.rng.randrange(1, len(shown))] = filled(maker, "%V")
    if maker.rng.random() < 0.2 and len(shown) > 1:
        shown[1] = "KEYS[1] or 'a'"
    return f"redis.{maker.rng.choice(['call', 'pcall'])}({','.join(shown)})"


def value(maker, depth=0):
    rng = maker.rng
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return literal(rng.choice(TEXTS))
    if kind == 4:
        return rng.choice(["true", "false", "nil", "cjson.null", "KEYS", "ARGV"])
    items = [value(maker, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return "{" + ",".join(items) + "}"
    if kind == 6:
        return "{" + ",".join(f"k{at}={item}" for at, item in enumerate(items)) + "}"
    return "{" + ",".join([f"[{rng.choice(NUMBERS[:8])}]={item}" for item in items]) + "}"


FILLS = {"V": value, "N": lambda maker: "(" + maker.rng.choice(NUMBERS) + ")",
         "S": lambda maker: "(" + literal(maker.rng.choice(TEXTS)) + ")",
         "J": lambda maker: literal(maker.rng.choice(JSON)),
         "P": lambda maker: literal(maker.rng.choice(PACKS).encode()), "C": call,
         "U": lambda maker: call(maker, UNORDERED),
         "B": lambda maker: maker.rng.choice("band bor bxor lshift rshift arshift rol ror".split())}


def filled(maker, template):
    parts = template.split("%")
    text = parts[0]
    at = 1
    while at < len(parts):
        if parts[at] == "":  # %%
            text += "%" + parts[at + 1]
            at += 2
        elif parts[at][0] in FILLS:
            text += FILLS[parts[at][0]](maker) + parts[at][1:]
            at += 1
        else:
            text += "%" + parts[at]
            at += 1
    return text


def script(maker):
    rng = maker.rng
    lines = [filled(maker, rng.choice(STATEMENTS)) for _ in range(rng.choice((0, 0, 0, 1, 1, 3)))]
    kind = rng.random()
    if kind < 0.25:
        lines.append("return " + call(maker))
    elif kind < 0.55:
        lines.append(HELPERS + filled(maker, rng.choice(SEEN)))
    elif kind < 0.95:
        lines.append("return " + filled(maker, rng.choice(EXPRESSIONS)))
    elif kind < 0.97:
        lines.append("return return")
    head = rng.choice(["#!lua\n", "#!lua flags=no-writes\n", "#!lua flags=x\n", "#!lua"])
    body = ((head if rng.random() < 0.08 else "") + rng.choice([" ", "\n"]).join(lines)).encode()
    maker.scripts = [*maker.scripts[-3:], body]
    return body


def digest(maker):
    """Of a script sent a little while ago, most probably."""
    known = hashlib.sha1(maker.rng.choice(maker.scripts or [b""])).hexdigest()
    return known.upper().encode() if maker.rng.random() < 0.1 else known.encode()


KINDS = {"script": script, "digest": digest, "numkeys": lambda maker: maker.rng.choice([b"0", b"0", b"1", b"1", b"2"])}

ROWS = [
    Row("EVAL script numkeys key value value", 60, kinds=KINDS),
    Row("EVAL script numkeys key", 20, kinds=KINDS),
    Row("EVAL_RO script numkeys key value", 10, kinds=KINDS),
    Row("SCRIPT LOAD script", 1, kinds=KINDS),
    Row("SCRIPT EXISTS value [digest ...]", 2, kinds=KINDS),
    Row("SCRIPT FLUSH [SYNC | ASYNC]", 1),
    Row("EVALSHA digest numkeys key value", 10, kinds=KINDS),
    Row("EVALSHA_RO digest numkeys key", 3, kinds=KINDS),
    Row("EVALSHA value numkeys key", 1, kinds=KINDS),
]

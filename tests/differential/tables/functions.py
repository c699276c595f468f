"""Libraries of functions: loading in every way there is to do it wrong, calls, and what is listed.

One library a listing, since Redis lists in the order of a hash table; 'LUA' and flags are compared
to the byte.
"""

from grammar import Row
from tables.scripts import KINDS as SCRIPT_KINDS
from tables.scripts import script

NAMES = ["lib", "lib", "lib", "one", "a_1"]
HEADS = ["#!lua name=%s\n"] * 30 + [
    "#!LUA name=%s\n", "#!lua 'name=%s'\n", "#!lua\n", "#!lua name=%s", "#!js name=%s\n", "#! name=%s\n",
    "#!lua name=%s name=b\n", "#!lua x name=%s\n", "#!lua name=%s-\n", "#!lua name=\n", "#!lua 'name=%s\n",
    "", "#!lua flags=no-writes name=%s\n", " #!lua name=%s\n", "#!lua\tname=%s \n"]
FUNCTIONS = ["f", "f", "g", "G", "h_2"]
BODIES = [
    "return {k,a}", "return redis.call('get',k[1] or 'a')", "return redis.call('incr',k[1] or 'a')",
    "redis.call('set','a',a[1] or '') error('boom')", "error({err='MY error'})", "return #a", "x=1",
    "return x", "return KEYS", "return redis.register_function", "return redis.replicate_commands",
    "local t={} for n in pairs(redis) do t[#t+1]=n end table.sort(t) return t", "redis.setresp(3) return redis.call('hgetall','tiny')",
    "return assert(loadstring(a[1] or ''))()", "return redis.pcall('lpush','a',1)", "return {double=1.5,map={a=1}}", "return {map={a=1}}",
    "local t={} for n in pairs(_G) do t[#t+1]=n end table.sort(t) return t", "return redis.call('fcall','f',0)"]
READING = "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={'no-writes'}}"
REGISTRATIONS = [
    "redis.register_function('%F',function(k,a) %B end)"] * 12 + [
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={'no-writes'}}",
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={'no-writes'},description='d'}",
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={'allow-oom','allow-stale','no-cluster','no-writes'}}",
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={}}",
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={'x'}}",
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags={1}}",
    "redis.register_function{function_name='%F',callback=function(k,a) %B end,flags=1}",
    "redis.register_function{function_name='%F',callback=1}", "redis.register_function{function_name='%F'}",
    "redis.register_function{callback=function() end}", "redis.register_function{}", "redis.register_function()",
    "redis.register_function('%F')", "redis.register_function('%F',1)", "redis.register_function({},print)",
    "redis.register_function('%F',redis.log)", "redis.register_function('%F',function() end,1)",
    "redis.register_function('%F-',function() end)", "redis.register_function(1,function() return 1 end)",
    "redis.register_function{1,2}", "redis.register_function{function_name='%F',callback=function() end,x=1}",
    "redis.register_function{[true]=1}", "redis.register_function{function_name={},callback=function() end}",
    "redis.register_function{function_name='%F',callback=function() end,description={}}",
    "redis.call('set','a',1)", "x=1", "local y=x", "return math", "redis.log(redis.LOG_DEBUG,'x')", "redis.log('x')", "if",
    "redis.foo=1", "local n=0 redis.register_function('%F',function() n=n+1 return n end)",
    "local r=redis redis.register_function('%F',function() return r.call('ping') end)",
    "local r=redis redis.register_function('%F',function() return r.register_function('x',function() end) end)"]


def code(maker):
    rng = maker.rng
    head = rng.choice(HEADS)
    lines = []
    count = rng.choice((0, 1, 1, 1, 1, 2))
    # Redis 7.0.15 ends when it forgets a library with two names that differ in case alone.
    names = FUNCTIONS if count < 2 else [name for name in FUNCTIONS if name.islower()]
    for _ in range(count):
        body = rng.choice(BODIES) if rng.random() < 0.7 else script(maker).decode("latin-1").removeprefix("#!lua")
        if "#!" in body or "\x00" in body:
            body = "return 1"
        lines.append(rng.choice(REGISTRATIONS).replace("%F", rng.choice(names)).replace("%B", body))
    return ((head % rng.choice(NAMES) if "%s" in head else head) + "\n".join(lines)).encode("latin-1")


def good_code(maker):
    """One that loads, unless its function is another library's."""
    rng, name = maker.rng, maker.rng.choice(["f", "g"])
    body = rng.choice(BODIES) if rng.random() < 0.4 else script(maker).decode("latin-1")
    if "#!" in body or "\x00" in body or "return return" in body:
        body = "return {k,a}"
    register = rng.choice([REGISTRATIONS[0], READING]).replace("%F", name).replace("%B", body)
    return f"#!lua name=lib{name}\n{register}".encode("latin-1")


def one_of(choices):
    return lambda maker: maker.rng.choice(choices).encode()


KINDS = {**SCRIPT_KINDS, "code": code, "good-code": good_code, "good-name": one_of(["f", "g"]), "name": one_of(NAMES + ["nosuch"]), "function": one_of(FUNCTIONS + ["nosuch", "F"]),
         "pattern": one_of(["lib", "LIB", "l?b", "[l]ib", "nosuch", ""])}

ROWS = [
    Row("FUNCTION LOAD [REPLACE] code", 8, kinds=KINDS, compare="loading"),
    Row("FUNCTION LOAD REPLACE good-code", 10, kinds=KINDS, compare="loading"),
    Row("FCALL good-name numkeys key value", 12, kinds=KINDS),
    Row("FCALL_RO good-name numkeys key value", 6, kinds=KINDS),
    Row("FCALL function numkeys key value value", 12, kinds=KINDS),
    Row("FCALL function numkeys key", 6, kinds=KINDS),
    Row("FCALL_RO function numkeys key value", 5, kinds=KINDS),
    Row("FUNCTION DELETE name", 2, kinds=KINDS),
    Row("FUNCTION LIST LIBRARYNAME pattern [WITHCODE]", 2, kinds=KINDS, compare="listing"),
    Row("FUNCTION STATS", 1),
    Row("FUNCTION KILL", 1),
    Row("FUNCTION FLUSH [SYNC | ASYNC]", 1),
]

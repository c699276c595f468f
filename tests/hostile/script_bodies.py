"""The scripts of scripts.py, by what they are after."""

ESCAPES = [
    # What must not be there at all.
    *(f"if {name} ~= nil then return 'ESCAPED' end" for name in ("package", "debug")),
    *(f"return pcall(function() {call} return 'ESCAPED' end) and 'ESCAPED'" for call in (
        "io.open('/etc/passwd')", "os.execute('true')", "os.exit(0)", "dofile('/etc/passwd')",
        "loadfile('/etc/passwd')", "require('os')", "module('x')", "newproxy(true)",
        "debug.getinfo(1)", "io.popen('true')")),
    # Bytecode, whole, in pieces, and as a body.
    "local dumped = string.dump(function() return 1 end) loadstring(dumped)() return 'ESCAPED'",
    "local d, i = string.dump(function() return 1 end), 0"
    " load(function() i = i + 1 if i <= #d then return d:sub(i, i) end end)() return 'ESCAPED'",
    "\x1bLua",
    # Tables that all scripts share.
    "redis.call = function() return 'x' end return 'ESCAPED'",
    "getmetatable('').__index = function() return 1 end return 'ESCAPED'",
    "getmetatable('').__add = function() return 1 end return 'ESCAPED'",
    "rawset(string, 'rep', 1) return 'ESCAPED'",
    "rawset(getmetatable(''), '__index', 1) return 'ESCAPED'",
    "setmetatable(_G, {}) return 'ESCAPED'",
    "setmetatable(redis, {}) return 'ESCAPED'",
    "leaked = 1 return 'ESCAPED'",
    "rawset(_G, 'leaked', 1) return 'ESCAPED'",
    "setfenv(1, {}) return 1", "return type(getfenv(0))",
    "table.insert(redis, 1) return 1", "table.sort(cjson) return 1",
    "for name in pairs(_G) do rawget(_G, name) end return 1",
    "local t = setmetatable({}, {__gc = function() while true do end end}) t = nil"
    " collectgarbage() return 1",
]

BENT = [
    *(f"return cjson.decode({text})" for text in (
        "string.rep('[', 100000)", "string.rep('{\"a\":', 100000)", "'[1\\0]'", "'\"\\\\u12'",
        "'\"\\\\ud800\\\\u'", "'\"\\\\'", "'0x10'", "string.rep('1', 1e6)", "'nan'", "''")),
    "local t = {} t[1] = t return cjson.encode(t)",
    "local t = {} t[2^31 - 1] = 1 return #cjson.encode(t)",
    "cjson.encode_sparse_array(true, 0) local t = {} t[2^31 - 1] = 1 return #cjson.encode(t)",
    "cjson.encode_sparse_array(false, 2, 2147483647) local t = {} t[2^31 - 1] = 1"
    " return #cjson.encode(t)",
    "cjson.encode_number_precision(1000)", "return cjson.encode({cjson.null})",
    "cjson.encode_max_depth(2^31) local t = {} local r = t for i = 1, 1e5 do t[1] = {} t = t[1] end"
    " return #cjson.encode(r)",
    "cjson.decode_max_depth(2^31) return type(cjson.decode(string.rep('[', 200000)))",
    "local t = {} local r = t for i = 1, 1e5 do t[1] = {} t = t[1] end return #cmsgpack.pack(r)",
    *(f"return type(cmsgpack.unpack({text}))" for text in (
        "string.rep('\\145', 1e6) .. '\\1'", "string.rep('\\129\\1', 1e6) .. '\\1'",
        "'\\221\\255\\255\\255\\255'", "'\\223\\255\\255\\255\\255'", "'\\219\\255\\255\\255\\255x'",
        "'\\129\\192\\1'", "'\\129\\203\\127\\248\\0\\0\\0\\0\\0\\0\\1'")),
    "return cmsgpack.unpack_one('\\1', 2147483647)", "return cmsgpack.unpack_one('\\1', -1)",
    "return cmsgpack.unpack_limit('\\1\\2\\3', -1, 0)",
    "return cmsgpack.unpack_limit('\\1\\2\\3', 2147483647, 2147483647)",
    "return select('#', cmsgpack.unpack(string.rep('\\1', 1e6)))",
    "return #cmsgpack.pack(unpack({}, 1, 5000))", "return cmsgpack.pack()",
    *(f"return struct.pack({arguments})" for arguments in (
        "'i33', 1", "'!3i', 1", "'!1073741824i4', 1", "'c2147483647', 'x'",
        "string.rep('x', 1e6)", "'i0', 1")),
    *(f"return struct.unpack({arguments})" for arguments in (
        "'c0', 'x'", "'Ic0', '\\255\\255\\255\\255x'", "'dc0', struct.pack('d', -1) .. 'x'",
        "'dc0', struct.pack('d', 0/0) .. 'x'", "'b', 'x', 2147483647", "'b', 'x', -5",
        "'b', 'x', 0", "string.rep('b', 1e5), string.rep('x', 1e5)", "'s', 'abc'")),
    "return struct.size(string.rep('c2147483647', 100000))", "return struct.size('i999999999999')",
    "return string.rep('x', 2^40)", "return string.rep('x', 2^53)", "return ('x'):rep(-1)",
    "return string.format('%99999d', 1)", "return string.format('%s%s', 'x')",
    "return string.find(string.rep('a', 50000), string.rep('a*', 30) .. 'b')",
    "return string.find(string.rep('(', 1e5), string.rep('(', 1e5))",
    "return string.gsub(string.rep('a', 1e5), '.', string.rep('x', 1e5))",
    "return bit.lshift(1, 2^40)", "return bit.tohex(1, -2^31)",
    "return loadstring('return ' .. string.rep('(', 1e5) .. '1')",
    "return loadstring('return ' .. string.rep('{', 1e5))",
    "local function f() return f() + 1 end return f()",
    "return unpack({}, 1, 2^31 - 1)", "return select(-2^31, 1)", "return table.concat({}, 'x', 1, 2^40)",
    "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) return t[1]",
    "local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1e6) .. i end",
    "local s = 'x' while true do s = s .. s end",
]

REPLIES = [
    "local t = {} local r = t for i = 1, 1e6 do t[1] = {} t = t[1] end return r",
    "local t = {} t[1] = t return t",
    "redis.setresp(3) local t = {} t.map = t return t",
    "return {err = 5}", "return {ok = {}}", "redis.setresp(99)",
    "return {verbatim_string = {format = 'x', string = string.rep('y', 1e6)}}",
    "local x = string.rep('x', 1e5) local t = {} for i = 1, 1e4 do t[i] = x end return t",
    "return setmetatable({}, {__index = function(t, k) return k end})",
    "return redis.status_reply('x\\r\\n+injected\\r\\n')", "return {err = 'X\\r\\n+injected\\r\\n'}",
    "return {ok = 'x\\r\\n+injected\\r\\n'}",
    "return redis.error_reply(string.rep('x', 1e6) .. '\\r\\n+injected\\r\\n')",
    "error('x\\r\\n+injected\\r\\n')", "return {double = 0/0}",
    "redis.setresp(3) return {big_number = '1\\r\\n+injected\\r\\n'}",
    "error({})", "error(nil)", "error(cjson.null)",
]

CALLS = [
    "return redis.call()", "return redis.call(nil)", "return redis.call({})",
    *(f"return redis.call({words})" for words in (
        "'EVAL', 'return 1', 0", "'MULTI'", "'SUBSCRIBE', 'x'", "'SCRIPT', 'FLUSH'",
        "'FUNCTION', 'FLUSH'", "'SHUTDOWN'", "'BLPOP', 'nolist', 0",
        "'BLMPOP', 0, 1, 'nolist', 'LEFT'", "'CLIENT', 'KILL', 'ID', '1'", "'CONFIG', 'GET', '*'",
        "'ACL', 'LIST'", "'MONITOR'", "'DEBUG', 'SLEEP', 1", "'SAVE'", "'SELECT', 5",
        "'RL.ACQUIRE', 'k', 'FIXED', '1/1h', 'TIMEOUT', 0")),
    "local t = {} for i = 1, 7000 do t[i] = 'k' end return redis.call('DEL', unpack(t))",
    "redis.call('RL.TAKE', 'k', 'FIXED', '1/1h')"
    " return redis.call('RL.ACQUIRE', 'k', 'FIXED', '1/1h', 'TIMEOUT', 0)",
    "redis.log(redis.LOG_DEBUG, string.rep('x', 5e6))", "return redis.breakpoint()",
    "return redis.sha1hex(string.rep('x', 3e6))", "redis.set_repl(redis.REPL_ALL) return 1",
    "redis.replicate_commands() return 1",
    "return redis.register_function('x', function() end)",
]

FILLED = "local t = {} for i = 1, 1e5 do t[i] = i % 7 end "
LONG = "local s = string.rep('a', 1e6) "
LOOPS = [
    "while true do end", "while true do pcall(function() while true do end end) end",
    "while true do coroutine.wrap(function() for i = 1, 1e9 do end end)() end",
    "while true do xpcall(function() error('x') end, function() while true do end end) end",
    FILLED + "while true do table.sort(t) end", FILLED + "while true do table.maxn(t) end",
    FILLED + "while true do table.foreach(t, function() end) end",
    FILLED + "while true do table.insert(t, 1, 1) table.remove(t, 1) end",
    "local s = '[' .. string.rep('1,', 1e5) .. '1]' while true do cjson.decode(s) end",
    "local s = string.rep('\\1', 7000) while true do cmsgpack.unpack(s) end",
    "local f = string.rep('c0', 1e5) while true do pcall(struct.pack, f, 'x') end",
    "while true do local x = string.rep('x', 1e7) end",
    *(LONG + f"while true do local x = {work} end" for work in (
        "s:upper()", "string.format('%s%q', s, s)", "s:sub(2)", "s .. 'y'", "s:reverse()",
        "s:find('b')", "s:gsub('a', 'b')")),
    "local s = string.rep('x', 7000) while true do local t = {s:byte(1, -1)} end",
    "while true do redis.acl_check_cmd('GET', 'x') end",
    "while true do redis.log(redis.LOG_DEBUG, 'x') end", "while true do bit.tohex(1) end",
    "for i = 1, 1e4 do redis.call('SET', 'k' .. i, i) end"
    " while true do redis.call('SCAN', 0, 'COUNT', 1e6) end",
    "while true do redis.call('PING') end",
]

# Not charged to the script's time when this was written.
UNCHARGED = [
    "local s = string.rep('9', SIZE) while true do local x = s + 0 end",
    "local s = string.rep('9', SIZE) while true do tonumber(s) end",
    "local s = string.rep(' ', SIZE) while true do tonumber(s) end",
    "local a = string.rep('a', SIZE) local b, c = a .. 'x', a .. 'y'"
    " while true do local x = b < c end",
    "local s = string.rep('a', SIZE) while true do redis.sha1hex(s) end",
    "local t = {} for i = 1, 1e5 do t[i] = 'x' end while true do table.concat(t) end",
    "local s = '[' .. string.rep('1,', 1e5) .. '1]' while true do cjson.encode(cjson.decode(s)) end",
    "local p = string.rep('*a', 1e4) redis.call('SET', string.rep('a', 1e4), 1)"
    " while true do redis.call('KEYS', p) end",
]

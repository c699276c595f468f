-- redis-lua as an application uses it: see README.md for what each check means.
--
-- Plain Lua has neither threads nor processes of its own, so nothing concurrent is asked here.

package.path = arg[0]:match("^(.*/)") .. "?.lua;" .. package.path
local report = require "report"
local redis = require "redis"
local socket = require "socket"

local say, check, expect, expect_between = report.say, report.check, report.expect,
  report.expect_between

redis.commands.throttle = redis.command("CL.THROTTLE")
redis.commands.nosuch = redis.command("NOSUCH")

local function connected() return redis.connect("127.0.0.1", report.port, 10) end

local bytes = {}
for byte = 0, 255 do bytes[#bytes + 1] = string.char(byte) end
local all_bytes = table.concat(bytes)
local client = connected()

say("version " .. redis._VERSION:match("[%d.]+%S*"))

check("handshake", function()
  expect(client:ping(), true)
  expect(client:echo("a b"), "a b")
end)

check("binary", function()
  for _, value in ipairs({ "", "\0", all_bytes, "\r\n$5\r\n", all_bytes:rep(4096) }) do
    expect(client:set("bin:" .. all_bytes, value), true)
    expect(client:get("bin:" .. all_bytes) == value, true, "the same bytes")
  end
  expect(client:get("absent"), nil)
end)

check("pipeline", function()
  local replies = client:pipeline(function(pipe)
    for index = 1, 500 do
      pipe:set("pipe:" .. index, index)
      pipe:get("pipe:" .. index)
    end
  end)
  local wanted = {}
  for index = 1, 500 do
    wanted[#wanted + 1], wanted[#wanted + 2] = true, index
  end
  expect(replies, wanted)
end)

check("transaction", function()
  local replies = client:transaction(function(multi)
    multi:incr("pipe:1")
    multi:hset("h", "f", 1)
    multi:hget("h", "f")
  end)
  expect(replies, { 2, true, 1 })
end)

check("expiry", function()
  expect(client:set("ttl", "x"), true)
  expect({ client:ttl("ttl"), client:ttl("absent") }, { -1, -2 })
  expect(client:expire("ttl", 100), true)
  expect_between(99000, client:pttl("ttl"), 100000)
  expect(client:persist("ttl"), true)
  expect(client:psetex("soon", 30, "x"), true)
  socket.sleep(0.06)
  expect(client:exists("soon"), false)
end)

check("script", function()
  local sha = client:script("load", "return {KEYS[1], ARGV[1] * 2, 3.9}")
  expect(client:evalsha(sha, 1, "k", 21), { "k", 42, 3 })
  report.expect_error("NOSCRIPT", function() client:evalsha(("f"):rep(40), 0) end)
end)

check("throttle-figures", function()
  report.need_weir()
  expect(client:throttle("user:42", 15, 30, 60), { 0, 16, 15, -1, 2 })
  local admitted = 0
  for _ = 1, 20 do
    if client:throttle("five", 4, 1, 1000)[1] == 0 then admitted = admitted + 1 end
  end
  expect(admitted, 5, "admitted")
end)

check("errors", function()
  client:set("text", "x")
  report.expect_error("not an integer", function() client:incr("text") end)
  report.expect_error("unknown command", function() client:nosuch() end)
  report.expect_error("WRONGTYPE", function() client:lpush("text", "y") end)
  expect(client:get("text"), "x")
end)

check("info", function()
  local info = client:info()
  expect({ info.server.redis_mode, info.replication.role, info.server.tcp_port },
         { "standalone", "master", report.port })
end)

local throttled_at

check("restart", function()
  client:set("kept", all_bytes)
  client:expire("kept", 1000)
  if report.is_weir then for _ = 1, 4 do client:throttle("limit", 9, 1, 1000) end end
  throttled_at = socket.gettime()
  report.restart_server()
  report.expect_error("closed", function() client:ping() end)
  client = connected()
  expect(client:ping(), true)
end)

check("data-kept", function()
  report.need_durable()
  expect(client:get("kept") == all_bytes, true, "the same bytes")
  expect_between(900, client:ttl("kept"), 999)
end)

check("limiter-kept", function()
  report.need_weir()
  report.need_durable()
  local reply = client:throttle("limit", 9, 1, 1000, 0)
  local passed = socket.gettime() - throttled_at
  expect({ reply[1], reply[2], reply[3], reply[4] }, { 0, 10, 6, -1 })
  expect_between(4000 - passed - 1, reply[5], 4001 - passed, "reset_after")
end)

say("done")

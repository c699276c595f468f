-- Limiters as gateways on nginx have them: in the access phase, over lua-resty-redis.
--
-- The path says which: /window counts in fixed windows, /bucket refills tokens, /throttle leaves it
-- all to CL.THROTTLE. There is no way round: whoever cannot be judged is answered 503.

local redis = require "nginx.redis"

local SCRIPTS = {
  ["/window"] = [[
local count = redis.call('incrby', KEYS[1], 1)
if count == 1 then redis.call('pexpire', KEYS[1], ARGV[2]) end
local left = tonumber(ARGV[1]) - count
return {left >= 0, math.max(left, 0), redis.call('pttl', KEYS[1])}
]],
  -- The state is text with fractions, so a number that lost digits on its way would show.
  ["/bucket"] = [[
redis.replicate_commands()
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + clock[2] / 1000
local limit, period_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(state[1] or limit), tonumber(state[2] or now_ms)
tokens = math.min(limit, tokens + (now_ms - at) * limit / period_ms)
local is_taken = tokens >= 1
if is_taken then tokens = tokens - 1 end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', now_ms)
redis.call('PEXPIRE', KEYS[1], math.ceil(period_ms))
return {is_taken, tokens, math.ceil((1 - tokens) * period_ms / limit)}
]],
}

local shas = {}
for path, script in pairs(SCRIPTS) do
  local hex = {}
  for byte in ngx.sha1_bin(script):gmatch(".") do
    hex[#hex + 1] = string.format("%02x", byte:byte())
  end
  shas[path] = table.concat(hex)
end

local function connected()
  local client = redis:new()
  client:set_timeouts(2000, 2000, 2000)
  assert(client:connect("127.0.0.1", tonumber(ngx.var.redis_port)))
  return client
end

-- By its SHA-1, and by its text when the server does not know it; then the answer says so.
local function decide(client, path, key, limit, period_ms)
  if path == "/throttle" then
    local reply = assert(client["cl.throttle"](client, key, limit - 1, limit, period_ms / 1000))
    return { reply[1] == 0 and 1 or ngx.null, reply[3], reply[4] * 1000 }
  end
  local reply, err = client:evalsha(shas[path], 1, key, limit, period_ms)
  if not reply and err:sub(1, 8) == "NOSCRIPT" then
    ngx.header["X-Script"] = "sent"
    reply, err = client:eval(SCRIPTS[path], 1, key, limit, period_ms)
  end
  return assert(reply, err)
end

local function judge()
  local arguments = ngx.req.get_uri_args()
  local client = connected()
  local reply = decide(client, ngx.var.uri, arguments.key, tonumber(arguments.limit),
                       tonumber(arguments.period_ms))
  ngx.header["X-Pooled"] = client:get_reused_times() > 0 and 1 or 0
  assert(client:set_keepalive(10000, 32))
  ngx.header["X-Remaining"] = reply[2]
  ngx.header["X-Wait-Ms"] = reply[3]
  return reply[1] == 1
end

local M = {}

function M.guard()
  local ok, is_allowed = pcall(judge)
  if not ok then
    ngx.header["X-Error"] = tostring(is_allowed):gsub("%s+", " ")
    return ngx.exit(503)
  end
  if not is_allowed then return ngx.exit(429) end
end

return M

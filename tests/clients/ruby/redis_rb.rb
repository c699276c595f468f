# redis-rb as an application uses it: see README.md for what each check means.

require_relative "report"
require "digest"
require "redis"

DRIVER = ENV.fetch("CLIENTS_DRIVER").to_sym
ALL_BYTES = (0..255).to_a.pack("C*")

def connect(**options)
  Redis.new(host: HOST, port: PORT, timeout: 10, driver: DRIVER, **options)
end

$client = connect

def throttle(key, *numbers, by: $client)
  by.call("CL.THROTTLE", key, *numbers)
end

say("version #{Redis::VERSION}")

check("handshake") do
  expect($client.ping, "PONG")
  expect($client.echo("a b"), "a b")
  expect($client.call("ROLE")[0, 2], ["master", 0])
end

check("client-name") do
  named = connect(id: "redis-rb")
  named.client(:setname, "named-client")
  names = $client.client(:list).map { |row| row["name"] }
  expect(names - [""], ["named-client"])
  named.close
end

check("binary") do
  ["", "\0", ALL_BYTES, "\r\n$5\r\n", ALL_BYTES * 4096].each do |value|
    expect($client.set("bin:#{ALL_BYTES}".b, value), "OK")
    expect($client.get("bin:#{ALL_BYTES}".b).b, value.b)
  end
  expect($client.strlen("bin:#{ALL_BYTES}".b), 1 << 20)
  expect($client.get("absent"), nil)
end

check("pipeline") do
  replies = $client.pipelined do |pipe|
    500.times do |index|
      pipe.set("pipe:#{index}", index)
      pipe.get("pipe:#{index}")
    end
  end
  expect(replies, Array.new(500) { |index| ["OK", index.to_s] }.flatten)
end

check("transaction") do
  replies = $client.watch("pipe:1") do
    $client.multi { |multi| [multi.incr("pipe:1"), multi.hset("h", "f", 1), multi.hgetall("h")] }
  end
  expect(replies, [2, 1, { "f" => "1" }])
  replies = $client.watch("pipe:1") do
    connect.tap { |other| other.incr("pipe:1") }.close
    $client.multi { |multi| multi.incr("pipe:1") }
  end
  expect(replies, nil, "after a write by another")
end

check("expiry") do
  expect($client.set("ttl", "x"), "OK")
  expect([$client.ttl("ttl"), $client.ttl("absent")], [-1, -2])
  expect($client.expire("ttl", 100), true)
  expect_between(99, $client.ttl("ttl"), 100)
  expect_between(99_000, $client.pttl("ttl"), 100_000)
  expect($client.persist("ttl"), true)
  expect($client.set("soon", "x", px: 30), "OK")
  sleep(0.06)
  expect([$client.get("soon"), $client.exists("soon")], [nil, 0])
end

check("incr-concurrent") do
  replies = together { connect.then { |mine| Array.new(100) { mine.incr("count") } } }
  expect(replies.flatten.sort, (1..CALLERS * 100).to_a)
end

check("scan") do
  wanted = Array.new(1000) { |index| "scan:#{index}" }
  $client.mset(*wanted.flat_map { |key| [key, "x"] })
  expect($client.scan_each(match: "scan:*", count: 50).to_a.uniq.sort, wanted.sort)
end

check("script") do
  sha = $client.script(:load, "return {KEYS[1], ARGV[1] * 2, false, 3.9}")
  expect($client.evalsha(sha, keys: ["k"], argv: [21]), ["k", 42, nil, 3])
  expect($client.script(:exists, sha), true)
  expect_error(Redis::CommandError, "NOSCRIPT") { $client.evalsha("f" * 40) }
end

check("subscribe") do
  got = []
  listener = Thread.new do
    connect.subscribe("news") do |on|
      on.message { |channel, text| got << [channel, text] && throw(:done) if text == "stop" }
    end
  rescue UncaughtThrowError
    nil
  end
  until_true(5, "the subscription") { $client.publish("news", "hello") == 1 }
  $client.publish("news", "stop")
  listener.join(5)
  expect(got, [["news", "stop"]])
end

check("throttle-figures") do
  need_weir
  expect(throttle("user:42", 15, 30, 60), [0, 16, 15, -1, 2])
  expect(Array.new(5) { throttle("five", 4, 1, 10)[2] }, [4, 3, 2, 1, 0])
  denied = throttle("five", 4, 1, 10)
  expect(denied[0, 3], [1, 5, 0])
  expect_between(9, denied[3], 10)
end

check("throttle-concurrent") do
  need_weir
  replies = together do
    connect.then { |mine| Array.new(20) { throttle("crowd", 99, 1, 3600, by: mine)[0] } }
  end
  expect(replies.flatten.count(0), 100, "admitted")
end

check("errors") do
  $client.set("text", "x")
  expect_error(Redis::CommandError, "not an integer") { $client.incr("text") }
  expect_error(Redis::CommandError, "unknown command") { $client.call("NOSUCH") }
  expect_error(Redis::CommandError, "WRONGTYPE") { $client.lpush("text", "y") }
  expect($client.get("text"), "x")
end

check("password") do
  $client.config(:set, "requirepass", "s e c r e t")
  expect(connect(password: "s e c r e t").ping, "PONG")
  expect_error(Redis::BaseError, "WRONGPASS") { connect(password: "wrong").ping }
  expect_error(Redis::BaseError, "NOAUTH") { connect.ping }
ensure
  $client.config(:set, "requirepass", "")
end

check("info") do
  fields = $client.info
  wanted = { "redis_mode" => "standalone", "role" => "master", "loading" => "0",
             "tcp_port" => PORT.to_s }
  expect(fields.slice(*wanted.keys), wanted)
  expect(fields["redis_version"].to_i >= 7, true)
end

# Counts until ten increments went through after the restart; how many were acknowledged.
def count_over(restarted)
  mine = connect(reconnect_attempts: 0)
  acknowledged = resumed = 0
  while resumed < 10
    begin
      mine.incr("traffic")
      acknowledged += 1
      resumed += 1 unless restarted.empty?
    rescue Redis::BaseError => e
      raise unless e.is_a?(Redis::BaseConnectionError) || e.message.start_with?("LOADING")
      raise if !restarted.empty? && now > restarted[0] + 10

      sleep(0.01)
    end
  end
  acknowledged
end

before = {}

check("restart") do
  $client.set("kept", ALL_BYTES)
  $client.set("kept:ttl", "x", ex: 1000)
  4.times { throttle("limit", 9, 1, 1000) } if IS_WEIR
  before[:at] = now
  restarted = []
  counters = Array.new(4) { Thread.new { count_over(restarted) } }
  sleep(0.3)
  restart_server
  restarted << now
  before[:acknowledged] = counters.sum(&:value)
end

check("reconnect") { expect($client.ping, "PONG") }

check("data-kept") do
  need_durable
  expect($client.get("kept").b, ALL_BYTES)
  expect_between(900, $client.ttl("kept:ttl"), 999)
  expect($client.scan_each(match: "scan:*").to_a.uniq.size, 1000)
  sent = before.fetch(:acknowledged)
  expect_between(sent, $client.get("traffic").to_i, sent + 4, "stored writes")
end

check("script-kept") do
  need_durable
  raise Skip, "Redis forgets its scripts" unless IS_WEIR

  expect($client.script(:exists, $client.script(:load, "return 1")), true)
  sha = Digest::SHA1.hexdigest("return {KEYS[1], ARGV[1] * 2, false, 3.9}")
  expect($client.evalsha(sha, keys: ["k"], argv: [21]), ["k", 42, nil, 3])
end

check("limiter-kept") do
  need_weir
  need_durable
  reply = throttle("limit", 9, 1, 1000, 0)
  expect(reply[0, 4], [0, 10, 6, -1])
  passed = now - before.fetch(:at)
  expect_between(4000 - passed - 1, reply[4], 4001 - passed, "reset_after")
  expect(Array.new(7) { throttle("limit", 9, 1, 1000)[0] }, [0] * 6 + [1])
end

say("done")

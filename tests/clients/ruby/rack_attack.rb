# Rack::Attack in a Rack application under Puma, asked over HTTP.
#
# CLIENTS_STORE is its cache store. Rack::Attack admits whoever comes when the store raises a
# connection error; the application answers with the count it was given, which is 1 for ever then.

require_relative "report"
require "active_support"
require "active_support/cache"
require "active_support/notifications"
require "net/http"
require "puma"
require "puma/server"
require "rack"
require "rack/attack"
require "redis"

STORE = ENV.fetch("CLIENTS_STORE")
WINDOW = 3600
FAILURES = []
$redis = Redis.new(host: HOST, port: PORT)

def store
  case STORE
  when "redis" then Redis.new(host: HOST, port: PORT)
  when "rails"
    # Rails swallows errors of the store and goes on without it; here they are counted.
    failed = ->(exception:, **) { FAILURES << exception.message }
    ActiveSupport::Cache::RedisCacheStore.new(url: "redis://#{HOST}:#{PORT}/0",
                                              error_handler: failed)
  end
end

class Rack::Attack
  def self.when_path(name, limit, period)
    throttle(name, limit: limit, period: period) do |request|
      request.params["who"] if request.path == "/#{name}"
    end
  end

  cache.store = store
  when_path("hour", 5, WINDOW)
  when_path("crowd", 50, WINDOW)
  when_path("short", 3, 2)
  blocklist("fail2ban") do |request|
    Fail2Ban.filter("f:#{request.params["who"]}", maxretry: 3, findtime: WINDOW, bantime: 2) do
      request.path == "/etc/passwd"
    end
  end
  blocklist("allow2ban") do |request|
    Allow2Ban.filter("a:#{request.params["who"]}", maxretry: 3, findtime: WINDOW, bantime: 2) do
      request.path == "/login"
    end
  end
  # This version's way of choosing the answer to a throttled request.
  self.throttled_responder = lambda do |request|
    [429, { "X-Count" => request.env["rack.attack.match_data"][:count].to_s }, ["slow down\n"]]
  end
end

APPLICATION = Rack::Builder.app do
  use Rack::Attack
  run(lambda do |env|
    counts = (env["rack.attack.throttle_data"] || {}).values.map { |data| data[:count] }
    [200, { "X-Count" => counts.first.to_s }, ["hello\n"]]
  end)
end

server = Puma::Server.new(APPLICATION, Puma::Events.null, min_threads: CALLERS,
                                                          max_threads: CALLERS)
HTTP_PORT = server.add_tcp_listener(HOST, 0).addr[1]
server.run

def get(path, who)
  answer = Net::HTTP.get_response(HOST, "#{path}?who=#{who}", HTTP_PORT)
  [answer.code.to_i, answer["X-Count"].to_i]
end

def key(name, who, period = WINDOW)
  "rack::attack:#{Time.now.to_i / period}:#{name}:#{who}"
end

# Starts where a window of so many seconds has just begun, or has at least these left.
def at_window(period, left)
  sleep(0.01) until period - Time.now.to_f % period >= left
end

say("version #{Gem::Specification.find_by_name("rack-attack").version}")

at_window(WINDOW, 60)

check("throttle-figures") do
  wanted = (1..5).map { |count| [200, count] } + (6..8).map { |count| [429, count] }
  expect(Array.new(8) { get("/hour", "alice") }, wanted)
  expect(get("/hour", "bob"), [200, 1], "another caller")
end

check("stored") do
  expect($redis.get(key("hour", "alice")), "8")
  left = WINDOW - Time.now.to_f % WINDOW
  expect_between(left - 2, $redis.ttl(key("hour", "alice")), left + 2, "seconds to live")
  expect($redis.keys("rack::attack:*:hour:*").size, 2, "keys")
end

check("window") do
  at_window(2, 1.8)
  window = Time.now.to_i / 2
  codes = Array.new(5) { get("/short", "alice") }
  expect(codes, [[200, 1], [200, 2], [200, 3], [429, 4], [429, 5]])
  sleep(0.01) until Time.now.to_i / 2 > window
  expect(get("/short", "alice"), [200, 1], "in the next window")
end

check("concurrent") do
  # Rails' store reads and then writes a new counter: the first call is made alone.
  first = get("/crowd", "all")
  answers = together { Array.new(6) { get("/crowd", "all") } }.flatten(1)
  expect([first, *answers].count { |code, _| code == 200 }, 50, "admitted")
  expect(answers.map(&:last).sort, (2..97).to_a, "counts")
end

check("fail2ban") do
  expect(Array.new(3) { get("/etc/passwd", "eve")[0] }, [403] * 3)
  expect(get("/", "eve")[0], 403, "banned")
  expect(get("/", "alice")[0], 200, "another caller")
  expect($redis.get("rack::attack:fail2ban:ban:f:eve"), "1")
  expect_between(0, $redis.ttl("rack::attack:fail2ban:ban:f:eve"), 2, "seconds of the ban")
  expect($redis.get("rack::attack:#{Time.now.to_i / WINDOW}:fail2ban:count:f:eve"), "3")
  sleep(2.1)
  expect(get("/", "eve")[0], 200, "after the ban")
end

check("allow2ban") do
  expect(Array.new(3) { get("/login", "mallory")[0] }, [200] * 3)
  expect(get("/", "mallory")[0], 403, "banned")
  Rack::Attack::Allow2Ban.reset("a:mallory", findtime: WINDOW)
  expect(get("/", "mallory")[0], 200, "after a reset")
end

check("no-fallback") { expect(FAILURES, []) }

before = {}

check("restart") do
  before[:count] = get("/hour", "alice")[1]
  restart_server
  until_true(10, "the store") { $redis.ping == "PONG" rescue false }
end

check("limiter-kept") do
  need_durable
  # One failed call may be how the broken connection is told of; the request passes for it.
  answers = Array.new(4) { get("/hour", "alice") }
  counted = answers.reject { |answer| answer == [200, 1] }
  expect_between(3, counted.size, 4, "requests that were counted")
  first = before.fetch(:count) + 1
  expect(counted, (first...first + counted.size).map { |count| [429, count] })
  expect_between(0, FAILURES.size, 1, "failures of the store")
end

check("reset") do
  Rack::Attack.reset!
  expect($redis.keys("rack::attack*"), [])
  expect(get("/hour", "alice"), [200, 1])
end

server.stop(true)
say("done")

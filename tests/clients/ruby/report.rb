# What every Ruby program of tests/clients shares: its orders, its report, its callers.
# The lines it writes are described in harness/session.py.

require "json"
require "socket"

HOST = "127.0.0.1"
PORT = Integer(ENV.fetch("CLIENTS_PORT"))
IS_WEIR = ENV.fetch("CLIENTS_SERVER") == "weir"
IS_DURABLE = ENV.fetch("CLIENTS_DURABLE") == "1"
CALLERS = 16

# This server or library cannot be asked, for the reason given.
class Skip < StandardError; end

# A check that did not hold.
class Wrong < StandardError; end

$stdout.sync = true
Thread.report_on_exception = false

def say(line)
  $stdout.puts(line)
end

def expect(got, wanted, what = "got")
  raise Wrong, "#{what} #{got.inspect[0, 300]}, wanted #{wanted.inspect[0, 300]}" if got != wanted
end

def expect_between(low, got, high, what = "got")
  return if got.between?(low, high)

  raise Wrong, "#{what} #{got.inspect}, wanted #{low} to #{high}"
end

# The library's own exception of this kind, with the server's words in it.
def expect_error(kind, text)
  got = yield
rescue kind => e
  raise Wrong, "the error says #{e.message.inspect}, wanted #{text}" unless e.message.include?(text)
else
  raise Wrong, "got #{got.inspect}, wanted an error with #{text}"
end

def check(name)
  yield
rescue Skip => e
  say("skip #{name}: #{e.message}")
rescue StandardError => e # whatever a library raises is what the report is about
  say("not ok #{name}: #{"#{e.class}: #{e.message}".split.join(" ")[0, 600]}")
else
  say("ok #{name}")
end

def need_weir
  raise Skip, "Redis has no CL.THROTTLE" unless IS_WEIR
end

def need_durable
  raise Skip, "the server keeps nothing over a restart" unless IS_DURABLE
end

# The results of the block from so many threads that start at once.
def together(callers = CALLERS)
  gate = Queue.new
  threads = Array.new(callers) { |index| Thread.new { gate.pop && yield(index) } }
  callers.times { gate.push(true) }
  threads.map(&:value)
end

# Waits until the block holds.
def until_true(seconds, what)
  deadline = now + seconds
  until yield
    raise Wrong, "#{what} did not come within #{seconds} s" if now > deadline

    sleep(0.01)
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# Has the server killed and started again; returns when it answers.
def restart_server
  say("restart")
  abort("the server did not come back") unless $stdin.gets
end

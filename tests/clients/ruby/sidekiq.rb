# Sidekiq: its own process works off jobs that this program enqueues, over a restart of the server.

require_relative "report"
require_relative "sidekiq_jobs"
require "sidekiq/api"

def start_sidekiq
  jobs = File.join(__dir__, "sidekiq_jobs.rb")
  spawn("/usr/bin/sidekiq", "-r", jobs, "-c", "8", "-q", "default", "-t", "5",
        in: File::NULL, chdir: "/")
end

def redis
  Sidekiq.redis { |connection| yield connection }
end

def done(list)
  redis { |connection| connection.lrange("done:#{list}", 0, -1) }.map(&:to_i)
end

def until_done(list, count)
  until_true(20, "the end of #{count} jobs") { redis { |r| r.llen("done:#{list}") } >= count }
end

say("version #{Sidekiq::VERSION}")

check("enqueue") do
  ids = Array.new(100) { |index| NoteJob.perform_async("first", index) }
  expect(ids.uniq.size, 100, "identifiers")
  queue = Sidekiq::Queue.new("default")
  expect([queue.size, queue.first.klass], [100, "NoteJob"])
  expect(redis { |r| [r.type("queue:default"), r.smembers("queues")] }, ["list", ["default"]])
end

pid = start_sidekiq

check("work") do
  until_done("first", 100)
  expect(done("first").sort, (0...100).to_a)
  expect(Sidekiq::Queue.new("default").size, 0)
end

check("bulk") do
  together(4) { |index| NoteJob.perform_bulk(Array.new(250) { |i| ["bulk", index * 250 + i] }) }
  until_done("bulk", 1000)
  expect(done("bulk").sort, (0...1000).to_a)
end

check("scheduled") do
  begin_at = now
  3.times { |index| NoteJob.perform_in(1, "later", index) }
  expect(Sidekiq::ScheduledSet.new.size, 3)
  until_done("later", 3)
  expect_between(0.9, now - begin_at, 10, "seconds")
  expect(Sidekiq::ScheduledSet.new.size, 0)
end

check("retry") do
  FlakyJob.perform_async("flaky")
  until_true(5, "the retry set") { Sidekiq::RetrySet.new.size == 1 }
  expect(Sidekiq::RetrySet.new.first["error_message"], "not yet")
  until_true(20, "the second run") { redis { |r| r.get("runs:flaky") } == "2" }
  until_true(5, "an empty retry set") { Sidekiq::RetrySet.new.size.zero? }
end

check("processes") do
  # The heartbeat writes once in five seconds.
  until_true(11, "a heartbeat") { Sidekiq::ProcessSet.new.size == 1 }
  expect(Sidekiq::ProcessSet.new.first["concurrency"], 8)
end

check("restart") do
  Array.new(50) { |index| NoteJob.perform_in(1, "kept", index) }
  restart_server
  until_true(10, "the server") { redis(&:ping) == "PONG" rescue false }
end

check("work-after-restart") do
  need_durable
  until_done("kept", 50)
  # Sidekiq may run a job twice when its connection broke, and never less than once.
  expect(done("kept").uniq.sort, (0...50).to_a)
  NoteJob.perform_async("last", 1)
  until_done("last", 1)
end

check("stats") do
  Process.kill("TERM", pid)
  Process.wait(pid)
  need_durable
  stats = Sidekiq::Stats.new
  expect_between(1156, stats.processed, 1160, "processed")
  expect([stats.failed, stats.enqueued, stats.retry_size, stats.dead_size], [1, 0, 0, 0])
end

say("done")

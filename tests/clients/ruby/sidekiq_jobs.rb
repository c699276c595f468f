# The jobs of sidekiq.rb: loaded by the program that enqueues and by Sidekiq's own process.

require "redis"
require "sidekiq"

Redis.silence_deprecations = true # Sidekiq 6 calls what redis-rb 5 will not have

REDIS = { url: "redis://127.0.0.1:#{ENV.fetch("CLIENTS_PORT")}/0" }.freeze
Sidekiq.configure_client { |config| config.redis = REDIS }
Sidekiq.configure_server do |config|
  config.redis = REDIS
  # The usual waits before and between two looks at what is due would outlast the test.
  config.options[:poll_interval_average] = 0.3
end

# Notes that it ran, and how often.
class NoteJob
  include Sidekiq::Worker

  def perform(list, value)
    Sidekiq.redis { |redis| redis.rpush("done:#{list}", value) }
  end
end

# Fails the first time, so that it goes through the retry set.
class FlakyJob
  include Sidekiq::Worker
  sidekiq_options retry: 3
  sidekiq_retry_in { 1 }

  def perform(name)
    runs = Sidekiq.redis { |redis| redis.incr("runs:#{name}") }
    raise "not yet" if runs == 1
  end
end

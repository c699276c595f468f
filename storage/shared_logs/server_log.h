// What all shared logs that a server keeps have in common: how long requests wait for a connection,
// when they are answered, what is told of troubles, and what a tick does. An engine derives from it
// and adds its connection and its statements.
//
// Nothing here waits, and no clock is read. Whoever owns the log calls tick() at next_deadline()
// and asks next_deadline() again after every call, since an append() or read() brings it forward.
// set_watcher() makes answers come sooner.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time_units.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/socket_watcher.h"
#include "storage/shared_logs/log_requests.h"

namespace weir::storage {

class ServerLog : public replication::SharedLog,
                  public replication::MemberRegistry,
                  public WatchedLog {
 public:
  // `name` begins each line about a trouble. A record above `append_bytes_max` is refused unsent.
  ServerLog(std::string name, size_t append_bytes_max)
      : name_(std::move(name)), append_bytes_max_(append_bytes_max) {}

  void append(std::optional<replication::Head> expected, std::string record,
              std::function<void(replication::Appended)> answer) final;
  void read(replication::Head after, size_t bytes_max,
            std::function<void(replication::Read)> answer) final;
  // The first of: of the connection, of appends, of reads, of the engine.
  replication::LogTrouble trouble() const final;
  // Also looks at what has come.
  void tick(int64_t boot_ns) final;
  int64_t next_deadline() const final;

 protected:
  static constexpr int64_t kPatience = 3;  // times log-timeout, for what is asked of the server
  static constexpr int64_t kLookNs = 10 * kNsPerMs;  // between looks, where nobody watches

  // How long an append of so many bytes takes beside its round trip, on a slow connection.
  static int64_t transfer_ns(size_t bytes);

  // How long an append of so many bytes may wait to be sent; a read has none.
  virtual int64_t allowed_ns(size_t append_bytes) const = 0;
  // Sends of requests() what the connection takes now.
  virtual void send_waiting() = 0;
  // Begins the time of what was sent since the last call.
  virtual void note_time() = 0;
  // Does all that can be done at now_ns(): what has come, and what is due.
  virtual void work() = 0;
  // When the engine has something to do beside requests that wait; INT64_MAX: never.
  virtual int64_t own_deadline() const = 0;
  // What is wrong beside connection, appends and reads.
  virtual replication::LogTrouble own_trouble() const = 0;
  // Requests have waited as long as they may.
  virtual void waited_in_vain() {}

  LogRequests& requests() { return requests_; }
  const LogRequests& requests() const { return requests_; }
  // The newest tick's.
  int64_t now_ns() const { return now_ns_; }
  void enqueue(LogRequest request);

  // "NAME: why".
  std::string line(const std::string& why) const { return name_ + ": " + why; }
  // Each text is a line(); empty: all is well.
  struct Troubles {
    replication::LogTrouble connection;
    std::string append;
    std::string read;
  };
  Troubles& troubles() { return troubles_; }

 private:
  void note_all_times();

  const std::string name_;
  const size_t append_bytes_max_;
  LogRequests requests_;
  Troubles troubles_;
  int64_t now_ns_ = 0;
};

}  // namespace weir::storage

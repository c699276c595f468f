// The shared log of a shard in a stream of NATS JetStream, over cnats: a record is a message, its
// position the message's sequence (nats/names.h, nats/requests.h). It is also the shard's Board, in
// a key-value bucket beside it.
//
// Nothing here waits: not for a connection, a name or an answer. No clock is read either. Whoever
// owns it calls tick() at next_deadline() and asks next_deadline() again after every call, since an
// append() or read() brings it forward. set_watcher() makes answers come sooner.
//
// Invariants
// 1. An append is kDone only if the stream said that it stored it, and not before under the same
//    id; kRefused only if it was not sent, or the stream said that it does not end with `expected`.
//    All else is kUnknown: an answer that did not come within log-timeout (and a second more for
//    each 4 MiB), another error, a lost connection.
// 2. There is one connection at a time, and at most one new one a second. It is given up when a
//    request was not answered in time, nor one that was sent later; and when JetStream has answered
//    nothing for three times log-timeout, since the server may be cut off from the others. The next
//    one is to the next server of the address.
// 3. Everything that decides is asked of the stream's leader. What it says may be old: a record
//    that is missing is no harm to a reader, and an append is held to its condition.
// 4. What waits for a connection is answered when all hosts of the address were tried in vain, when
//    a person is needed, and in any case after three times log-timeout, nine where the shard is
//    made.
//
// Records are the same for all members, so their greatest size is that of the server's usual
// max_payload, and servers that take less are refused. A larger turn travels as PARTs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time_units.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/socket_watcher.h"
#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/nats/calls.h"
#include "storage/shared_logs/nats/link.h"
#include "storage/shared_logs/nats/names.h"
#include "storage/shared_logs/nats/reading.h"
#include "storage/shared_logs/nats/session.h"
#include "storage/shared_logs/nats/upkeep.h"

namespace weir::storage {

struct NatsOptions {
  nats::Address address;
  std::string shard;
  std::string password_file;  // its first line is the password; "": none
  int64_t log_timeout_ns = kNsPerS;
  bool makes_shard = false;  // of --new-shard alone: the stream is made if it is not there
  uint64_t bytes_max = uint64_t{16} << 30;  // of a stream that is made; then appends fail
  bool allows_weak_engine = false;          // a server or stream that is known to lose records
};

class NatsLog final : public replication::SharedLog, public replication::Board, public WatchedLog {
 public:
  static constexpr size_t kPayloadMax = 1 << 20;
  static constexpr size_t kRecordBytesMax = kPayloadMax - 4096;

  explicit NatsLog(NatsOptions options);
  ~NatsLog() override { set_watcher(nullptr); }

  void append(std::optional<replication::Head> expected, std::string record,
              std::function<void(replication::Appended)> answer) override;
  void read(replication::Head after, size_t bytes_max,
            std::function<void(replication::Read)> answer) override;
  void trim(uint64_t up_to) override { upkeep_.trim(up_to); }
  // Of the server that leads the stream, looked at every two seconds.
  replication::LogFacts facts() const override;
  replication::LogTrouble trouble() const override;
  // Also looks at what has come.
  void tick(int64_t boot_ns) override;
  int64_t next_deadline() const override;

  void put(std::string name, std::string bytes) override;
  std::vector<replication::BoardEntry> snapshot() const override { return upkeep_.board(now_ns_); }

  void set_watcher(SocketWatcher* watcher) override;
  void on_ready(int64_t boot_ns) override { tick(boot_ns); }

 private:
  struct Append {
    std::optional<replication::Head> expected;
    std::string record;  // until it is sent
    uint64_t crc = 0;
    std::function<void(replication::Appended)> answer;
  };
  struct Reader {
    Reader(replication::Head from, size_t bytes) : after(from), bytes_max(bytes) {}

    const replication::Head after;
    const size_t bytes_max;
    nats::Reading reading{after, bytes_max};
    bool is_second = false;  // what was read first was damaged
    std::function<void(replication::Read)> answer;
  };
  struct Waiting {
    std::variant<Append, std::shared_ptr<Reader>> what;
    std::optional<int64_t> deadline_ns;
  };
  enum class State { kClosed, kOpening, kSession, kReady };

  void take(const nats::Incoming& incoming);
  void connect();
  void begin_session(size_t payload_max);
  void ask_session();
  void take_session(const nats::Reply& reply);
  void lose(std::string why, bool needs_person = false);

  void enqueue(Waiting waiting);
  void send(Waiting waiting);
  void send_append(Append append);
  void take_append(const Append& append, const nats::Reply& reply);
  void read_round(const std::shared_ptr<Reader>& reader);
  void end_read(const std::shared_ptr<Reader>& reader);
  void fail(Waiting waiting);
  void fail_waiting();
  void expire();
  std::string what_is_waited_for() const;
  int64_t patience_ns() const;
  void note_time();

  const NatsOptions options_;
  const nats::Names names_;
  nats::Link link_;
  nats::Calls calls_;
  nats::Upkeep upkeep_;
  std::optional<nats::Session> session_;  // until the connection can be used
  uint64_t question_ = 0;                 // of the session, asked until it is answered
  int64_t ask_again_ns_ = 0;
  SocketWatcher* watcher_ = nullptr;

  State state_ = State::kClosed;
  uint64_t connection_ = 0;
  int64_t open_again_ns_ = 0;
  int64_t answered_ns_ = 0;  // by JetStream
  int64_t now_ns_ = 0;

  std::deque<Waiting> waiting_;
  std::vector<std::function<void()>> answers_;
  replication::LogTrouble connection_trouble_;
  std::string append_trouble_;
  std::string read_trouble_;
  std::string permission_trouble_;
};

}  // namespace weir::storage

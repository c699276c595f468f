// The shared log of a shard in a stream of NATS JetStream, over cnats: a record is a message, its
// log index the message's sequence (nats/names.h, nats/requests.h). It is also the shard's member
// registry, in a key-value bucket beside it.
//
// Nothing here waits: not for a connection, a name or an answer. server_log.h has what it shares
// with the other engines, and how it is driven.
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
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time_units.h"
#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/nats/calls.h"
#include "storage/shared_logs/nats/link.h"
#include "storage/shared_logs/nats/maintenance.h"
#include "storage/shared_logs/nats/names.h"
#include "storage/shared_logs/nats/reading.h"
#include "storage/shared_logs/nats/session.h"
#include "storage/shared_logs/server_log.h"

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

class NatsLog final : public ServerLog {
 public:
  static constexpr size_t kPayloadMax = 1 << 20;
  static constexpr size_t kRecordBytesMax = kPayloadMax - 4096;

  explicit NatsLog(NatsOptions options);
  ~NatsLog() override { set_watcher(nullptr); }

  void trim(uint64_t up_to) override { maintenance_.trim(up_to); }
  // Of the server that leads the stream, looked at every two seconds.
  replication::LogFacts facts() const override;

  void put(std::string name, std::string bytes) override;
  std::vector<replication::RegistryEntry> snapshot() const override {
    return maintenance_.registry(now_ns());
  }
  bool has_written() const override { return maintenance_.has_written(); }
  void read_soon() override { maintenance_.read_soon(); }

  void set_watcher(SocketWatcher* watcher) override;
  void on_ready(int64_t boot_ns) override { tick(boot_ns); }

 private:
  struct Reader {
    explicit Reader(ReadRequest of)
        : request(std::move(of)), reading(request.after, request.bytes_max) {}

    ReadRequest request;
    nats::Reading reading;
  };
  enum class State { kClosed, kOpening, kSession, kReady };

  // Of ServerLog.
  int64_t allowed_ns(size_t append_bytes) const override;
  void send_waiting() override;
  void note_time() override { calls_.note_time(now_ns()); }
  void work() override;
  int64_t own_deadline() const override;
  replication::LogTrouble own_trouble() const override;
  void waited_in_vain() override;

  void take(const nats::Incoming& incoming);
  void connect();
  void begin_session(size_t payload_max);
  void ask_session();
  void take_session(const nats::Reply& reply);
  void lose(std::string why, bool needs_person = false);

  void send_append(AppendRequest append);
  void take_append(const AppendRequest& append, const nats::Reply& reply);
  void read_round(const std::shared_ptr<Reader>& reader);
  void end_read(const std::shared_ptr<Reader>& reader);
  void expire();

  const NatsOptions options_;
  const nats::Names names_;
  nats::Link link_;
  nats::Calls calls_;
  nats::Maintenance maintenance_;
  std::optional<nats::Session> session_;  // until the connection can be used
  uint64_t question_ = 0;                 // of the session, asked until it is answered
  int64_t ask_again_ns_ = 0;
  SocketWatcher* watcher_ = nullptr;

  State state_ = State::kClosed;
  uint64_t connection_ = 0;
  int64_t open_again_ns_ = 0;
  int64_t answered_ns_ = 0;  // by JetStream
  std::string permission_trouble_;
};

}  // namespace weir::storage

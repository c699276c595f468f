// Peers over real connections: a thread and a connection for each lane, so that a member which is
// silent, slow or hostile holds up its own lane and nothing else.
//
// A connection stays for the next question to the same address. What a member may take is bounded
// in each step and for each answer, in time and in bytes; what neither bounds, such as a TLS
// handshake of which a byte comes now and then, is cut off after kHangNs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/time_units.h"
#include "server/failover/peers/peer.h"
#include "server/failover/peers/peers.h"
#include "server/os/clock.h"
#include "server/peer/cut_off.h"
#include "storage/store/worker_thread.h"

namespace weir::server {

class PeerThreads final : public Peers {
 public:
  static constexpr int64_t kHangNs = 2 * kNsPerS;

  // `patience` is for each step of a question. The clock is asked by several threads.
  PeerThreads(PeerAccess access, RedisClient::Patience patience, Clock* clock)
      : access_(std::move(access)), patience_(patience), clock_(*clock) {}
  ~PeerThreads() override;

  void ask(PeerQuestion question, Then then, int64_t now_ns) override;
  void deliver(int64_t now_ns) override;
  bool is_asking() const override { return asking_ > 0; }

 private:
  struct Lane {
    ~Lane() { cut_off.let_go(); }

    // Of the loop.
    Then then;
    bool is_asking = false;
    int64_t asked_at_ns = 0;
    CutOff cut_off;
    std::mutex mutex;
    std::optional<Answer> answer;
    // Of the thread.
    std::string address;
    std::unique_ptr<RedisClient> client;
    storage::WorkerThread worker;  // ends first
  };

  Answer answer_to(const PeerQuestion& question, Lane* lane) const;
  Answer ask_once(const PeerQuestion& question, Lane* lane) const;
  static void hang_up(Lane* lane);

  const PeerAccess access_;
  const RedisClient::Patience patience_;
  Clock& clock_;
  size_t asking_ = 0;
  std::map<std::string, std::unique_ptr<Lane>> lanes_;
};

}  // namespace weir::server

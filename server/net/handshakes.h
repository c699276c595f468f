// Connections over TLS whose handshake is not over: they have no session yet.
//
// A handshake takes a signature, half a millisecond or more, so a turn has time for few of them,
// whatever comes. Anybody may ask for that, so it is no connection yet: it waits in a set of
// descriptors of its own, and a turn without handshakes pays a comparison. What is given up are
// handshakes on another core.
//
// Invariants
// 1. step() begins no handshake's next step once it has used kTurnNs; the oldest comes first.
// 2. A handshake that is not over after kTimeoutNs ends.
// 3. There are at most kPendingMax. Beyond, the oldest one whose client lets us wait makes room; if
//    we let all of them wait, the newcomer goes.
// 4. Each ends once: by its connection being handed over, or by a line in the log. Of the lines at
//    most one comes in a second, which tells how many others there would have been.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "base/time_units.h"
#include "server/net/byte_stream.h"
#include "server/os/clock.h"
#include "server/session/client.h"
#include "server/tls/tls.h"

namespace weir::server {

class TlsStream;

class Handshakes {
 public:
  static constexpr int64_t kTurnNs = kNsPerMs;
  static constexpr int64_t kTimeoutNs = 10 * kNsPerS;
  static constexpr size_t kPendingMax = 2048;

  // Takes over who has finished.
  using OnDone = std::function<void(std::unique_ptr<ByteStream> stream, Peer peer)>;

  Handshakes(boost::asio::io_context* io, Clock* clock, Tls* tls, OnDone on_done);
  ~Handshakes();

  // Begins one, with the context that `tls` has now. A peer that is not asked shows no certificate,
  // whatever the context says.
  void begin(std::unique_ptr<ByteStream> stream, Peer peer, bool is_asked = true);
  // Goes on with those that can.
  void step();
  bool empty() const { return pending_.empty(); }
  size_t count() const { return pending_.size(); }
  // Makes the loop's next wait end when one can go on. REQUIRES: !empty()
  void wake_loop();
  // Ends all.
  void clear();

 private:
  struct Handshake {
    std::unique_ptr<TlsStream> stream;
    Peer peer;
    int64_t began_ns;
    bool wants_write = false;
    uint64_t ready_in;  // the latest round in which it waited for us, and not for its client
  };
  using Pending = std::map<uint64_t, Handshake>;  // by their age

  void end_overdue(int64_t now_ns);
  void advance(Pending::iterator at);
  void watch(Pending::iterator at, int action);
  void end(Pending::iterator at, std::string_view why);
  Handshake take(Pending::iterator at);
  bool make_room();
  void log_failure(const Peer& peer, std::string_view why);

  Clock& clock_;
  Tls& tls_;
  OnDone on_done_;
  boost::asio::posix::stream_descriptor set_;
  Pending pending_;
  uint64_t next_id_ = 1;
  uint64_t round_ = 1;
  bool waking_ = false;
  int64_t logged_ns_;
  uint64_t unlogged_ = 0;
};

}  // namespace weir::server

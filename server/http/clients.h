// The clients of a port that speaks HTTP: how many there may be, and who of them has been too slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string_view>
#include <utility>

#include "base/time_units.h"

namespace weir::server {

class Server;
class Session;

namespace http {

// Of metrics-port. They have to fit into what core/clients/descriptors.h keeps for the process
// itself.
inline constexpr size_t kMetricsClientsMax = 16;

// What a client is doing, as far as these bounds ask. Instants are of the steady clock.
struct Pace {
  static constexpr int64_t kNoEnd = INT64_MAX;

  Session* session;
  int64_t since_ns = 0;
  int64_t until_ns = kNoEnd;  // it is too slow afterwards
  // What it is waited for, by which it makes room for another: the least first.
  enum class For : uint8_t {
    kRequest,  // of which no byte has come
    kRest,     // of a request
    kTaking,   // of an answer, or of nothing more: it drains
    kWeir,     // it is waited for by the client, and stays
  };
  For waited_for = For::kRequest;
  bool may_wait = false;  // it has asked what may wait for its turn, and is not answered
};

class Clients {
 public:
  // `most` answers how many there may be; it may change.
  Clients(Server* server, std::function<size_t()> most)
      : server_(*server), most_(std::move(most)) {}

  // Makes room for one more where there are as many as there may be: the one that has been silent
  // longest goes, or else the one that has not sent a whole request for longest, or else the one
  // that has not taken its answer for longest: what is taken at once has left by the end of a turn.
  // False: all others wait for the end of their commands.
  bool make_room();
  // Ends those that have taken too long. Call it from time to time, between turns.
  void end_overdue();

  // A client asks what may wait for its turn (RL.ACQUIRE), until end_wait(). False: half of them do
  // already, and who only asks is to have room. Whatever holds it up meanwhile, it counts.
  bool begin_wait(Pace* pace);
  void end_wait(Pace* pace);

  size_t count() const { return all_.size(); }
  // A client comes; its pace stays where it is until it goes.
  void add(const Pace* pace) { all_.push_back(pace); }
  void remove(Pace* pace) {
    end_wait(pace);
    all_.remove(pace);
  }
  // A question to the gate gets no verdict: it is counted, and one in a second is logged, since
  // whoever asked may be told nothing of it.
  void note_gate_error(std::string_view error);

 private:
  void end(const Pace& pace);

  Server& server_;
  const std::function<size_t()> most_;
  std::list<const Pace*> all_;
  size_t waiting_ = 0;  // of them
  int64_t logged_ns_ = -kNsPerS;
  uint64_t unlogged_ = 0;  // errors of the gate since then
};

// How many there may be: of http-port (http-maxclients), of grpc-port (grpc-maxclients), and of
// metrics-port.
std::function<size_t()> of_requests(Server* server);
std::function<size_t()> of_calls(Server* server);
inline size_t of_metrics() { return kMetricsClientsMax; }

}  // namespace http
}  // namespace weir::server

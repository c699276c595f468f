// All clients that speak HTTP: how many there may be, and who of them has been too slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

namespace weir::server {

class Server;
class Session;

namespace http {

// What a client is doing, as far as these bounds ask. Instants are of the steady clock.
struct Pace {
  static constexpr int64_t kNoEnd = INT64_MAX;

  Session* session;
  int64_t since_ns = 0;
  int64_t until_ns = kNoEnd;  // it is too slow afterwards
  bool silent = true;         // it waits for a request, of which no byte has come
};

class Clients {
 public:
  explicit Clients(Server* server) : server_(*server) {}

  // Makes room for one more than there are if http-maxclients is reached: the one that has been
  // silent longest goes. False: none of them is silent.
  bool make_room();
  // Ends those that have taken too long. Call it from time to time, between turns.
  void end_overdue();

  size_t count() const { return all_.size(); }
  // A client comes; its pace stays where it is until it goes.
  void add(const Pace* pace) { all_.push_back(pace); }
  void remove(const Pace* pace) { all_.remove(pace); }

 private:
  Server& server_;
  std::list<const Pace*> all_;
};

}  // namespace http
}  // namespace weir::server

// Closes the connections of clients that look for the primary where it is no more, as a Redis
// Sentinel has a master and its replicas do when it makes another one master: a client that keeps
// its connection would be refused for ever, and one that has to connect anew asks who the primary
// is. HTTP is closed likewise: a proxy connects anew by a name that leads to who serves.
//
// In a cluster nobody is sent away: who asks for a key is told where it is.
#pragma once

#include <cstdint>
#include <string>

namespace weir::server {

class Server;

class StaleClients {
 public:
  // Those who come meanwhile by what somebody told them before are sent away so much later.
  static constexpr int64_t kAgainNs = 1'000'000'000;

  explicit StaleClients(bool speaks_cluster = false) : speaks_cluster_(speaks_cluster) {}

  // This member was demoted.
  void demoted(int64_t boot_ns, Server* server);
  // `primary` is the primary's address as the log has it, "": not known; `is_here`: it is this
  // one's.
  void look(const std::string& primary, bool is_here, int64_t boot_ns, Server* server);
  // When look() has something to do, by CLOCK_BOOTTIME; INT64_MAX: when another primary is known.
  int64_t next_ns() const { return again_at_ns_; }

 private:
  const bool speaks_cluster_;
  std::string known_;
  int64_t again_at_ns_ = INT64_MAX;
};

}  // namespace weir::server

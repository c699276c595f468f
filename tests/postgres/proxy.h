// Stands between a log and its server, and loses or delays what it is told to. The server is any
// engine's. It runs when it is
// told to, on the test's own thread.
#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "storage/format/file.h"

namespace weir::storage::postgres {

struct ProxyPlan {
  std::string socket;  // the server's; "": it has a port of this machine
  int port = 0;
  std::string append = "update weir_head";  // is part of each append's bytes
};

class Proxy {
 public:
  enum class Fault {
    kNone,
    kLoseRequest,   // it and what follows on its connection never arrives
    kLoseAnswer,    // it arrives, and nothing comes back any more
    kDelayRequest,  // it arrives some time after its author has closed the connection
  };

  explicit Proxy(std::string socket_of_server)
      : Proxy(ProxyPlan{.socket = std::move(socket_of_server)}) {}
  explicit Proxy(ProxyPlan plan);

  int port() const { return port_; }
  // Of the next append.
  void arrange(Fault fault) { arranged_ = fault; }
  // Takes no more connections, and closes those that are there; or takes them again.
  void set_open(bool is_open);
  // Nothing goes through, and nobody is told: connections are taken and hang.
  void set_stalled(bool is_stalled) { is_stalled_ = is_stalled; }
  size_t connections_taken() const { return taken_; }

  void add_to(std::vector<pollfd>* watched) const;
  void step(int64_t now_ns);

 private:
  struct Way {
    Descriptor client;
    Descriptor server;
    std::string to_server;
    std::string to_client;
    Fault fault = Fault::kNone;
    std::string held;
    int64_t held_until_ns = 0;  // once the client has gone
    bool is_over = false;
  };

  void listen();
  Descriptor connect() const;
  void step(Way* way, int64_t now_ns);
  void from_client(Way* way, std::string bytes);

  const ProxyPlan plan_;
  Descriptor listener_;
  int port_ = 0;
  std::list<Way> ways_;
  Fault arranged_ = Fault::kNone;
  bool is_stalled_ = false;
  size_t taken_ = 0;
};

}  // namespace weir::storage::postgres

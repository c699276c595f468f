// Servers of a test's own: their data in a temporary directory, on ports of this machine that were
// free. They stop when the object goes, and also when the test's process is killed. Whatever they
// acknowledge is synced.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace weir::storage::nats {

class NatsServer {
 public:
  // Of the version that the tests are for, which is built if need be; "": it cannot be had.
  static const std::string& program();

  // Starts a cluster of so many servers, and waits until it has a leader. `tls` is that block of
  // their configuration, empty for connections that are not encrypted; `files` is how their
  // addresses end then.
  explicit NatsServer(size_t servers, std::string tls = "", std::string files = "");
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  size_t servers() const { return nodes_.size(); }
  void start(size_t node);
  void stop(size_t node, int signal = SIGKILL);
  void pause(size_t node, bool is_paused);
  // Until JetStream answers somewhere.
  void await();

  int port(size_t node) const { return nodes_[node].port; }
  // nats://... or tls://... of all.
  std::string address() const;
  // The name of a node, as the servers know it.
  static std::string name(size_t node) { return "n" + std::to_string(node); }

  // Asks JetStream by any server that runs, again and again until it is answered.
  std::string ask(const std::string& subject, const std::string& payload);
  // The node that leads a stream; servers() if none does.
  size_t leader_of(const std::string& stream);
  void await_leader(const std::string& stream);

 private:
  struct Node {
    int port = 0;
    int cluster_port = 0;
    pid_t process = -1;
  };

  std::string write_configuration(size_t node) const;
  std::string address_of(const std::string& hosts) const;

  const std::string tls_;
  const std::string files_;
  std::string folder_;
  std::vector<Node> nodes_;
};

// One of one server, and one of three, for the tests that change nothing of the servers themselves.
NatsServer& shared_server();
NatsServer& shared_cluster();
void stop_shared_servers();

// Runs on a connection of its own to the address' first server, and waits. "": no answer.
std::string ask_once(const std::string& address, const std::string& subject,
                     const std::string& payload,
                     const std::vector<std::pair<std::string, std::string>>& headers = {});

}  // namespace weir::storage::nats

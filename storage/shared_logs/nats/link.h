// A connection to one server of a NATS cluster, over cnats. The library blocks, so a thread of this
// class's own connects, sends and closes; what comes is told on a thread of the library's. Both
// leave what happens in a mailbox, wake the loop by a descriptor, and touch nothing else.
//
// Invariants
// 1. Nothing here waits on the caller's thread, but for the end: that waits for a connection that
//    is being made, for each host a second to connect, one for the server's first words and one for
//    a handshake, and as long as the system looks for its name.
// 2. The library never connects anew by itself, so that no message is sent twice, and what is not
//    answered when a connection is lost is known to be given up. It connects to no server that the
//    address does not name.
// 3. Memory for what has come is bounded; what does not fit is dropped, as if the network had lost
//    it. What the library itself keeps of a message that comes in pieces is not: it believes the
//    server's word for its size, and does not give that back when the connection ends under it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/nats/mailbox.h"
#include "storage/shared_logs/nats/requests.h"
#include "storage/store/worker_thread.h"

namespace weir::storage::nats {

struct LinkPlan {
  Address address;
  std::string password_file;  // its first line is the password, read at each attempt; "": none
};

class Link {
 public:
  explicit Link(LinkPlan plan);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Begins a connection, with the host after the one of the last time; what was open is closed.
  // Answers its number.
  uint64_t open();
  void close();
  // On the open connection; where there is none, nothing happens.
  void send(uint64_t serial, Outgoing message);

  // What has happened since the last call.
  std::vector<Incoming> take();
  // Can be read when there is something to take.
  int descriptor() const { return mailbox_->descriptor(); }

 private:
  struct Ear;
  struct Connection;

  void connect(uint64_t number);
  std::string try_host(const std::string& host, const std::string& password, uint64_t number);
  void disconnect();
  void publish(uint64_t serial, const Outgoing& message);

  const LinkPlan plan_;
  const std::shared_ptr<Mailbox> mailbox_;  // the library's threads may have it after this is gone
  std::atomic<bool> is_ending_ = false;
  uint64_t number_ = 0;

  // Of the worker's thread.
  size_t next_host_ = 0;
  std::unique_ptr<Connection> connection_;

  WorkerThread worker_;  // ends before the rest goes
};

}  // namespace weir::storage::nats

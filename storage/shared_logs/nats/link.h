// A connection to one server of a NATS cluster, over cnats. The library blocks, so a thread of this
// class's own connects, sends and closes; what comes is told on a thread of the library's. Both
// leave what happens in a mailbox, wake the loop by a descriptor, and touch nothing else.
//
// Invariants
// 1. Nothing here waits on the caller's thread, but for the end: that waits for a connection that
//    is being made, a second for each host at most.
// 2. The library never connects anew by itself, so that no message is sent twice, and what is not
//    answered when a connection is lost is known to be given up.
// 3. Memory for what comes is bounded; what does not fit is dropped, as if the network had lost it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/file.h"
#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/nats/requests.h"
#include "storage/worker_thread.h"

namespace weir::storage::nats {

struct LinkPlan {
  Address address;
  std::string password_file;  // its first line is the password, read at each attempt; "": none
};

struct Incoming {
  enum class Kind {
    kOpened,
    kNotOpened,  // all hosts were tried in vain
    kLost,
    kAnswer,
    kNobody,  // an answer of the server that nobody listens to the subject
  };
  Kind kind = Kind::kLost;
  uint64_t connection = 0;  // open() counts them
  uint64_t serial = 0;      // of kAnswer and kNobody: of the request
  size_t payload_max = 0;   // of kOpened: the largest message that the server takes
  std::string text;         // of an answer its bytes; of a failure one line
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
  int descriptor() const { return wake_.get(); }

 private:
  struct Connection;

  void connect(uint64_t number);
  std::string try_host(const std::string& host, const std::string& password, uint64_t number);
  void disconnect();
  void publish(uint64_t serial, const Outgoing& message);
  void push(Incoming incoming);

  const LinkPlan plan_;
  Descriptor wake_;
  std::atomic<bool> is_ending_ = false;
  uint64_t number_ = 0;

  std::mutex mutex_;
  std::vector<Incoming> mailbox_;
  size_t mailbox_bytes_ = 0;
  std::condition_variable ended_;  // a connection, or all of it

  // Of the worker's thread.
  size_t next_host_ = 0;
  std::unique_ptr<Connection> connection_;

  WorkerThread worker_;  // ends before the rest goes
};

}  // namespace weir::storage::nats

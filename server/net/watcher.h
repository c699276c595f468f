// What a connection asks to be called by when it can go on.
#pragma once

namespace weir::server {

class Connection;

// What a connection waits for, or what it can do now.
struct Interest {
  bool read = false;
  bool write = false;
  // Asks for a call in the next turn whatever the descriptor says, because the stream holds input.
  bool at_once = false;

  bool on_descriptor() const { return read || write; }
  bool operator==(const Interest&) const = default;
};

class Watcher {
 public:
  // Watches a connection for levels, not for edges: while what it is interested in is possible, it
  // is called again and again. False: the system refuses to watch one more descriptor.
  virtual bool watch(int descriptor, Interest before, Interest now, Connection* connection) = 0;

 protected:
  ~Watcher() = default;
};

}  // namespace weir::server

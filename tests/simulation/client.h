// A client of the simulated server: a queue of requests on its way in, the replies on their way
// out, and the check that they come in order, one for each, and as expected.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "server/session/session.h"
#include "tests/simulation/request.h"

namespace weir::simulation {

using RequestPointer = std::shared_ptr<Request>;

class Client {
 public:
  explicit Client(server::Session* its_session) : session(its_session) {}

  void ask(Request request) {
    unsent += request.bytes;
    to_run.push_back(std::make_shared<Request>(std::move(request)));
  }
  // What the server sent. `seen` is told of every reply after it was checked.
  void read(std::string_view bytes,
            const std::function<void(const Request&, const resp::Value&)>& seen);

  server::Session* session;
  int database_asked = 0;  // after every request asked so far
  int database = 0;        // after every request that has run
  bool never_reads = false;
  std::string unsent;                 // of the requests
  std::deque<RequestPointer> to_run;  // asked, and not run as far as the server says
  std::deque<RequestPointer> unanswered;

 private:
  std::string received_;
};

}  // namespace weir::simulation

// A simulated Board beside the simulated log.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/replication/agenda.h"
#include "tests/replication/sim_log.h"
#include "tests/simulation/random.h"

namespace weir::server {

// What the members tell one another: as an engine's board is, late, and now and then lost.
class SimBoard {
 public:
  SimBoard(const storage::replication::Agenda* agenda, simulation::Random* random)
      : agenda_(*agenda), random_(*random) {}

  void put(std::string name, std::string bytes);
  std::vector<storage::replication::BoardEntry> snapshot() const;

 private:
  struct Put {
    std::string bytes;
    int64_t at_ns = 0;
  };
  const storage::replication::Agenda& agenda_;
  simulation::Random& random_;
  std::map<std::string, std::deque<Put>> puts_;  // of each name the newest two
};

// A member's backend: the simulated log with the simulated board.
class SimLogWithBoard final : public storage::replication::SimLog,
                              public storage::replication::Board {
 public:
  SimLogWithBoard(storage::replication::SimNetwork* network, storage::replication::Link* link,
                  SimBoard* board)
      : SimLog(network, link), board_(*board) {}
  void put(std::string name, std::string bytes) override {
    board_.put(std::move(name), std::move(bytes));
  }
  std::vector<storage::replication::BoardEntry> snapshot() const override {
    return board_.snapshot();
  }

 private:
  SimBoard& board_;
};

}  // namespace weir::server

// The way between members and a simulated engine, on virtual time: late, lost, refused, repeated.
// What goes wrong is decided at random, by the faults that are set, or by arrange().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/replication/agenda.h"
#include "tests/replication/counts.h"
#include "tests/replication/sim_engine.h"
#include "tests/simulation/random.h"

namespace weir::storage::replication {

// One member's way to the engine. It outlives the processes of the member.
struct Link {
  size_t branch = 0;
  int64_t requests_cut_until_ns = 0;
  int64_t answers_cut_until_ns = 0;
  bool is_misled = false;  // a stale read has looked like a rewind
};

// What becomes of the next append.
enum class Fate { kArrives, kRequestLost, kAnswerLost, kArrivesLate };

class SimNetwork {
 public:
  // How long a backend waits for an answer: three times log-timeout.
  static constexpr int64_t kGiveUpNs = 3'000'000'000;

  // One append on its way. Its author closes it when it gives it up.
  struct Call {
    Link* link = nullptr;
    size_t branch = 0;
    std::optional<Head> expected;
    std::string record;
    std::function<void(const Appended&)> answer;
    bool is_open = true;
    int64_t sent_ns = 0;
    uint64_t engine_run = 0;
    Appended result;
  };

  SimNetwork(Agenda* agenda, SimEngine* engine, simulation::Random* random, Counts* counts)
      : agenda_(agenda), engine_(engine), random_(random), counts_(counts) {}

  // An engine that acknowledges what it may lose.
  void set_lossy() { is_lossy_ = true; }
  void set_typical_delay(int64_t ns) { typical_delay_ns_ = ns; }
  // From here on nothing goes wrong by chance.
  void be_quiet();
  void arrange(Fate fate) { fate_ = fate; }

  std::shared_ptr<Call> append(Link* link, std::optional<Head> expected, std::string record,
                               std::function<void(const Appended&)> answer);
  // The answer may come after its reader has given up.
  void read(Link* link, const Head& after, size_t bytes_max,
            std::function<void(const Read&)> answer);
  void trim(Link* link, uint64_t up_to);

  void restart_engine(int64_t length_ns);
  void take_standby_away(int64_t length_ns);
  void block_appends(int64_t length_ns);
  void slow_down(int64_t length_ns) { slow_until_ns_ = agenda_->now_ns() + length_ns; }
  // The leader is gone, or believes that it is leader still; a standby with so many of its
  // records goes on.
  void fail_over(size_t records);

  bool is_down() const { return agenda_->now_ns() < down_until_ns_; }
  int64_t delay_ns();

 private:
  bool chance(uint64_t many) { return !is_quiet_ && random_->one_in(many); }
  void set_out(const std::shared_ptr<Call>& call);
  void arrive(const std::shared_ptr<Call>& call);
  void take_effect(const std::shared_ptr<Call>& call);
  void acknowledge_durable(const std::shared_ptr<Call>& call);
  void make_durable();
  void answer(const std::shared_ptr<Call>& call, const Appended& answer, int64_t after_ns);
  Read read_now(Link* link, size_t branch, const Head& after, size_t bytes_max);

  Agenda* agenda_;
  SimEngine* engine_;
  simulation::Random* random_;
  Counts* counts_;
  bool is_lossy_ = false;
  bool is_quiet_ = false;
  Fate fate_ = Fate::kArrives;
  int64_t typical_delay_ns_ = 1'000'000;

  int64_t down_until_ns_ = 0;
  int64_t appends_blocked_until_ns_ = 0;
  int64_t standby_down_until_ns_ = 0;
  int64_t slow_until_ns_ = 0;
  bool old_leader_answers_ = false;
  uint64_t engine_run_ = 0;
  size_t read_log_index_ = 0;  // the last that somebody has read of the present leader
  std::vector<std::shared_ptr<Call>> waiting_;  // visible, and their branch's standby is away
};

}  // namespace weir::storage::replication

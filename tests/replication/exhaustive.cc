#include "tests/replication/exhaustive.h"

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/replication/time_units.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {
namespace {

enum class Act {
  kWrite,
  kHeartbeat,
  kRead,
  kClaim,
  kExecute,
  kAnswer,
  kGiveUp,
  kExecuteLost,
  kDurable,
  kFailOver,  // `detail` records less than can be kept
  kCrash,
  kPowerCut,
  kStrange,  // a record that no member understands
};

struct Choice {
  Act act = Act::kWrite;
  size_t detail = 0;  // the member, mostly

  std::string text() const {
    static constexpr const char* kNames[] = {
        "writes",         "heartbeats",  "reads",    "waits and claims",
        "append arrives", "is answered", "gives up", "late append arrives",
        "all is durable", "failover",    "crashes",  "loses power",
        "strange record"};
    return std::string(1, static_cast<char>('A' + detail)) + " " + kNames[static_cast<int>(act)];
  }
};

// One run: the stage, and what of the budget is used.
class Run {
 public:
  Run(const Flaws& flaws, bool lossy, const SearchLimits& limits) : limits_(limits), lossy_(lossy) {
    StageOptions options;
    options.engine = flaws.engine;
    options.process.flaws = flaws.process;
    options.loses_acknowledged = lossy;
    stage_ = std::make_unique<Stage>(options);
    stage_->elect(0);
    stage_->start(1);
    stage_->read_all(1);
    records_max_ = size() + limits.records_max;
  }

  std::vector<Choice> choices() const {
    std::vector<Choice> choices;
    if (is_strange_) return choices;
    for (size_t i = 0; i < stage_->members(); ++i) choices_of(i, &choices);
    if (stage_->lost_appends() > 0 && size() < records_max_)
      choices.push_back({Act::kExecuteLost, 0});
    if (!lossy_ && stage_->log().durable(stage_->log().leader()) < size()) {
      choices.push_back({Act::kDurable, 0});
    }
    if (rewinds_ == 0) {
      for (size_t less = 0; less < (lossy_ ? 4 : 1); ++less)
        choices.push_back({Act::kFailOver, less});
    }
    if (limits_.has_strange_records) choices.push_back({Act::kStrange, 0});
    return choices;
  }

  void take(const Choice& choice) {
    const size_t member = choice.detail;
    switch (choice.act) {
      case Act::kWrite:
        ++writes_;
        stage_->write(member, 2);
        break;
      case Act::kHeartbeat:
        ++heartbeats_;
        stage_->pass(600 * kMs);
        stage_->tick(member);
        break;
      case Act::kRead:
        stage_->pass(kRetryNs);
        stage_->tick(member);
        answer_reads(member);
        break;
      case Act::kClaim:
        stage_->wait_for_claim(member, 6 * kSecond);
        break;
      case Act::kExecute:
        stage_->execute(member);
        break;
      case Act::kAnswer:
        stage_->answer(member);
        answer_reads(member);
        break;
      case Act::kGiveUp:
        ++unknowns_;
        stage_->give_up(member);
        break;
      case Act::kExecuteLost:
        stage_->execute_lost(0);
        break;
      case Act::kDurable:
        stage_->make_durable();
        break;
      case Act::kFailOver:
        ++rewinds_;
        fail_over(choice.detail);
        break;
      case Act::kCrash:
      case Act::kPowerCut:
        ++crashes_;
        stage_->end(member);
        if (choice.act == Act::kPowerCut) stage_->disk(member)->cut_power(1);
        stage_->start(member);
        break;
      case Act::kStrange:
        is_strange_ = true;
        append_strange();
        break;
    }
    for (size_t i = 0; i < stage_->members(); ++i) {
      if (stage_->may_answer_reads(i)) stage_->ask_to_read(i);
    }
  }

  // What must be so in the end, from here on without faults.
  void settle() {
    if (!is_strange_) return stage_->settle(12 * kSecond);
    for (size_t i = 0; i < stage_->members(); ++i) {
      stage_->be_up_to_date(i);
      demand(stage_->process(i).has_stopped(), "all stop at a record that they do not understand");
    }
  }

  std::string digest() const {
    return stage_->digest() + "w" + std::to_string(writes_) + std::to_string(heartbeats_) +
           std::to_string(unknowns_) + std::to_string(is_strange_) + std::to_string(rewinds_) +
           std::to_string(crashes_);
  }

 private:
  static constexpr int64_t kRetryNs = 310 * kMs;  // no retry waits longer

  size_t size() const { return stage_->log().size(stage_->log().leader()); }

  void choices_of(size_t i, std::vector<Choice>* choices) const {
    if (stage_->process(i).has_stopped()) return;
    if (stage_->has_append(i)) {
      if (!stage_->is_executed(i)) {
        if (size() < records_max_) choices->push_back({Act::kExecute, i});
      } else if (is_acknowledgeable(i)) {
        choices->push_back({Act::kAnswer, i});
      }
      if (unknowns_ == 0) choices->push_back({Act::kGiveUp, i});
    } else {
      choices->push_back({Act::kRead, i});
      if (stage_->member(i).role() == Role::kFollowing) choices->push_back({Act::kClaim, i});
      if (stage_->is_promoted(i) && heartbeats_ < limits_.heartbeats_max)
        choices->push_back({Act::kHeartbeat, i});
    }
    if (stage_->is_promoted(i) && writes_ < limits_.writes_max)
      choices->push_back({Act::kWrite, i});
    if (crashes_ == 0) {
      choices->push_back({Act::kCrash, i});
      if (stage_->disk(i)->unsynced() > 1) choices->push_back({Act::kPowerCut, i});
    }
  }

  void append_strange() {
    stage_->checker().expect_stops();
    std::string record = encode_record({.nonce = 7, .shard = kShard, .epoch = {}}, Heartbeat{});
    record[1] = kRecordVersion + 1;
    stage_->append_raw(record);
  }

  // An acknowledgement means durable, and a leader that was replaced gives none.
  bool is_acknowledgeable(size_t i) const {
    if (stage_->is_refused(i) || lossy_) return true;
    return stage_->is_durable(i);
  }

  void answer_reads(size_t member) {
    while (stage_->has_read(member)) stage_->answer_read(member);
  }

  void fail_over(size_t less) {
    const size_t kept = lossy_ ? size() : stage_->log().durable(stage_->log().leader());
    stage_->fail_over(kept > less ? kept - less : 1);
  }

  SearchLimits limits_;
  bool lossy_;
  std::unique_ptr<Stage> stage_;
  size_t records_max_ = 0;
  int writes_ = 0;
  int heartbeats_ = 0;
  int unknowns_ = 0;
  int rewinds_ = 0;
  int crashes_ = 0;
  bool is_strange_ = false;
};

class Search {
 public:
  Search(const Flaws& flaws, bool lossy, const SearchLimits& limits, SearchResult* result)
      : flaws_(flaws), lossy_(lossy), limits_(limits), result_(result) {}

  // Depth first. A state is made anew by running its steps from the beginning. States that were
  // seen at a greater depth are followed again, because more can still happen after them.
  void explore() {
    if (!result_->violation.empty() || !result_->is_whole) return;
    try {
      const std::unique_ptr<Run> run = replay();
      const size_t left = limits_.depth_max - path_.size();
      if (!is_new(std::hash<std::string>()(run->digest()), left)) return;
      if (++result_->states >= limits_.states_max) result_->is_whole = false;
      const std::vector<Choice> choices = run->choices();
      run->settle();
      if (left == 0) return;
      for (const Choice& choice : choices) {
        path_.push_back(choice);
        explore();
        path_.pop_back();
      }
    } catch (const Violation& violation) {
      result_->violation = violation.what();
      result_->violation += lossy_ ? "\n(the engine loses what it acknowledged)" : "";
      for (const Choice& choice : path_) result_->violation += "\n    " + choice.text();
    }
  }

 private:
  std::unique_ptr<Run> replay() const {
    auto run = std::make_unique<Run>(flaws_, lossy_, limits_);
    for (const Choice& choice : path_) run->take(choice);
    return run;
  }

  bool is_new(uint64_t digest, size_t left) {
    const auto [seen, is_first] = seen_.emplace(digest, left);
    if (!is_first && seen->second >= left) return false;
    seen->second = left;
    return true;
  }

  Flaws flaws_;
  bool lossy_;
  SearchLimits limits_;
  SearchResult* result_;
  std::vector<Choice> path_;
  std::unordered_map<uint64_t, size_t> seen_;
};

}  // namespace

SearchResult search_exhaustively(const Flaws& flaws, const SearchLimits& limits) {
  SearchResult result;
  for (const bool lossy : {false, true}) Search(flaws, lossy, limits, &result).explore();
  return result;
}

}  // namespace weir::storage::replication

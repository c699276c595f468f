// The server as it should be: databases as plain maps, commands run one after another, nothing ever
// lost. It is written from the commands' documentation alone and shares no code with the server.
//
// An expired record stays in its map until something replaces it, so that DBSIZE, which may count
// it, has an upper bound.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wall_clock.h"
#include "tests/simulation/expected.h"

namespace weir::simulation {

struct Record {
  bool is_limiter = false;
  std::string text = {};      // of a string; of a limiter named rl:N its record
  int64_t tat_ns = 0;         // of another limiter: when it is full
  int64_t held_until_ns = 0;  // of a limiter named rl:N the end of its last hold, if it has a list
  int64_t expire_at_ms = 0;   // 0: never

  bool live(int64_t now_ms) const { return expire_at_ms == 0 || now_ms <= expire_at_ms; }
  bool operator==(const Record&) const = default;
};

struct Database {
  std::map<std::string, Record> records;
  // Sticks until the database is cleared. The server's DBSIZE then may be wrong for a while.
  bool something_expired = false;

  size_t live(int64_t now_ms) const;
  // What DBSIZE may answer: the truth, or something sane.
  std::pair<size_t, size_t> size_bounds(int64_t now_ms) const {
    const bool exact = !something_expired && live(now_ms) == records.size();
    return exact ? std::pair(records.size(), records.size()) : std::pair<size_t, size_t>(0, 1000);
  }
  void put(const std::string& key, Record record, int64_t now_ms);
  bool operator==(const Database&) const = default;
};
using Args = std::vector<std::string>;

struct Policy {
  std::string effect = {};                            // UNLIMITED or BLOCKED
  std::map<std::string, std::string> overrides = {};  // by "KEY name" or "PREFIX name"

  bool operator==(const Policy&) const = default;
};

struct Model {
  std::vector<Database> databases;
  std::map<std::string, Policy> policies = {};
  bool operator==(const Model&) const = default;
};

// One command in the model.
struct Step {
  Model& model;
  const Args& args;
  int* database;  // of the client
  int64_t now_ns;
  const WallClock* wall;

  int64_t now_ms() const { return now_ns / 1'000'000; }
  Database& contents() const { return model.databases[static_cast<size_t>(*database)]; }
  // Null if there is no live record.
  Record* find(const std::string& key) const;
  void put(const std::string& key, std::string text, int64_t expire_at_ms) const;
};

using RunInModel = Expected (*)(const Step& step);

// By upper-case name; null for what the model does not know.
RunInModel find_in_model(std::string_view name);

// The kinds of commands; each knows its names and answers null for others.
RunInModel limiter_in_model(std::string_view name);
RunInModel rl_in_model(std::string_view name);
RunInModel policy_in_model(std::string_view name);
RunInModel string_in_model(std::string_view name);
RunInModel generic_in_model(std::string_view name);

// RL.TAKE key POLICY name.
Expected take_by_policy(const Step& step);

inline Expected wrong_type() { return error("WRONGTYPE "); }

// Every difference between what lives in the two, for people; empty if there is none.
std::string difference(const Model& expected, const Model& found, int64_t now_ms);

// Answers a model whose expired records are those that were found at an earlier instant, as far as
// they were alive then. Which of them the disk has depends on turns that nobody knows, and it
// matters: the server's time may be that earlier instant again after a next crash, since it had no
// turn to keep its time with.
Model with_expired_of(const Model& found, int64_t found_ms, Model model, int64_t now_ms);

}  // namespace weir::simulation

// The faults that are planted, and what must find each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::storage::replication {

enum class Random {
  kNo,     // it is not looked for there
  kFound,  // some of `seeds` show it
  kClean,  // none may
};

struct Mutation {
  char letter;
  const char* what;
  std::vector<std::string> schedules = {};
  bool exhaustive = false;
  Random random = Random::kNo;
  uint64_t seeds = 0;  // at most
  bool lossy = false;
  std::vector<std::string> units = {};  // filters; of each some must fail
};

const std::vector<Mutation>& mutations();

}  // namespace weir::storage::replication

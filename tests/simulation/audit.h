// The promise of a limiter, counted by its clients alone: what was acknowledged is charged, and
// nothing is charged that nobody asked for.
//
//     acknowledged <= charged <= acknowledged + unknown
//
// Unknown is what was asked for without an answer, or with an error that leaves the outcome open.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/simulation/violation.h"

namespace weir::simulation {

class Audit {
 public:
  void ran(const std::string& key, int64_t permits) { accounts_[key].unknown += permits; }
  void allowed(const std::string& key, int64_t permits) {
    accounts_[key].unknown -= permits;
    accounts_[key].acknowledged += permits;
  }
  void denied(const std::string& key, int64_t permits) { accounts_[key].unknown -= permits; }

  // After a crash: nothing is in flight any more. `may_lose`: acknowledged permits may be gone.
  void check(const std::map<std::string, int64_t>& charged, bool may_lose) {
    for (auto& [key, account] : accounts_) {
      const auto found = charged.find(key);
      const int64_t now = found == charged.end() ? 0 : found->second;
      const bool too_little = now < account.acknowledged && !may_lose;
      if (too_little || now > account.acknowledged + account.unknown) {
        throw Violation("limiter " + key + ": charged " + std::to_string(now) + ", acknowledged " +
                        std::to_string(account.acknowledged) + ", unknown " +
                        std::to_string(account.unknown));
      }
      account = {.acknowledged = now, .unknown = 0};
    }
  }

 private:
  struct Account {
    int64_t acknowledged = 0;
    int64_t unknown = 0;
  };
  std::map<std::string, Account> accounts_;
};

}  // namespace weir::simulation

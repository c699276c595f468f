// Looks up the addresses of hosts on threads of its own, one for each name, since a look-up may
// take many seconds and knows no limit. What it finds is picked up on the loop.
//
// The threads of names that were never asked for are never started. An end waits for the look-ups
// that run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::storage::postgres {

struct LookedUp {
  std::vector<std::string> addresses;  // numeric, in the system's order; none if it failed
  std::string failure;
};

class Resolver {
 public:
  Resolver();
  ~Resolver();

  // Begins a look-up, unless one of this name is running.
  void ask(const std::string& name);
  // The answer to the newest ask(), once it is there; nothing until then.
  std::optional<LookedUp> answer(const std::string& name) const;
  // What was found when a look-up last succeeded.
  std::vector<std::string> known(const std::string& name) const;

 private:
  struct LookUp;
  std::map<std::string, std::unique_ptr<LookUp>> look_ups_;
};

}  // namespace weir::storage::postgres

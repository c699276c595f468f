// Makes up what clients send: requests of every kind that the server's command table has, over a
// few keys, with some that are wrong.
//
// Keys by their first letter: s:N strings; fast:N limiters that refill while the simulation runs;
// slow:N limiters that do not; rl:N
// limiters of all algorithms of constant size; a:N likewise, in the last database only, which
// nothing ever clears.
#pragma once

#include <string>
#include <vector>

#include "server/command/command_table.h"
#include "tests/simulation/random.h"
#include "tests/simulation/request.h"

namespace weir::simulation {

inline constexpr int kDatabases = 4;
inline constexpr size_t kPolicies = 3;
inline constexpr int kAuditedDatabase = kDatabases - 1;

class RequestMaker {
 public:
  RequestMaker(Random* random, const server::CommandTable& table);

  // Of a client that is in `*database` when the request is run; SELECT changes it.
  Request make(int* database);

 private:
  using Args = std::vector<std::string>;
  struct Kind {
    std::string_view name;
    uint64_t weight;
    Args (RequestMaker::*make)();
  };

  const Kind& any_kind();
  Request finish(Args args);
  Request wrong();
  Request audited();
  std::string wire_form(const Args& args);

  std::string string_key();
  std::string any_key();
  std::string value();
  std::string duration_ms() { return std::to_string(random_.between(1, 20'000)); }
  std::string shared_database() { return std::to_string(random_.below(kAuditedDatabase)); }
  Args limiter(bool counts_capacity);
  std::string rl_key() { return "rl:" + std::to_string(random_.below(16)); }
  Args rl_take();
  Args rl_hold();
  std::string policy_name() { return "pol:" + std::to_string(random_.below(kPolicies)); }
  Args take_by_policy();
  Args policy();
  Args rl_report();
  Args rl_refund() { return {rl_key(), std::to_string(random_.below(4))}; }
  Args rl_reset() { return {rl_key()}; }

  Args cl_throttle() { return limiter(false); }
  Args throttle() { return limiter(true); }
  Args none() { return {}; }
  Args key() { return {any_key()}; }
  Args some_keys();
  Args key_and_value() { return {any_key(), value()}; }
  Args key_and_number() { return {any_key(), std::to_string(random_.between(-1000, 1000))}; }
  Args pairs();
  Args set();
  Args psetex() { return {any_key(), duration_ms(), value()}; }
  Args getex();
  Args setrange() { return {any_key(), std::to_string(random_.below(50)), value()}; }
  Args pexpire();
  Args two_string_keys() { return {string_key(), string_key()}; }
  Args key_and_database() { return {any_key(), shared_database()}; }
  Args two_databases() { return {shared_database(), shared_database()}; }
  Args text() { return {value()}; }
  Args all_keys() { return {"*"}; }
  Args whole_scan() { return {"0", "COUNT", "100000"}; }
  Args protocol() { return {random_.one_in(2) ? "2" : "3"}; }

  Random& random_;
  std::vector<Kind> kinds_;
  uint64_t weights_ = 0;
};

}  // namespace weir::simulation

// The grammar of RL.* commands, and of what else happens to a limiter's key: bytes choose.
//
// Every request is one that the parser could accept, though not every one is accepted: options that
// a command does not take, policies that are not there and leases that are over are among them.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.h"
#include "tests/fuzz/fuzz_input.h"

namespace weir::fuzz {

inline constexpr const char* kKeys[] = {"a", "b", "c", "d"};
inline constexpr const char* kPolicies[] = {"p", "q", "r"};

// What different requests name again, so that they meet in one limiter.
inline constexpr const char* kUsualLimits[] = {
    "GCRA 1/1s BURST 0",
    "5/10s",
    "10 PER minute BURST 4 FIXED 50/hour",
    "LEAKY 1/1s CAPACITY 3",
    "LEAKY 2/1s CONCURRENCY 3 LEASE 1m",
    "CONCURRENCY 2 LEASE 10s",
    "TOKENBUCKET 1/1s CAPACITY 5",
    "TOKENBUCKET 10/1s INITIAL 0 REFILL INTERVAL",
    "SLIDINGLOG 5/10s",
    "FIXED 3/10s GCRA 5/10s BURST 2",
    "FIXED 5",
    "FIXED 3 ALIGN DAY OFFSET +08:00",
    "FIXED 3 ALIGN DAY ZONE Europe/Berlin",
    "FIXED 3 ALIGN MONTH ON 31 ZONE America/Sao_Paulo",
    "FIXED 3 ALIGN QUARTER",
    "FIXED 3 ALIGN YEAR OFFSET -03:30",
    "SLIDINGWINDOW 10/1m BUCKETS 6 PERBUCKET 3",
    "SLIDINGCOUNTER 9/1s",
    "BURSTY 5/1s MAXBURST 2s",
    "WARMUP 5/1s OVER 3s",
    "GCRA 1/1s BURST 0 GCRA 1/1s BURST 0 CONCURRENCY 1 LEASE 1s",
    "FIXED 3/10s BAN 10s AFTER 2 WITHIN 5s",
    "5/10s BAN 3s AFTER 1 WITHIN 1s SLIDINGLOG 5/10s",
    "5/1s ADAPTIVE 1..50",
    "LEAKY 3/10s CAPACITY 4 ADAPTIVE 1..9 SLOW 1s TOKENBUCKET 5/1s ADAPTIVE 2..100",
};

inline std::string any_duration(Input* input) {
  constexpr const char* kDurations[] = {"1us", "1ms", "100ms", "1s",   "3s",
                                        "10s", "1m",  "1h",    "365d", "3650d"};
  return input->choose(kDurations);
}

// How long somebody waits or holds.
inline std::string any_time(Input* input) {
  constexpr const char* kTimes[] = {"0", "1", "1500", "10000", "3600000", "0s", "1500us", "10s"};
  return input->choose(kTimes);
}

inline std::string any_count(Input* input) {
  constexpr const char* kCounts[] = {"1", "2", "3", "5", "10", "100", "0", "1000000000"};
  return input->choose(kCounts);
}

inline std::string option(Input* input, const std::string& name) {
  return " " + name + " " + any_count(input);
}

// A rate in each of its forms.
inline std::string any_rate(Input* input) {
  constexpr const char* kUnits[] = {"s", "sec", "Minute", "hours", "d", "WEEK"};
  const std::string count = any_count(input);
  switch (input->byte() % 4) {
    case 0:
      return count + " PER " + input->choose(kUnits);
    case 1:
      return count + "/" + input->choose(kUnits);
    default:
      return count + "/" + any_duration(input);
  }
}

inline std::string any_name(Input* input) {
  constexpr const char* kNames[] = {"", "", "", " AS api", " AS b.2", " AS gcra0"};
  return input->choose(kNames);
}

inline std::string any_ban(Input* input) {
  constexpr const char* kBans[] = {"",
                                   "",
                                   "",
                                   " BAN 10s AFTER 1 WITHIN 1s",
                                   " BAN 1m AFTER 3 WITHIN 1m",
                                   " BAN 3650d AFTER 64 WITHIN 3650d"};
  return input->choose(kBans);
}

inline std::string any_calendar_limit(Input* input) {
  constexpr const char* kUnits[] = {"MINUTE",      "HOUR",        "DAY",  "WEEK",    "MONTH",
                                    "MONTH ON 29", "month on 31", "YEAR", "QUARTER", "DAY ON 2"};
  constexpr const char* kPlaces[] = {"",
                                     " OFFSET +08:00",
                                     " OFFSET -23:59",
                                     " ZONE Europe/Berlin",
                                     " ZONE Africa/Casablanca",
                                     " ZONE Australia/Lord_Howe",
                                     " ZONE nowhere",
                                     " ZONE ../../etc/passwd",
                                     " ZONE UTC OFFSET +00:00"};
  return "FIXED " + any_count(input) + " ALIGN " + input->choose(kUnits) + input->choose(kPlaces);
}

inline std::string any_adaptive(Input* input) {
  constexpr const char* kAdaptive[] = {
      "", "", "", " ADAPTIVE 1..1000", " ADAPTIVE 1..10 SLOW 10ms", " ADAPTIVE 3..1000000000000"};
  return input->choose(kAdaptive);
}

inline std::string any_report(Input* input) {
  constexpr const char* kReports[] = {" OK", " OK", " FAIL", " OK LATENCY 12", " OK LATENCY 20s"};
  return input->choose(kReports);
}

inline std::string any_limit(Input* input) {
  constexpr const char* kAlgorithms[] = {
      "",  // a rate alone is GCRA
      "GCRA",   "TOKENBUCKET", "LEAKY",         "FIXED",      "SLIDINGLOG", "SLIDINGCOUNTER",
      "BURSTY", "WARMUP",      "SLIDINGWINDOW", "CONCURRENCY"};
  const std::string name = input->choose(kAlgorithms);
  if (name == "CONCURRENCY") return name + " " + any_count(input) + " LEASE " + any_time(input);
  std::string limit = name + (name.empty() ? "" : " ") + any_rate(input);
  if (name == "WARMUP") limit += " OVER " + any_duration(input);
  const uint8_t options = input->byte();
  if ((name.empty() || name == "GCRA") && (options & 1))
    limit += option(input, options & 2 ? "BURST" : "CAPACITY");
  if ((name == "LEAKY" || name == "TOKENBUCKET") && (options & 1))
    limit += option(input, "CAPACITY");
  if (name == "TOKENBUCKET" && (options & 2)) limit += option(input, "INITIAL");
  if (name == "TOKENBUCKET" && (options & 4)) limit += " REFILL INTERVAL";
  if (name == "BURSTY" && (options & 1)) limit += " MAXBURST " + any_duration(input);
  if (name == "WARMUP" && (options & 1)) limit += option(input, "COLD");
  if (name == "SLIDINGWINDOW" && (options & 1)) limit += option(input, "BUCKETS");
  if (name == "SLIDINGWINDOW" && (options & 2)) limit += option(input, "PERBUCKET");
  if (name == "FIXED" && (options & 1)) limit += " ALIGN EPOCH";
  if (name == "FIXED" && (options & 2)) limit = any_calendar_limit(input);
  if (name.empty() || name == "GCRA" || name == "LEAKY" || name == "TOKENBUCKET") {
    limit += any_adaptive(input);
  }
  return limit + any_ban(input) + any_name(input);
}

// Without POLICY, which a policy cannot name.
inline std::string plain_limits(Input* input) {
  const uint8_t which = input->byte();
  if (which < 192) return kUsualLimits[which % std::size(kUsualLimits)];
  std::string limits = any_limit(input);
  for (int more = which % 3; more > 0; --more) limits += " " + any_limit(input);
  return limits;
}

inline std::string any_limits(Input* input) {
  const uint8_t which = input->byte();
  if (which >= 64) return plain_limits(input);
  std::string limits = std::string("POLICY ") + kPolicies[which % std::size(kPolicies)];
  if (which & 32) limits = plain_limits(input) + " " + limits;
  if (which & 16) limits += " " + any_limit(input);
  return limits;
}

inline std::string limits_of_each(Input* input, int keys) {
  std::string limits;
  for (int i = 0; i < keys; ++i) limits += (i > 0 ? " EACH " : "EACH ") + any_limits(input);
  return limits;
}

inline std::string any_cost(Input* input) {
  constexpr const char* kCosts[] = {"1", "2", "3", "5", "0", "100", "1000000000", "1,2"};
  return std::string(" COST ") + input->choose(kCosts);
}

enum Option : uint16_t {
  kCost = 1,
  kId = 2,
  kUpto = 4,
  kShadow = 8,
  kForce = 16,
  kMaxWait = 32,
  kFull = 64,
  kHeaders = 128,
  kHold = 256,
};

inline std::string any_options(Input* input, uint16_t taken) {
  const uint16_t options = input->byte() & taken;
  std::string words;
  if (options & kCost) words += any_cost(input);
  if (options & kId) words += std::string(" ID ") + (input->byte() & 1 ? "x" : "y");
  if (options & kUpto) words += " UPTO";
  if (options & kShadow) words += " SHADOW";
  if (options & kForce) words += " FORCE";
  if (options & kFull) words += " FULL";
  constexpr const char* kHeaderWords[] = {" HEADERS", " LEGACY PARTITION", " HEADERS PROBLEM",
                                          " PROBLEM LEGACY"};
  if (options & kHeaders) words += input->choose(kHeaderWords);
  if ((taken & kHold) != 0 && input->byte() % 4 == 0) words += " HOLD " + any_time(input);
  if (options & kMaxWait) words += " MAXWAIT " + any_time(input);
  return words;
}

inline std::string any_key(Input* input) { return input->choose(kKeys); }
inline std::string any_id(Input* input) { return std::to_string(1 + input->byte() % 40); }

inline std::string policy_command(Input* input) {
  constexpr const char* kModes[] = {"",
                                    " ONCHANGE RESET",
                                    " ONCHANGE ASIS",
                                    " ONCHANGE PROPORTIONAL",
                                    " ONCHANGE ADDITIVE",
                                    " ONCHANGE USED"};
  const uint8_t what = input->byte() % 11;
  const std::string name = input->choose(kPolicies);
  if (what == 0) return "RL.POLICY LIST";
  if (what == 1) return "RL.POLICY GET " + name;
  if (what == 2) return "RL.POLICY DEL " + name;
  if (what == 3) {
    constexpr const char* kEffects[] = {" UNLIMITED", " BLOCKED", " DEL", " DEL"};
    const std::string scope = input->byte() % 2 == 0 ? " KEY " : " PREFIX ";
    const std::string key = any_key(input);
    const std::string effect =
        input->byte() % 2 == 0 ? " " + plain_limits(input) : input->choose(kEffects);
    return "RL.POLICY OVERRIDE " + name + scope + key + effect;
  }
  if (what == 4) return "RL.POLICY OVERRIDES " + name;
  if (what == 5) return "RL.POLICY REPORT " + name + any_report(input);
  constexpr const char* kShares[] = {"", "", "", " SHADOW", " PERCENT 0", " PERCENT 50"};
  constexpr const char* kFixed[] = {"UNLIMITED", "BLOCKED"};
  const std::string effect =
      input->byte() % 8 == 0 ? input->choose(kFixed) : plain_limits(input) + input->choose(kShares);
  return "RL.POLICY SET " + name + " " + effect + input->choose(kModes);
}

// What befalls a key from outside.
inline std::string key_command(Input* input) {
  const uint8_t what = input->byte();
  const std::string key = any_key(input), other = any_key(input);
  switch (what % 20) {
    case 0:
      return "DEL " + key;
    case 1:
      return "RENAME " + key + " " + other;
    case 2:
      return "COPY " + key + " " + other + " REPLACE";
    case 3:
      return "MOVE " + key + " 1";
    case 4:
      return "PEXPIRE " + key + " " + any_count(input);
    case 5:
      return "PERSIST " + key;
    case 6:
      return "SET " + key + " 1700000000123456789";  // a theoretical arrival time
    case 7:
      return "RPUSH " + key + " x";
    case 8:
      return "GET " + key;
    case 9:
      return "FLUSHDB";
    case 10:
      return "FLUSHALL";
    case 11:
      return "SWAPDB 0 1";
    case 12:
      return "SELECT " + std::string(input->byte() & 1 ? "1" : "0");
    case 13:
      return "CLIENT UNBLOCK " + any_id(input) + (input->byte() & 1 ? " ERROR" : "");
    case 14:
      return "EXPIREAT " + key + " 4102444800";
    case 15:
      return "WATCH " + key;
    case 16:
      return "CL.THROTTLE " + key + " 5 " + any_count(input) + " 10 " + any_count(input);
    case 17:
      return "RL.TOP";
    default:
      return "TYPE " + key;
  }
}

inline std::string take_many(Input* input) {
  const int keys = 1 + input->byte() % 3;
  std::string line = "RL.MTAKE " + std::to_string(keys);
  for (int i = 0; i < keys; ++i) line += std::string(" ") + kKeys[(input->byte() + i) % 4];
  line += " " + (input->byte() & 1 ? limits_of_each(input, keys) : any_limits(input));
  return line + any_options(input, kCost | kId | kUpto | kShadow | kForce | kFull | kHold);
}

// A request as one would type it.
inline std::string any_command(Input* input) {
  const uint8_t what = input->byte();
  const std::string key = any_key(input);
  switch (what % 22) {
    case 0:
    case 1:
    case 2:
      return "RL.TAKE " + key + " " + any_limits(input) +
             any_options(input, kCost | kId | kUpto | kShadow | kForce | kFull | kHeaders | kHold);
    case 3:
    case 4:
    case 5:
    case 6:
      return "RL.ACQUIRE " + key + " " + any_limits(input) +
             any_options(input, kCost | kId | kFull | kHeaders | kHold) + " TIMEOUT " +
             any_time(input);
    case 7:
      return "RL.PEEK " + key + " " + any_limits(input) + any_options(input, kCost | kFull);
    case 8:
      return take_many(input);
    case 9:
      return "RL.RESERVE " + key + " " + any_limits(input) +
             any_options(input, kCost | kId | kMaxWait);
    case 10:
      return "RL.CANCEL " + key + " " + any_id(input);
    case 11:
      return "RL.RELEASE " + key + " " + any_id(input);
    case 12:
      return "RL.RENEW " + key + " " + any_id(input);
    case 13:
      return "RL.REFUND " + key + " " + any_count(input) + any_options(input, kId);
    case 14:
      return "RL.RESET " + key;
    case 15:
      return "RL.INFO " + key;
    case 16:
      return policy_command(input);
    case 17:
      return what >= 128 ? "MULTI" : "EXEC";
    case 18:
      return "RL.SETTLE " + key + " " + any_id(input) + " " + any_cost(input).substr(6);
    case 19:
      return "RL.REPORT " + key + any_report(input);
    default:
      return key_command(input);
  }
}

// Words as an array of bulk strings.
inline std::string wire_form(std::string_view line) {
  const auto words = split_at_spaces(line);
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
  }
  return bytes;
}

}  // namespace weir::fuzz

#include "tests/simulation/request_maker.h"

#include <algorithm>

#include "tests/simulation/model.h"

namespace weir::simulation {

RequestMaker::RequestMaker(Random* random, const server::CommandTable& table) : random_(*random) {
  using M = RequestMaker;
  const Kind kAll[] = {{"CL.THROTTLE", 60, &M::cl_throttle},
                       {"THROTTLE", 20, &M::throttle},
                       {"RL.TAKE", 60, &M::rl_hold},
                       {"RL.TAKE", 12, &M::take_by_policy},
                       {"RL.POLICY", 10, &M::policy},
                       {"RL.PEEK", 10, &M::rl_take},
                       {"RL.REFUND", 10, &M::rl_refund},
                       {"RL.REPORT", 20, &M::rl_report},
                       {"RL.RESET", 3, &M::rl_reset},
                       {"SET", 40, &M::set},
                       {"GET", 20, &M::key},
                       {"DEL", 12, &M::some_keys},
                       {"UNLINK", 3, &M::some_keys},
                       {"EXISTS", 5, &M::some_keys},
                       {"TOUCH", 3, &M::some_keys},
                       {"TYPE", 5, &M::key},
                       {"PTTL", 10, &M::key},
                       {"PEXPIRETIME", 3, &M::key},
                       {"PEXPIRE", 12, &M::pexpire},
                       {"PERSIST", 6, &M::key},
                       {"RENAME", 4, &M::two_string_keys},
                       {"RENAMENX", 4, &M::two_string_keys},
                       {"MOVE", 4, &M::key_and_database},
                       {"GETSET", 3, &M::key_and_value},
                       {"GETDEL", 3, &M::key},
                       {"GETEX", 4, &M::getex},
                       {"MGET", 5, &M::some_keys},
                       {"SETNX", 4, &M::key_and_value},
                       {"PSETEX", 6, &M::psetex},
                       {"MSET", 6, &M::pairs},
                       {"MSETNX", 4, &M::pairs},
                       {"INCR", 10, &M::key},
                       {"DECR", 3, &M::key},
                       {"INCRBY", 4, &M::key_and_number},
                       {"DECRBY", 2, &M::key_and_number},
                       {"APPEND", 10, &M::key_and_value},
                       {"SETRANGE", 3, &M::setrange},
                       {"STRLEN", 3, &M::key},
                       {"DBSIZE", 8, &M::none},
                       {"KEYS", 2, &M::all_keys},
                       {"SCAN", 2, &M::whole_scan},
                       {"FLUSHDB", 1, &M::none},
                       {"SWAPDB", 2, &M::two_databases},
                       {"PING", 5, &M::none},
                       {"ECHO", 3, &M::text},
                       {"HELLO", 2, &M::protocol},
                       {"TIME", 1, &M::none}};
  for (const Kind& kind : kAll) {
    if (table.find(kind.name) == nullptr) continue;
    kinds_.push_back(kind);
    weights_ += kind.weight;
  }
}

const RequestMaker::Kind& RequestMaker::any_kind() {
  uint64_t at = random_.below(weights_);
  for (const Kind& kind : kinds_) {
    if (at < kind.weight) return kind;
    at -= kind.weight;
  }
  return kinds_.back();
}

Request RequestMaker::make(int* database) {
  if (random_.one_in(15)) {
    *database = static_cast<int>(random_.below(kDatabases));
    return finish({"SELECT", std::to_string(*database)});
  }
  if (random_.one_in(60)) return wrong();
  if (random_.one_in(800)) return finish({"QUIT"});
  if (*database == kAuditedDatabase) {
    return random_.one_in(10) ? finish({"DBSIZE"}) : audited();
  }
  const Kind& kind = any_kind();
  Args args = (this->*kind.make)();
  args.insert(args.begin(), std::string(kind.name));
  return finish(std::move(args));
}

Request RequestMaker::finish(Args args) {
  Request request;
  request.bytes = wire_form(args);
  request.args = std::move(args);
  return request;
}

// Multibulk or inline, the name in any case, now and then an empty request in front.
std::string RequestMaker::wire_form(const Args& args) {
  Args spelt = args;
  for (char& c : spelt[0]) {
    if (random_.one_in(2) && c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  std::string bytes = random_.one_in(50) ? random_.one_in(2) ? "\r\n" : "*0\r\n" : "";
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '*' && c <= ':');
  };
  const bool fits_a_line = std::all_of(spelt.begin(), spelt.end(), [&](const std::string& arg) {
    return !arg.empty() && std::all_of(arg.begin(), arg.end(), plain);
  });
  if (!fits_a_line || !random_.one_in(10) || spelt[0].starts_with('*'))
    return bytes + encode(spelt);
  for (const std::string& arg : spelt) bytes += arg + " ";
  bytes.back() = '\r';
  return bytes + "\n";
}

Request RequestMaker::wrong() {
  Request request;
  request.is_wrong = true;
  if (random_.one_in(10)) {
    request.breaks_protocol = true;
    request.bytes = random_.any_of({"*abc\r\n", "*1\r\n:5\r\n", "*2\r\n$3\r\nGET\r\n$zz\r\n"});
    request.args = {"(garbage)"};
    return request;
  }
  request.args = random_.any_of<Args>({{"NOSUCH", "a", "b"},
                                       {"PING", "a", "b"},
                                       {"SELECT", "77"},
                                       {"CL.THROTTLE", "fast:0", "1", "2"},
                                       {"CL.THROTTLE", "fast:0", "1", "x", "1"},
                                       {"CL.THROTTLE", "fast:0", "-1", "1", "1"}});
  request.bytes = encode(request.args);
  return request;
}

Request RequestMaker::audited() {
  Request request = finish({"CL.THROTTLE", "a:" + std::to_string(random_.below(30)), "98", "1",
                            "31536000", std::to_string(1 + random_.below(3))});
  request.is_audited = true;
  return request;
}

RequestMaker::Args RequestMaker::limiter(bool counts_capacity) {
  struct Rate {
    int64_t max_burst, count, period_s;
  };
  static constexpr Rate kRates[] = {{4, 1, 1}, {2, 2, 1}, {9, 10, 60}, {0, 1, 2}, {40, 5, 10}};
  const bool slow = random_.one_in(3);
  const uint64_t name = random_.below(10);
  const Rate rate = slow ? Rate{98, 1, 31'536'000} : kRates[name % 5];
  Args args = {(slow ? "slow:" : "fast:") + std::to_string(name),
               std::to_string(rate.max_burst + (counts_capacity ? 1 : 0)),
               std::to_string(rate.count), std::to_string(rate.period_s)};
  if (random_.one_in(3)) {
    const int64_t least = counts_capacity ? 0 : -3;
    args.push_back(std::to_string(random_.one_in(20) ? 200 : random_.between(least, 5)));
  }
  return args;
}

// A key has the same limits always: what happens when they change is not the simulation's matter.
RequestMaker::Args RequestMaker::rl_take() {
  static const Args kLimits[] = {
      {"GCRA", "3/1s", "BURST", "4"},
      {"TOKENBUCKET", "7/2s", "CAPACITY", "9"},
      {"TOKENBUCKET", "2/1s", "CAPACITY", "6", "INITIAL", "1"},
      {"TOKENBUCKET", "3/1s", "REFILL", "INTERVAL"},
      {"LEAKY", "5/1s", "CAPACITY", "8"},
      {"FIXED", "10/2s"},
      {"FIXED", "10", "ALIGN", "MINUTE"},
      {"FIXED", "10", "ALIGN", "HOUR", "ZONE", "Asia/Kolkata"},
      {"FIXED", "20", "ALIGN", "MONTH", "ON", "31", "ZONE", "Europe/Berlin"},
      {"SLIDINGCOUNTER", "10/2s"},
      {"BURSTY", "5/1s", "MAXBURST", "2s"},
      {"WARMUP", "5/1s", "OVER", "3s"},
      {"GCRA", "3/1s", "BURST", "4", "FIXED", "10/1m"},
      {"FIXED", "2/1s", "BAN", "5s", "AFTER", "3", "WITHIN", "2s"},
      {"3/1s", "BAN", "1s", "AFTER", "1", "WITHIN", "1s", "FIXED", "5/1m", "BAN", "2s", "AFTER",
       "5", "WITHIN", "1m"},
      {"4/1s", "ADAPTIVE", "1..60"},
      {"LEAKY", "5/1s", "CAPACITY", "8", "ADAPTIVE", "2..9", "FIXED", "10/2s"},
  };
  // The same limits in other words: a key must not care. Their order is that of kLimits.
  static const Args kOtherwise[] = {
      {"3", "PER", "second", "CAPACITY", "5", "AS", "x"},
      {"tokenbucket", "7/2seconds", "INITIAL", "9", "CAPACITY", "9"},
      {"TOKENBUCKET", "2/sec", "INITIAL", "1", "CAPACITY", "6"},
      {"TOKENBUCKET", "3/s", "CAPACITY", "3", "REFILL", "INTERVAL"},
      {"LEAKY", "5", "per", "s", "CAPACITY", "8"},
      {"FIXED", "10/2s", "ALIGN", "FIRST"},
      {"FIXED", "10", "ALIGN", "MINUTE", "OFFSET", "+00:00"},
      {"fixed", "10", "ZONE", "Asia/Kolkata", "ALIGN", "hour"},
      {"FIXED", "20", "ON", "31", "ZONE", "Europe/Berlin", "ALIGN", "MONTH", "AS", "c"},
      {"SLIDINGCOUNTER", "10/2000ms"},
      {"BURSTY", "5/s", "MAXBURST", "2000ms"},
      {"WARMUP", "5/1s", "COLD", "3", "OVER", "3sec"},
      {"3/s", "BURST", "4", "AS", "a", "FIXED", "10", "PER", "minute"},
      {"FIXED", "2/s", "ALIGN", "FIRST", "BAN", "5000ms", "AFTER", "3", "WITHIN", "2s", "AS", "b"},
      {"3/s", "BAN", "1s", "AFTER", "1", "WITHIN", "1s", "BURST", "2", "FIXED", "5/1m", "BAN", "2s",
       "AFTER", "5", "WITHIN", "60s"},
      {"gcra", "4/s", "adaptive", "1..60", "BURST", "3", "AS", "x"},
      {"LEAKY", "5/1s", "ADAPTIVE", "2..9", "CAPACITY", "8", "AS", "y", "FIXED", "10/2s"},
  };
  static_assert(std::size(kOtherwise) == std::size(kLimits));
  const std::string key = rl_key();
  const size_t which = std::stoul(key.substr(3)) % std::size(kLimits);
  Args args = random_.one_in(3) ? kOtherwise[which] : kLimits[which];
  args.insert(args.begin(), key);
  if (random_.one_in(3)) {
    args.push_back("COST");
    args.push_back(std::to_string(random_.below(random_.one_in(10) ? 20 : 4)));
  }
  return args;
}

RequestMaker::Args RequestMaker::rl_report() {
  return {rl_key(), random_.one_in(4) ? "FAIL" : "OK"};
}

RequestMaker::Args RequestMaker::rl_hold() {
  Args args = rl_take();
  if (!random_.one_in(8)) return args;
  args.push_back("HOLD");
  args.push_back(duration_ms() + "ms");
  return args;
}

// On keys of their own, which no policy of these ever puts anything at.
RequestMaker::Args RequestMaker::take_by_policy() {
  return {"po:" + std::to_string(random_.below(20)), "POLICY", policy_name()};
}

RequestMaker::Args RequestMaker::policy() {
  if (random_.one_in(12)) return {"DEL", policy_name()};
  const std::string effect = random_.any_of({"UNLIMITED", "BLOCKED"});
  if (random_.one_in(4)) return {"SET", policy_name(), effect};
  const bool of_prefix = random_.one_in(4);
  const std::string name =
      of_prefix ? random_.any_of({"p", "po:", "po:1"}) : "po:" + std::to_string(random_.below(20));
  return {"OVERRIDE", policy_name(), of_prefix ? "PREFIX" : "KEY", name,
          random_.one_in(4) ? "DEL" : effect};
}

std::string RequestMaker::string_key() {
  return "s:" + std::to_string(random_.below(30)) + (random_.one_in(4) ? "{tag}" : "");
}

std::string RequestMaker::any_key() {
  if (!random_.one_in(8)) return string_key();
  if (random_.one_in(3)) return rl_key();
  return (random_.one_in(2) ? "slow:" : "fast:") + std::to_string(random_.below(10));
}

// Never 19 digits, which CL.THROTTLE would take for a limiter.
std::string RequestMaker::value() {
  if (random_.one_in(3)) return std::to_string(random_.between(-100, 100));
  const uint64_t size = random_.one_in(20) ? random_.below(600) : random_.below(20);
  std::string text = "v";
  while (text.size() < size)
    text += random_.one_in(30) ? "\r\n" : std::string(1, "abc \0\xff"[random_.below(6)]);
  return text;
}

RequestMaker::Args RequestMaker::some_keys() {
  Args args;
  for (uint64_t count = 1 + random_.below(3); count > 0; --count) args.push_back(any_key());
  return args;
}

RequestMaker::Args RequestMaker::pairs() {
  Args args;
  for (uint64_t count = 1 + random_.below(4); count > 0; --count) {
    args.push_back(any_key());
    args.push_back(value());
  }
  return args;
}

RequestMaker::Args RequestMaker::set() {
  Args args = {any_key(), value()};
  if (random_.one_in(4)) args.push_back(random_.any_of({"NX", "XX", "GET"}));
  if (random_.one_in(8)) {
    args.push_back("KEEPTTL");
  } else if (random_.one_in(3)) {
    args.push_back("PX");
    args.push_back(duration_ms());
  }
  return args;
}

RequestMaker::Args RequestMaker::getex() {
  switch (random_.below(3)) {
    case 0:
      return {any_key()};
    case 1:
      return {any_key(), "PERSIST"};
    default:
      return {any_key(), "PX", duration_ms()};
  }
}

RequestMaker::Args RequestMaker::pexpire() {
  return {any_key(), random_.one_in(6) ? std::to_string(random_.between(-5, 0)) : duration_ms()};
}

}  // namespace weir::simulation

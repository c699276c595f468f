// Commands over keys of any type, over whole databases, and over the connection, in the model.
#include <map>

#include "tests/simulation/model.h"

namespace weir::simulation {
namespace {

Expected del(const Step& step) {
  int64_t gone = 0;
  for (size_t i = 1; i < step.args.size(); ++i) {
    if (step.find(step.args[i]) == nullptr) continue;
    step.contents().records.erase(step.args[i]);
    ++gone;
  }
  return number(gone);
}

Expected exists(const Step& step) {
  int64_t found = 0;
  for (size_t i = 1; i < step.args.size(); ++i) found += step.find(step.args[i]) != nullptr;
  return number(found);
}

Expected type(const Step& step) {
  const Record* record = step.find(step.args[1]);
  return status(record == nullptr ? "none" : record->is_limiter ? "limiter" : "string");
}

Expected pttl(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record == nullptr) return number(-2);
  return number(record->expire_at_ms == 0 ? -1 : record->expire_at_ms - step.now_ms());
}

Expected pexpiretime(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record == nullptr) return number(-2);
  const int64_t lead_ms = step.wall->lead_ns / 1'000'000;
  return number(record->expire_at_ms == 0 ? -1 : record->expire_at_ms - lead_ms);
}

Expected pexpire(const Step& step) {
  Record* record = step.find(step.args[1]);
  if (record == nullptr) return number(0);
  const int64_t duration_ms = std::stoll(step.args[2]);
  if (duration_ms <= 0) {
    step.contents().records.erase(step.args[1]);
  } else {
    record->expire_at_ms = step.now_ms() + duration_ms;
  }
  return number(1);
}

Expected persist(const Step& step) {
  Record* record = step.find(step.args[1]);
  if (record == nullptr || record->expire_at_ms == 0) return number(0);
  record->expire_at_ms = 0;
  return number(1);
}

Expected no_such_key() { return error("ERR no such key"); }

void move_record(const Step& step, const std::string& from, Database* to, const std::string& key) {
  Record moved = *step.find(from);
  step.contents().records.erase(from);
  to->put(key, std::move(moved), step.now_ms());
}

Expected rename(const Step& step) {
  if (step.find(step.args[1]) == nullptr) return no_such_key();
  move_record(step, step.args[1], &step.contents(), step.args[2]);
  return status("OK");
}

Expected renamenx(const Step& step) {
  if (step.find(step.args[1]) == nullptr) return no_such_key();
  if (step.find(step.args[2]) != nullptr) return number(0);
  move_record(step, step.args[1], &step.contents(), step.args[2]);
  return number(1);
}

Expected move(const Step& step) {
  int target = std::stoi(step.args[2]);
  if (target == *step.database) return error("ERR source and destination objects are the same");
  Step there{.model = step.model,
             .args = step.args,
             .database = &target,
             .now_ns = step.now_ns,
             .wall = step.wall};
  if (step.find(step.args[1]) == nullptr || there.find(step.args[1]) != nullptr) return number(0);
  move_record(step, step.args[1], &there.contents(), step.args[1]);
  return number(1);
}

Expected dbsize(const Step& step) {
  Expected expected;
  expected.kind = Expected::Kind::kBetween;
  const auto [least, most] = step.contents().size_bounds(step.now_ms());
  expected.low = static_cast<int64_t>(least);
  expected.high = static_cast<int64_t>(most);
  return expected;
}

Expected all_keys(const Step& step, Expected::Kind kind) {
  Expected expected;
  expected.kind = kind;
  for (const auto& [key, record] : step.contents().records) {
    if (record.live(step.now_ms())) expected.keys.insert(key);
  }
  return expected;
}

// KEYS *, and SCAN 0 with a COUNT that is more than there are.
Expected keys(const Step& step) { return all_keys(step, Expected::Kind::kKeys); }
Expected scan(const Step& step) { return all_keys(step, Expected::Kind::kScan); }

Expected flushdb(const Step& step) {
  step.contents() = {};
  return status("OK");
}

Expected flushall(const Step& step) {
  for (Database& database : step.model.databases) database = {};
  return status("OK");
}

Expected swapdb(const Step& step) {
  std::swap(step.model.databases[std::stoul(step.args[1])],
            step.model.databases[std::stoul(step.args[2])]);
  return status("OK");
}

Expected select(const Step& step) {
  *step.database = std::stoi(step.args[1]);
  return status("OK");
}

Expected ping(const Step&) { return status("PONG"); }
Expected echo(const Step& step) { return exactly(bulk(step.args[1])); }
Expected quit(const Step&) { return status("OK"); }
Expected anything(const Step&) { return {}; }

}  // namespace

RunInModel generic_in_model(std::string_view name) {
  static const std::map<std::string_view, RunInModel> kRuns = {
      {"DEL", del},           {"UNLINK", del},        {"EXISTS", exists},
      {"TOUCH", exists},      {"TYPE", type},         {"PTTL", pttl},
      {"PEXPIRE", pexpire},   {"PERSIST", persist},   {"PEXPIRETIME", pexpiretime},
      {"RENAME", rename},     {"RENAMENX", renamenx}, {"MOVE", move},
      {"DBSIZE", dbsize},     {"KEYS", keys},         {"SCAN", scan},
      {"FLUSHDB", flushdb},   {"FLUSHALL", flushall}, {"SWAPDB", swapdb},
      {"SELECT", select},     {"PING", ping},         {"ECHO", echo},
      {"QUIT", quit},         {"HELLO", anything},    {"TIME", anything},
      {"RANDOMKEY", anything}};
  const auto found = kRuns.find(name);
  return found == kRuns.end() ? nullptr : found->second;
}

}  // namespace weir::simulation

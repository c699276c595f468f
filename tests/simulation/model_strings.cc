// The string commands in the model, with as many of their options as the simulation uses.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "tests/simulation/model.h"

namespace weir::simulation {
namespace {

constexpr std::string_view kNoInteger = "ERR value is not an integer or out of range";

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::to_string(value) == text ? std::optional(value) : std::nullopt;
}

bool is_other(const Record* record) { return record != nullptr && record->is_limiter; }

Expected old_value(const Record* record) {
  return record == nullptr ? null() : exactly(bulk(record->text));
}

Expected get(const Step& step) {
  const Record* record = step.find(step.args[1]);
  return is_other(record) ? wrong_type() : old_value(record);
}

Expected getset(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  Expected expected = old_value(record);
  step.put(step.args[1], step.args[2], 0);
  return expected;
}

Expected getdel(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  Expected expected = old_value(record);
  if (record != nullptr) step.contents().records.erase(step.args[1]);
  return expected;
}

// GETEX key [PERSIST | PX ms]
Expected getex(const Step& step) {
  Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  if (record != nullptr && step.args.size() > 2) {
    record->expire_at_ms = step.args[2] == "PERSIST" ? 0 : step.now_ms() + std::stoll(step.args[3]);
  }
  return old_value(record);
}

Expected mget(const Step& step) {
  std::vector<resp::Value> values;
  for (size_t i = 1; i < step.args.size(); ++i) {
    const Record* record = step.find(step.args[i]);
    values.push_back(record == nullptr || is_other(record) ? resp::Value() : bulk(record->text));
  }
  return exactly(array(std::move(values)));
}

// SET key value [NX | XX | GET] [PX ms | KEEPTTL]
Expected set(const Step& step) {
  const Args& args = step.args;
  const auto has = [&](std::string_view word) {
    return std::find(args.begin() + 3, args.end(), word) != args.end();
  };
  const Record* record = step.find(args[1]);
  if (has("GET") && is_other(record)) return wrong_type();
  if ((has("NX") && record != nullptr) || (has("XX") && record == nullptr)) return null();
  const Expected expected = has("GET") ? old_value(record) : status("OK");
  int64_t expire_at_ms = 0;
  if (has("KEEPTTL") && record != nullptr) expire_at_ms = record->expire_at_ms;
  if (has("PX")) expire_at_ms = step.now_ms() + std::stoll(args.back());
  step.put(args[1], args[2], expire_at_ms);
  return expected;
}

Expected setnx(const Step& step) {
  if (step.find(step.args[1]) != nullptr) return number(0);
  step.put(step.args[1], step.args[2], 0);
  return number(1);
}

Expected psetex(const Step& step) {
  step.put(step.args[1], step.args[3], step.now_ms() + std::stoll(step.args[2]));
  return status("OK");
}

Expected mset(const Step& step) {
  for (size_t i = 1; i < step.args.size(); i += 2) step.put(step.args[i], step.args[i + 1], 0);
  return status("OK");
}

Expected msetnx(const Step& step) {
  for (size_t i = 1; i < step.args.size(); i += 2) {
    if (step.find(step.args[i]) != nullptr) return number(0);
  }
  mset(step);
  return number(1);
}

Expected add(const Step& step, int64_t increment) {
  Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  const auto old = record == nullptr ? 0 : whole_number(record->text);
  if (!old) return error(std::string(kNoInteger));
  int64_t sum = 0;
  if (__builtin_add_overflow(*old, increment, &sum)) return error("ERR increment or decrement");
  step.put(step.args[1], std::to_string(sum), record == nullptr ? 0 : record->expire_at_ms);
  return number(sum);
}

Expected incr(const Step& step) { return add(step, 1); }
Expected decr(const Step& step) { return add(step, -1); }
Expected incrby(const Step& step) { return add(step, std::stoll(step.args[2])); }
Expected decrby(const Step& step) { return add(step, -std::stoll(step.args[2])); }

Expected append(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  std::string text = (record == nullptr ? "" : record->text) + step.args[2];
  const auto size = static_cast<int64_t>(text.size());
  step.put(step.args[1], std::move(text), record == nullptr ? 0 : record->expire_at_ms);
  return number(size);
}

Expected setrange(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  std::string text = record == nullptr ? "" : record->text;
  const std::string& patch = step.args[3];
  const auto offset = static_cast<size_t>(std::stoll(step.args[2]));
  if (!patch.empty()) {
    text.resize(std::max(text.size(), offset + patch.size()));
    text.replace(offset, patch.size(), patch);
    step.put(step.args[1], text, record == nullptr ? 0 : record->expire_at_ms);
  }
  return number(static_cast<int64_t>(text.size()));
}

Expected strlen(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (is_other(record)) return wrong_type();
  return number(record == nullptr ? 0 : static_cast<int64_t>(record->text.size()));
}

}  // namespace

RunInModel string_in_model(std::string_view name) {
  static const std::map<std::string_view, RunInModel> kRuns = {
      {"GET", get},       {"GETSET", getset}, {"GETDEL", getdel}, {"GETEX", getex},
      {"MGET", mget},     {"SET", set},       {"SETNX", setnx},   {"PSETEX", psetex},
      {"MSET", mset},     {"MSETNX", msetnx}, {"INCR", incr},     {"DECR", decr},
      {"INCRBY", incrby}, {"DECRBY", decrby}, {"APPEND", append}, {"SETRANGE", setrange},
      {"STRLEN", strlen}};
  const auto found = kRuns.find(name);
  return found == kRuns.end() ? nullptr : found->second;
}

}  // namespace weir::simulation

#include "tools/weir_bench/workload.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include "resp/value.h"

namespace weir::bench {
namespace {

constexpr std::string_view kZero = "000000000000";
constexpr std::string_view kNeverLimited = "\r\n:-1\r\n:";
constexpr std::string_view kNextNumber = "\r\n:";

constexpr std::string_view kLimiterScript = R"(
local burst, count, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local quantity = tonumber(ARGV[4] or '1')
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = period * 1000000 / count
local full = interval * (burst + 1)
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
if tat < now then tat = now end
local after = tat + quantity * interval
if after - now > full then
  local left = math.floor((now + full - tat) / interval)
  return {1, burst + 1, left, math.ceil((after - full - now) / 1000000),
          math.ceil((tat - now) / 1000000)}
end
local lives = after - now
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', string.format('%.0f', math.ceil(lives / 1000)))
return {0, burst + 1, math.floor((full - lives) / interval), -1, math.ceil(lives / 1000000)}
)";

constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Steps over digits; answers false unless there is one.
bool take_number(const char** at, const char* end, uint64_t* value) {
  const char* p = *at;
  uint64_t number = 0;
  while (p != end && static_cast<unsigned char>(*p - '0') < 10) {
    number = number * 10 + static_cast<unsigned char>(*p++ - '0');
  }
  if (p == *at) return false;
  *at = p;
  *value = number;
  return true;
}

bool take_text(const char** at, const char* end, std::string_view text) {
  if (static_cast<size_t>(end - *at) < text.size()) return false;
  if (std::memcmp(*at, text.data(), text.size()) != 0) return false;
  *at += text.size();
  return true;
}

bool is_verdict(const resp::Value& value, int64_t limited) {
  return value.type == resp::Value::Type::kArray && value.elements.size() == 5 &&
         value.elements[0].type == resp::Value::Type::kInteger &&
         value.elements[0].integer == limited;
}

void note_bad(const resp::Value& value, Tally* tally) {
  ++(is_verdict(value, 1) ? tally->denied : tally->wrong);
  if (tally->first_bad.empty()) tally->first_bad = resp::to_string(value).substr(0, 200);
}

}  // namespace

std::string_view limiter_script() { return kLimiterScript; }

void write_key_digits(uint64_t key, char* out) {
  for (size_t i = kKeyDigits; i > 0; key /= 100) {
    i -= 2;
    std::memcpy(out + i, &kDigitPairs[2 * (key % 100)], 2);
  }
}

std::string encode_request(std::initializer_list<std::string_view> arguments) {
  std::string request = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string_view argument : arguments) {
    request += "$" + std::to_string(argument.size()) + "\r\n";
    request.append(argument).append("\r\n");
  }
  return request;
}

Workload::Workload(const Options& options, std::string_view script_sha1)
    : kind_(options.kind), permits_max_(static_cast<uint64_t>(options.max_burst)) {
  const std::string burst = std::to_string(options.max_burst);
  const std::string count = std::to_string(options.count);
  const std::string period = std::to_string(options.period_s);
  const std::string value(static_cast<size_t>(options.value_bytes), 'v');
  const std::string limit = std::to_string(options.max_burst + 1);
  const bool holds_text = kind_ == Kind::kSet || kind_ == Kind::kGet;
  const std::string_view prefix = holds_text ? "key:" : kind_ == Kind::kEvalsha ? "gcr:" : "lim:";
  const std::string key = std::string(prefix) + std::string(kZero);
  switch (kind_) {
    case Kind::kPing:
      request_ = encode_request({"PING"});
      expected_ = "+PONG\r\n";
      break;
    case Kind::kSet:
      request_ = encode_request({"SET", key, value, "EX", std::to_string(options.expire_s)});
      expected_ = "+OK\r\n";
      break;
    case Kind::kGet:
      request_ = encode_request({"GET", key});
      expected_ = "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
      break;
    case Kind::kThrottle:
      request_ = encode_request({"CL.THROTTLE", key, burst, count, period});
      expected_ = "*5\r\n:0\r\n:" + limit + "\r\n:";
      break;
    case Kind::kEvalsha:
      request_ = encode_request({"EVALSHA", script_sha1, "1", key, burst, count, period});
      expected_ = "*5\r\n:0\r\n:" + limit + "\r\n:";
      break;
    case Kind::kThrottlecrab:
      request_ = encode_request({"THROTTLE", key, burst, count, period});
      expected_ = "*5\r\n:1\r\n:" + burst + "\r\n:";
      break;
    default:  // collection_steps.h
      std::abort();
  }
  const size_t at = request_.find(key);
  if (at != request_.npos) key_offset_ = at + prefix.size();
}

size_t Workload::take_expected(std::string_view bytes) const {
  return bytes.starts_with(expected_) ? expected_.size() : 0;
}

// "granted, this limit, fewer permits left than it has, no wait, full again later"
size_t Workload::take_granted(std::string_view bytes) const {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  uint64_t remaining = 0, reset_after_s = 0;
  const bool granted = take_text(&at, end, expected_) && take_number(&at, end, &remaining) &&
                       take_text(&at, end, kNeverLimited) &&
                       take_number(&at, end, &reset_after_s) && take_text(&at, end, "\r\n") &&
                       remaining <= permits_max_ && reset_after_s > 0;
  return granted ? static_cast<size_t>(at - bytes.data()) : 0;
}

// throttlecrab's order: "granted, this limit, permits left, full again later, no wait"
size_t Workload::take_throttlecrab(std::string_view bytes) const {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  uint64_t remaining = 0, reset_after_s = 0, retry_after_s = 0;
  const bool granted = take_text(&at, end, expected_) && take_number(&at, end, &remaining) &&
                       take_text(&at, end, kNextNumber) && take_number(&at, end, &reset_after_s) &&
                       take_text(&at, end, kNextNumber) && take_number(&at, end, &retry_after_s) &&
                       take_text(&at, end, "\r\n") && remaining <= permits_max_ &&
                       retry_after_s == 0;
  return granted ? static_cast<size_t>(at - bytes.data()) : 0;
}

// Answers how many bytes the good reply has that these begin with; 0: they do not.
size_t Workload::take_good(std::string_view bytes) const {
  switch (kind_) {
    case Kind::kThrottle:
    case Kind::kEvalsha:
      return take_granted(bytes);
    case Kind::kThrottlecrab:
      return take_throttlecrab(bytes);
    default:
      return take_expected(bytes);
  }
}

// Anything but the good reply: incomplete, a miss, a denial, an error. 0 when incomplete or broken.
size_t Workload::take_other(std::string_view bytes, Tally* tally, bool* broken) const {
  resp::Value value;
  size_t size = 0;
  const resp::DecodeStatus status = resp::decode(bytes, &value, &size);
  if (status == resp::DecodeStatus::kError) {
    *broken = true;
    ++tally->wrong;
    if (tally->first_bad.empty()) tally->first_bad = "bytes that are no reply";
  }
  if (status != resp::DecodeStatus::kValue) return 0;
  if (kind_ == Kind::kGet && value.is_null()) {
    ++tally->absent;
    ++tally->good;
  } else {
    note_bad(value, tally);
  }
  return size;
}

Workload::Taken Workload::take_replies(std::string_view bytes, size_t replies_max,
                                       Tally* tally) const {
  Taken taken;
  while (taken.replies < replies_max && taken.bytes < bytes.size()) {
    const std::string_view rest = bytes.substr(taken.bytes);
    size_t size = take_good(rest);
    if (size != 0) {
      ++tally->good;
    } else {
      size = take_other(rest, tally, &taken.broken);
      if (size == 0) break;
    }
    taken.bytes += size;
    ++taken.replies;
  }
  return taken;
}

}  // namespace weir::bench

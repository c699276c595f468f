#include "tools/weir_bench/collection_steps.h"

#include <algorithm>
#include <cstdlib>

#include "tools/weir_bench/workload.h"

namespace weir::bench {
namespace {

constexpr uint64_t kElementsPerFill = 200;
// A prime, so that its multiples meet every element once in a seemingly random order.
constexpr uint64_t kStride = 1'000'003;
constexpr uint64_t kScores = 1'000'000;

std::string digits_of(char first, uint64_t number) {
  std::string text(1 + kKeyDigits, first);
  write_key_digits(number, text.data() + 1);
  return text;
}

std::string member_of(uint64_t number) { return digits_of('m', number); }
std::string value_of(uint64_t number) { return digits_of('v', number); }

uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 31) * 0x9fb21c651e98df25;
  return number ^ number >> 28;
}

void add_integer(std::string* replies, uint64_t integer) {
  replies->append(":").append(std::to_string(integer)).append("\r\n");
}

void add_bulk(std::string* out, std::string_view bytes) {
  out->append("$").append(std::to_string(bytes.size())).append("\r\n");
  out->append(bytes).append("\r\n");
}

void add_request(std::string* requests, std::initializer_list<std::string_view> words) {
  requests->append("*").append(std::to_string(words.size())).append("\r\n");
  for (const std::string_view word : words) add_bulk(requests, word);
}

struct Filling {
  std::string_view command;
  size_t words_per_element;
};

Filling filling_of(Kind kind) {
  if (kind == Kind::kZadd || kind == Kind::kZwindow) return {"ZADD", 2};
  if (kind == Kind::kHincrby || kind == Kind::kHset) return {"HSET", 2};
  return {kind == Kind::kList ? "LPUSH" : "SADD", 1};
}

}  // namespace

CollectionSteps::CollectionSteps(const Options& options, int64_t connection)
    : kind_(options.kind),
      size_(static_cast<uint64_t>(options.size)),
      elements_(static_cast<uint64_t>(options.elements)),
      collections_(elements_ / size_),
      fills_of_each_((size_ + kElementsPerFill - 1) / kElementsPerFill),
      prefix_(std::string(name_of(options.kind)) + ":" + std::to_string(connection) + ":") {}

size_t CollectionSteps::commands_per_step() const {
  return kind_ == Kind::kZwindow || kind_ == Kind::kList || kind_ == Kind::kMembers ? 2 : 1;
}

std::string CollectionSteps::key_of(uint64_t collection) const {
  return prefix_ + std::to_string(collection);
}

// Scores ascend with the members, numbers begin at 0, and a list's oldest value is its last.
void CollectionSteps::add_fill(uint64_t fill, std::string* requests, std::string* replies) const {
  const Filling filling = filling_of(kind_);
  const uint64_t first = fill % fills_of_each_ * kElementsPerFill;
  const uint64_t end = std::min(first + kElementsPerFill, size_);
  const size_t words = 2 + (end - first) * filling.words_per_element;
  requests->append("*").append(std::to_string(words)).append("\r\n");
  add_bulk(requests, filling.command);
  add_bulk(requests, key_of(fill / fills_of_each_));
  for (uint64_t i = first; i < end; ++i) {
    if (filling.command == "ZADD") add_bulk(requests, std::to_string(i));
    add_bulk(requests, kind_ == Kind::kList ? value_of(i) : member_of(i));
    if (filling.command == "HSET") add_bulk(requests, "0");
  }
  add_integer(replies, kind_ == Kind::kList ? end : end - first);
}

void CollectionSteps::add_step(uint64_t step, std::string* requests, std::string* replies) const {
  // Either any element, or the oldest and a newer one of a collection whose turn it is.
  const uint64_t element = step * kStride % elements_;
  const bool ages = kind_ == Kind::kZwindow || kind_ == Kind::kList;
  const std::string key = key_of(ages ? step % collections_ : element / size_);
  const std::string member = member_of(element % size_);
  const uint64_t oldest = step / collections_;
  const uint64_t newest = oldest + size_;
  switch (kind_) {
    case Kind::kZadd:
      add_request(requests, {"ZADD", key, std::to_string(mixed(step) % kScores), member});
      return add_integer(replies, 0);
    case Kind::kZwindow:
      add_request(requests, {"ZADD", key, std::to_string(newest), member_of(newest)});
      add_request(requests, {"ZREMRANGEBYSCORE", key, "-inf", std::to_string(oldest)});
      add_integer(replies, 1);
      return add_integer(replies, 1);
    case Kind::kHincrby:
      add_request(requests, {"HINCRBY", key, member, "1"});
      return add_integer(replies, step / elements_ + 1);
    case Kind::kHset:
      add_request(requests, {"HSET", key, member, value_of(step)});
      return add_integer(replies, 0);
    case Kind::kList:
      add_request(requests, {"LPUSH", key, value_of(newest)});
      add_request(requests, {"RPOP", key});
      add_integer(replies, size_ + 1);
      return add_bulk(replies, value_of(oldest));
    case Kind::kMembers:
      add_request(requests, {"SREM", key, member});
      add_request(requests, {"SADD", key, member});
      add_integer(replies, 1);
      return add_integer(replies, 1);
    default:
      std::abort();
  }
}

}  // namespace weir::bench

#include "server/http/grpc/reservation.h"

#include <algorithm>
#include <utility>

#include "algorithms/limit.h"
#include "base/heap_bytes.h"
#include "base/protobuf.h"
#include "resp/numbers.h"

namespace weir::server::grpc {
namespace {

using resp::Value;

// Of ReserveResponse and CommitResponse. DO NOT CHANGE.
constexpr uint32_t kReserveCode = 1;
constexpr uint32_t kReservationId = 2;
constexpr uint32_t kReleased = 1;

constexpr char kBetweenIds = ':';
constexpr std::string_view kNoHold = "-";
constexpr size_t kPlaceOfHold = 6;  // in the reply of RL.TAKE

Status no_reply_of_a_limiter() { return {Code::kInternal, "the reply is none of a limiter"}; }

std::string_view cut_word(std::string_view* text) {
  const size_t end = text->find(kBetweenIds);
  const std::string_view word = text->substr(0, end);
  *text = end == text->npos ? std::string_view() : text->substr(end + 1);
  return word;
}

}  // namespace

Result<std::unique_ptr<Ask>, Status> Reservation::reserve(const ReserveRequest& request,
                                                          const DescriptorRules& rules) {
  if (request.amount > static_cast<uint64_t>(algorithms::kCostMax))
    return Status{Code::kInvalidArgument, "the amount is above what a limit can count"};
  if (request.ttl_ms && *request.ttl_ms <= 0)
    return Status{Code::kInvalidArgument, "ttl must be above 0"};
  auto made = std::unique_ptr<Reservation>(
      new Reservation(Method::kReserve, static_cast<int64_t>(request.amount)));
  made->hold_ms_ = std::min(request.ttl_ms.value_or(kReserveMsDefault), kReserveMsMax);
  if (auto added = made->add(request.domain, request.descriptors, rules); !added)
    return added.error();
  return std::unique_ptr<Ask>(std::move(made));
}

Result<std::unique_ptr<Ask>, Status> Reservation::commit(const CommitRequest& request,
                                                         const DescriptorRules& rules) {
  if (request.amount > static_cast<uint64_t>(algorithms::kCostMax))
    return Status{Code::kInvalidArgument, "the amount is above what a limit can count"};
  auto made = std::unique_ptr<Reservation>(
      new Reservation(Method::kCommit, static_cast<int64_t>(request.amount)));
  if (auto added = made->add(request.domain, request.descriptors, rules); !added)
    return added.error();
  made->read_id(request.reservation_id);
  return std::unique_ptr<Ask>(std::move(made));
}

Result<void, Status> Reservation::add(std::string_view domain,
                                      const std::vector<Descriptor>& descriptors,
                                      const DescriptorRules& rules) {
  if (domain.empty()) return Status{Code::kInvalidArgument, "the domain is empty"};
  if (descriptors.empty()) return Status{Code::kInvalidArgument, "there is no descriptor"};
  for (const Descriptor& descriptor : descriptors) {
    auto asked = asked_key(descriptor, domain, rules, &passed_);
    if (!asked) return asked.error();
    if (!*asked) {
      ++unruled_;
    } else if (auto added = add_item(std::move(**asked)); !added) {
      return added.error();
    }
  }
  if (items_.size() > kKeysMax) {
    return Status{Code::kInvalidArgument,
                  "a request asks of " + std::to_string(kKeysMax) + " keys at most"};
  }
  const bool is_countable = std::ranges::all_of(
      items_, [this](const Item& item) { return item.times * amount_ <= algorithms::kCostMax; });
  if (is_countable) return {};
  return Status{Code::kInvalidArgument, "the amount of a key is above what a limit can count"};
}

Result<void, Status> Reservation::add_item(AskedKey asked) {
  const auto known = std::ranges::find(items_, asked.key, &Item::key);
  if (known == items_.end()) {
    items_.push_back({.key = std::move(asked.key),
                      .limits = std::move(asked.limits),
                      .is_closed = asked.closed.has_value()});
    return {};
  }
  if (known->limits != asked.limits)
    return Status{Code::kFailedPrecondition, "two descriptors have one key and different limits"};
  ++known->times;
  return {};
}

// What is no id of these items is as if nothing had been held.
void Reservation::read_id(std::string_view id) {
  if (id.empty()) return;
  const auto amount = resp::parse_int64(cut_word(&id));
  if (!amount || *amount < 0 || *amount > algorithms::kCostMax) return;
  std::vector<std::string> holds;
  while (!id.empty() && holds.size() <= items_.size()) {
    const std::string_view word = cut_word(&id);
    const auto number = resp::parse_int64(word);
    if (word != kNoHold && (!number || *number <= 0)) return;
    holds.emplace_back(word == kNoHold ? "" : word);
  }
  if (holds.size() != items_.size()) return;
  reserved_ = *amount;
  for (size_t i = 0; i < holds.size(); ++i) items_[i].hold = std::move(holds[i]);
}

std::string Reservation::id() const {
  std::string id = std::to_string(amount_);
  for (const Item& item : items_) {
    id += kBetweenIds;
    id += item.hold.empty() ? kNoHold : item.hold;
  }
  return id;
}

std::vector<Words> Reservation::next() {
  asked_.clear();
  const int phase = phase_++;
  if (method_ == Method::kReserve) return phase == 0 ? reserving() : std::vector<Words>();
  if (phase == 0) {
    if (auto words = settling(); !words.empty()) return words;
    phase_ = 2;
    return forcing();
  }
  return phase == 1 ? forcing() : std::vector<Words>();
}

std::vector<Words> Reservation::reserving() const {
  std::vector<Charge> charges;
  for (const Item& item : items_) {
    const int64_t cost = item.is_closed ? kClosedCost : amount_ * item.times;
    charges.push_back({item.key, &item.limits, cost});
  }
  std::vector<Words> all;
  if (charges.empty()) return all;
  if (amount_ > 0) {
    all.push_back(take_words(charges));
    all.back().insert(all.back().end(), {"HOLD", std::to_string(hold_ms_) + "ms"});
    return all;
  }
  for (Charge& charge : charges) {
    charge.cost = std::max<int64_t>(charge.cost, 1);
    all.push_back(peek_words(charge));
  }
  return all;
}

std::vector<Words> Reservation::settling() {
  std::vector<Words> all;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.hold.empty()) continue;
    all.push_back({"RL.SETTLE", item.key, item.hold, std::to_string(amount_ * item.times)});
    asked_.push_back(i);
  }
  return all;
}

// What was not settled: its hold was not found, or there was none.
std::vector<Words> Reservation::forcing() {
  std::vector<Charge> charges;
  for (const Item& item : items_) {
    const int64_t held = item.hold.empty() ? 0 : reserved_ * item.times;
    const int64_t cost = amount_ * item.times - held;
    if (cost > 0 && !item.is_closed && !item.is_settled)
      charges.push_back({item.key, &item.limits, cost});
  }
  if (charges.empty()) return {};
  Words words = take_words(charges);
  words.emplace_back("FORCE");
  return {std::move(words)};
}

Result<void, Status> Reservation::take(size_t place, const Value& reply) {
  if (reply.is_error()) return status_of_error(reply.text);
  if (method_ == Method::kReserve) return take_granted(reply);
  if (phase_ == 1 && reply.elements.size() == kPlaceOfHold) {
    if (reply.elements[0].integer == 0)
      return Status{Code::kFailedPrecondition, "the key's state cannot hold so large a debt"};
    items_[asked_[place]].is_settled = has_settled_ = true;
  }
  return {};
}

// The reply of RL.PEEK or RL.TAKE, or of RL.MTAKE, which has one of each key at its third place.
Result<void, Status> Reservation::take_granted(const Value& reply) {
  if (reply.elements.empty()) return no_reply_of_a_limiter();
  is_over_ |= reply.elements[0].integer == 0;
  if (is_over_ || amount_ == 0) return {};
  constexpr size_t kFirstKey = 2;
  const bool is_one = items_.size() == 1;
  if (!is_one && reply.elements.size() != kFirstKey + items_.size()) return no_reply_of_a_limiter();
  for (size_t i = 0; i < items_.size(); ++i) {
    const Value& granted = is_one ? reply : reply.elements[kFirstKey + i];
    if (granted.elements.size() <= kPlaceOfHold) return no_reply_of_a_limiter();
    const int64_t hold = granted.elements[kPlaceOfHold].integer;
    if (hold > 0) items_[i].hold = std::to_string(hold);  // in shadow nothing may be held
  }
  return {};
}

std::string Reservation::message() const {
  ProtobufWriter writer;
  if (method_ == Method::kCommit) {
    writer.nonzero(kReleased, has_settled_ ? 1 : 0);
    return writer.message();
  }
  const Verdict verdict = is_over_ ? Verdict::kOverLimit : Verdict::kOk;
  writer.nonzero(kReserveCode, static_cast<uint64_t>(verdict));
  if (!is_over_) writer.text(kReservationId, id());
  return writer.message();
}

size_t Reservation::memory_bytes() const {
  size_t bytes = block_bytes(sizeof(*this)) + heap_bytes(items_) + heap_bytes(asked_);
  for (const Item& item : items_)
    bytes += heap_bytes(item.key) + heap_bytes(item.limits) + heap_bytes(item.hold);
  return bytes;
}

}  // namespace weir::server::grpc

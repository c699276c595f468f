#include "server/http/grpc/rate_limit_messages.h"

#include <algorithm>

#include "base/protobuf.h"
#include "base/time_units.h"
#include "server/http/grpc/wire.h"

namespace weir::server::grpc {
namespace {

// Of RateLimitRequest.
constexpr uint32_t kDomain = 1;
constexpr uint32_t kDescriptors = 2;
constexpr uint32_t kHits = 3;
// Of RateLimitDescriptor, its Entry, its RateLimitOverride, and of UInt32Value and UInt64Value.
constexpr uint32_t kEntries = 1;
constexpr uint32_t kLimit = 2;
constexpr uint32_t kHitsOfDescriptor = 3;
constexpr uint32_t kGivesBack = 4;
constexpr uint32_t kEntryName = 1;
constexpr uint32_t kEntryValue = 2;
constexpr uint32_t kOverrideRequests = 1;
constexpr uint32_t kOverrideUnit = 2;
constexpr uint32_t kOverrideMultiplier = 3;
constexpr uint32_t kWrapped = 1;
// Of RateLimitResponse, DescriptorStatus, RateLimit, Duration and HeaderValue.
constexpr uint32_t kOverallCode = 1;
constexpr uint32_t kStatuses = 2;
constexpr uint32_t kResponseHeaders = 3;
constexpr uint32_t kMetadata = 6;
constexpr uint32_t kStatusCode = 1;
constexpr uint32_t kStatusLimit = 2;
constexpr uint32_t kStatusRemaining = 3;
constexpr uint32_t kStatusReset = 4;
constexpr uint32_t kLimitRequests = 1;
constexpr uint32_t kLimitUnit = 2;
constexpr uint32_t kLimitName = 3;
constexpr uint32_t kLimitMultiplier = 4;
constexpr uint32_t kDurationSeconds = 1;
constexpr uint32_t kDurationNanoseconds = 2;
constexpr uint32_t kHeaderName = 1;
constexpr uint32_t kHeaderValue = 2;
// Of ReserveRequest and CommitRequest, besides domain and descriptors.
constexpr uint32_t kReserveAmount = 3;
constexpr uint32_t kReserveTtl = 4;
constexpr uint32_t kCommitId = 3;
constexpr uint32_t kCommitAmount = 4;

// Each reads one message into what may have been read of it before, as a message that stands twice
// is the two of them together; false: it is none.
bool read_entry(std::string_view message, DescriptorEntry* entry) {
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_bytes(kEntryName)) entry->name = reader.bytes();
    if (reader.is_bytes(kEntryValue)) entry->value = reader.bytes();
  }
  return reader.ok();
}

bool read_wrapped(std::string_view message, std::optional<uint64_t>* number) {
  if (!*number) *number = 0;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_number(kWrapped)) *number = reader.number();
  }
  return reader.ok();
}

bool read_override(std::string_view message, std::optional<LimitOverride>* limit) {
  if (!*limit) limit->emplace();
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_number(kOverrideRequests))
      (*limit)->requests = static_cast<uint32_t>(reader.number());
    if (reader.is_number(kOverrideUnit)) (*limit)->unit = reader.number();
    if (!reader.is_bytes(kOverrideMultiplier)) continue;
    std::optional<uint64_t> multiplier;
    if (!read_wrapped(reader.bytes(), &multiplier)) return false;
    (*limit)->multiplier = static_cast<uint32_t>(*multiplier);
  }
  return reader.ok();
}

// Of too many entries one more than there may be is kept, by which they are seen.
bool read_descriptor(std::string_view message, Descriptor* descriptor) {
  WireReader reader(message);
  bool is_read = true;
  while (is_read && reader.next()) {
    if (reader.is_bytes(kEntries) && descriptor->entries.size() <= kDescriptorEntriesMax) {
      descriptor->entries.emplace_back();
      is_read = read_entry(reader.bytes(), &descriptor->entries.back());
    }
    if (reader.is_bytes(kLimit)) is_read = read_override(reader.bytes(), &descriptor->limit);
    if (reader.is_bytes(kHitsOfDescriptor))
      is_read = read_wrapped(reader.bytes(), &descriptor->hits);
    if (reader.is_number(kGivesBack)) descriptor->gives_back = reader.number() != 0;
  }
  return is_read && reader.ok();
}

// Takes the field that the reader is at, if it is a descriptor.
Result<void, std::string> read_next_descriptor(const WireReader& reader,
                                               std::vector<Descriptor>* descriptors) {
  if (!reader.is_bytes(kDescriptors)) return {};
  if (descriptors->size() == kDescriptorsMax)
    return "a request has at most " + std::to_string(kDescriptorsMax) + " descriptors";
  descriptors->emplace_back();
  if (!read_descriptor(reader.bytes(), &descriptors->back()))
    return "descriptor " + std::to_string(descriptors->size() - 1) + " is no message";
  if (descriptors->back().entries.size() > kDescriptorEntriesMax)
    return "a descriptor has at most " + std::to_string(kDescriptorEntriesMax) + " entries";
  return {};
}

// Seconds beyond a thousand years are as many as these.
bool read_duration(std::string_view message, std::optional<int64_t>* ms) {
  constexpr int64_t kSecondsMax = 365'000 * kSPerDay;
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_number(kDurationSeconds)) seconds = static_cast<int64_t>(reader.number());
    if (reader.is_number(kDurationNanoseconds)) nanoseconds = static_cast<int32_t>(reader.number());
  }
  seconds = std::clamp(seconds, -kSecondsMax, kSecondsMax);
  *ms = seconds * kMsPerS + (nanoseconds + (nanoseconds > 0 ? kNsPerMs - 1 : 0)) / kNsPerMs;
  return reader.ok();
}

std::string written_limit(const CurrentLimit& limit) {
  ProtobufWriter writer;
  writer.nonzero(kLimitRequests, limit.requests);
  writer.nonzero(kLimitUnit, static_cast<uint64_t>(limit.unit));
  writer.text(kLimitName, limit.name);
  if (limit.multiplier != 1) {
    ProtobufWriter wrapped;
    wrapped.nonzero(kWrapped, limit.multiplier);
    writer.bytes(kLimitMultiplier, wrapped.message());
  }
  return writer.message();
}

std::string written_duration(int64_t ms) {
  ProtobufWriter writer;
  writer.nonzero(kDurationSeconds, static_cast<uint64_t>(ms / kMsPerS));
  writer.nonzero(kDurationNanoseconds, static_cast<uint64_t>(ms % kMsPerS * kNsPerMs));
  return writer.message();
}

std::string written_status(const DescriptorStatus& status) {
  ProtobufWriter writer;
  writer.nonzero(kStatusCode, static_cast<uint64_t>(status.verdict));
  if (status.limit) writer.bytes(kStatusLimit, written_limit(*status.limit));
  writer.nonzero(kStatusRemaining, status.remaining);
  if (status.reset_ms) writer.bytes(kStatusReset, written_duration(*status.reset_ms));
  return writer.message();
}

}  // namespace

Result<RateLimitRequest, std::string> read_rate_limit_request(std::string_view message) {
  RateLimitRequest request;
  request.hits = 0;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_bytes(kDomain)) request.domain = reader.bytes();
    if (reader.is_number(kHits)) request.hits = static_cast<uint32_t>(reader.number());
    if (auto read = read_next_descriptor(reader, &request.descriptors); !read) return read.error();
  }
  if (!reader.ok()) return "this is no RateLimitRequest";
  request.has_hits = request.hits != 0;
  if (request.hits == 0) request.hits = 1;
  return request;
}

Result<ReserveRequest, std::string> read_reserve_request(std::string_view message) {
  ReserveRequest request;
  bool is_read = true;
  WireReader reader(message);
  while (is_read && reader.next()) {
    if (reader.is_bytes(kDomain)) request.domain = reader.bytes();
    if (reader.is_number(kReserveAmount)) request.amount = reader.number();
    if (reader.is_bytes(kReserveTtl)) is_read = read_duration(reader.bytes(), &request.ttl_ms);
    if (auto read = read_next_descriptor(reader, &request.descriptors); !read) return read.error();
  }
  if (!is_read || !reader.ok()) return "this is no ReserveRequest";
  return request;
}

Result<CommitRequest, std::string> read_commit_request(std::string_view message) {
  CommitRequest request;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_bytes(kDomain)) request.domain = reader.bytes();
    if (reader.is_bytes(kCommitId)) request.reservation_id = reader.bytes();
    if (reader.is_number(kCommitAmount)) request.amount = reader.number();
    if (auto read = read_next_descriptor(reader, &request.descriptors); !read) return read.error();
  }
  if (!reader.ok()) return "this is no CommitRequest";
  return request;
}

std::string written(const RateLimitResponse& response) {
  ProtobufWriter writer;
  writer.nonzero(kOverallCode, static_cast<uint64_t>(response.verdict));
  for (const DescriptorStatus& status : response.statuses)
    writer.bytes(kStatuses, written_status(status));
  for (const auto& [name, value] : response.headers) {
    ProtobufWriter header;
    header.text(kHeaderName, name);
    header.text(kHeaderValue, value);
    writer.bytes(kResponseHeaders, header.message());
  }
  writer.text(kMetadata, response.metadata);
  return writer.message();
}

}  // namespace weir::server::grpc

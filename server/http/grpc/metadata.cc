#include "server/http/grpc/metadata.h"

#include <string_view>

#include "base/heap_bytes.h"
#include "base/protobuf.h"
#include "server/http/format/json_value.h"

namespace weir::server::grpc {
namespace {

// Numbers of google/protobuf/struct.proto. DO NOT CHANGE.
namespace structs {

constexpr uint32_t kField = 1, kName = 1, kFieldValue = 2, kElement = 1;
constexpr uint32_t kNumber = 2, kText = 3, kTruth = 4, kStruct = 5, kList = 6;

}  // namespace structs

std::string as_utf8(std::string_view text) {
  std::string valid(text);
  if (http::is_utf8(text)) return valid;
  for (char& c : valid) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return valid;
}

std::string value_of(uint32_t kind, std::string_view bytes) {
  ProtobufWriter writer;
  writer.bytes(kind, bytes);
  return writer.message();
}

std::string text_value(std::string_view text) { return value_of(structs::kText, as_utf8(text)); }

std::string number_value(uint64_t number) {
  ProtobufWriter writer;
  writer.real(structs::kNumber, static_cast<double>(number));
  return writer.message();
}

void add_field(std::string_view name, std::string_view value, ProtobufWriter* fields) {
  ProtobufWriter field;
  field.text(structs::kName, name);
  field.bytes(structs::kFieldValue, value);
  fields->bytes(structs::kField, field.message());
}

std::string written_descriptor(const AskedMetadata::Asked& asked, const DescriptorStatus& status) {
  ProtobufWriter fields;
  ProtobufWriter entries;
  for (const std::string& entry : asked.entries)
    entries.bytes(structs::kElement, text_value(entry));
  add_field("entries", value_of(structs::kList, entries.message()), &fields);
  if (asked.hits) add_field("hitsAddend", number_value(*asked.hits), &fields);
  const bool is_ok = status.verdict == Verdict::kOk;
  add_field("code", text_value(is_ok ? "OK" : "OVER_LIMIT"), &fields);
  if (status.limit) {
    if (!status.limit->name.empty()) add_field("policy", text_value(status.limit->name), &fields);
    add_field("remaining", number_value(status.remaining), &fields);
  }
  return value_of(structs::kStruct, fields.message());
}

}  // namespace

AskedMetadata::AskedMetadata(const RateLimitRequest& request) : domain(request.domain) {
  if (request.has_hits) hits = request.hits;
  for (const Descriptor& descriptor : request.descriptors) {
    Asked& asked = descriptors.emplace_back();
    asked.hits = descriptor.hits;
    for (const DescriptorEntry& entry : descriptor.entries)
      asked.entries.push_back(std::string(entry.name) + "=" + std::string(entry.value));
  }
}

size_t AskedMetadata::memory_bytes() const {
  size_t bytes = heap_bytes(domain) + heap_bytes(descriptors);
  for (const Asked& asked : descriptors) bytes += heap_bytes(asked.entries);
  return bytes;
}

std::string written_metadata(const AskedMetadata& asked,
                             const std::vector<DescriptorStatus>& statuses) {
  ProtobufWriter fields;
  add_field("domain", text_value(asked.domain), &fields);
  if (asked.hits) add_field("hitsAddend", number_value(*asked.hits), &fields);
  ProtobufWriter truth;
  truth.number(structs::kTruth, 0);
  add_field("quotaModeEnabled", truth.message(), &fields);
  ProtobufWriter descriptors;
  for (size_t i = 0; i < asked.descriptors.size() && i < statuses.size(); ++i)
    descriptors.bytes(structs::kElement, written_descriptor(asked.descriptors[i], statuses[i]));
  add_field("descriptors", value_of(structs::kList, descriptors.message()), &fields);
  return fields.message();
}

}  // namespace weir::server::grpc

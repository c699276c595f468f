#include "server/otlp/spans_message.h"

#include <vector>

#include "base/encoded_bytes.h"

namespace weir::server::otlp {
namespace {

constexpr uint64_t kServes = 2;  // SPAN_KIND_SERVER
constexpr uint64_t kError = 2;   // STATUS_CODE_ERROR

std::string_view text_of_digits(const auto& digits) { return {digits.data(), digits.size()}; }

std::string fresh_span_id(Random* random) {
  uint64_t id = 0;
  while (id == 0) id = random->next();  // an id that is all zero is none
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(id >> (8 * i) & 0xff));
  return bytes;
}

std::string span_message(const Span& span, Random* random) {
  ProtobufWriter out;
  out.bytes(1, bytes_of_hex(text_of_digits(span.trace_id)).value_or(""));
  out.bytes(2, fresh_span_id(random));
  out.bytes(4, bytes_of_hex(text_of_digits(span.parent_id)).value_or(""));
  out.text(5, span.name);
  out.number(6, kServes);
  out.fixed64(7, static_cast<uint64_t>(span.begin_unix_ns));
  out.fixed64(8, static_cast<uint64_t>(span.begin_unix_ns + span.duration_ns));
  if (span.failed) {
    ProtobufWriter status;
    status.number(3, kError);
    out.bytes(15, status.message());
  }
  return out.message();
}

}  // namespace

std::string spans_message(std::span<const Span> spans, const Attributes& resource, Random* random) {
  std::vector<std::string> messages;
  for (const Span& span : spans) messages.push_back(span_message(span, random));
  return request_of(resource, messages);
}

}  // namespace weir::server::otlp

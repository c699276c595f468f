// Protocol Buffers as they are on the wire (the specification's "Encoding"): a writer of messages.
//
// It is written out because OTLP and gRPC take a dozen small messages each and nothing more. The
// library would have a compiler of its own run before ours, and brings headers that take seconds to
// read. What is given up are messages that are described by files.
//
// A nested message is made by a writer of its own, and put in as bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/varint.h"

namespace weir {

class ProtobufWriter {
 public:
  // An integer of any size, an enumerator or a truth, but none that is signed.
  void number(uint32_t field, uint64_t value) {
    head(field, kVarint);
    varint(value);
  }
  // The same, but 0 is left out, as absent means the same.
  void nonzero(uint32_t field, uint64_t value) {
    if (value != 0) number(field, value);
  }
  // fixed64 and sfixed64
  void fixed64(uint32_t field, uint64_t value) {
    head(field, kFixed64);
    eight_bytes(value);
  }
  void real(uint32_t field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
  // Text, bytes, or a nested message. It stands even if it is empty.
  void bytes(uint32_t field, std::string_view value) {
    head(field, kBytes);
    varint(value.size());
    out_.append(value);
  }
  // The same, but what is empty is left out, as absent means the same.
  void text(uint32_t field, std::string_view value) {
    if (!value.empty()) bytes(field, value);
  }
  // Repeated fields of numbers, packed.
  void fixed64s(uint32_t field, std::span<const uint64_t> values) {
    head(field, kBytes);
    varint(values.size() * sizeof(uint64_t));
    for (const uint64_t value : values) eight_bytes(value);
  }
  void reals(uint32_t field, std::span<const double> values) {
    head(field, kBytes);
    varint(values.size() * sizeof(double));
    for (const double value : values) eight_bytes(std::bit_cast<uint64_t>(value));
  }

  const std::string& message() const { return out_; }

 private:
  // They are on the wire. DO NOT CHANGE.
  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2;
  static constexpr int kTypeBits = 3;

  void head(uint32_t field, uint32_t type) { varint(uint64_t{field} << kTypeBits | type); }
  void varint(uint64_t value) {
    char text[kVarintBytesMax];
    out_.append(text, put_varint(text, value));
  }
  // The least significant byte first, on whatever machine.
  void eight_bytes(uint64_t value) {
    for (int i = 0; i < 8; ++i) out_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }

  std::string out_;
};

}  // namespace weir

// Protocol Buffers as they are on the wire (the specification's "Encoding"), read: fields with
// numbers, one after the other, in any order. base/protobuf.h writes them, and says why no library
// does.
//
// It keeps nothing: what it answers points into what it was given. Nested messages are read by a
// reader each, so that depth is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::server::grpc {

// The fields of a message:
//
//     WireReader reader(bytes);
//     while (reader.next()) {
//       if (reader.is_bytes(1)) domain = reader.bytes();
//       if (reader.is_number(3)) hits = reader.number();
//     }
//     if (!reader.ok()) ...
//
// A field of another type than the one that is asked for is passed over as if it were unknown. So
// is what has a fixed size of 4 or 8 bytes. Groups, which have been given up, are an error.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}

  // Goes on to the next field; false at the end, and where the bytes are no message.
  bool next();
  bool ok() const { return ok_; }

  bool is_bytes(uint32_t field) const { return field == field_ && type_ == Type::kBytes; }
  bool is_number(uint32_t field) const { return field == field_ && type_ == Type::kVarint; }
  // REQUIRES: it is such a field.
  std::string_view bytes() const { return bytes_; }
  uint64_t number() const { return number_; }

 private:
  // The numbers are on the wire. DO NOT CHANGE.
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  bool fail();
  bool read_varint(uint64_t* value);
  bool read_value();

  std::string_view left_;
  bool ok_ = true;
  uint32_t field_ = 0;
  Type type_ = Type::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

}  // namespace weir::server::grpc

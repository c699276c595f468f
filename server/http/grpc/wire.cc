#include "server/http/grpc/wire.h"

namespace weir::server::grpc {
namespace {

constexpr uint64_t kFieldMax = (uint64_t{1} << 29) - 1;
constexpr int kVarintBytesMax = 10;
constexpr int kTypeBits = 3;

}  // namespace

bool WireReader::fail() {
  ok_ = false;
  left_ = {};
  return false;
}

bool WireReader::read_varint(uint64_t* value) {
  *value = 0;
  for (int i = 0; i < kVarintBytesMax && !left_.empty(); ++i) {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << (7 * i);  // what is beyond 64 bits is dropped, as elsewhere
    if (byte < 0x80) return true;
  }
  return fail();
}

bool WireReader::next() {
  if (left_.empty()) return false;
  uint64_t head = 0;
  if (!read_varint(&head)) return false;
  const uint64_t field = head >> kTypeBits;
  if (field == 0 || field > kFieldMax) return fail();
  field_ = static_cast<uint32_t>(field);
  type_ = static_cast<Type>(head & ((1 << kTypeBits) - 1));
  return read_value();
}

bool WireReader::read_value() {
  uint64_t size = 0;
  switch (type_) {
    case Type::kVarint:
      return read_varint(&number_);
    case Type::kFixed64:
      size = 8;
      break;
    case Type::kFixed32:
      size = 4;
      break;
    case Type::kBytes:
      if (!read_varint(&size)) return false;
      break;
    default:
      return fail();
  }
  if (size > left_.size()) return fail();
  bytes_ = left_.substr(0, size);
  left_.remove_prefix(size);
  return true;
}

}  // namespace weir::server::grpc

#include "server/script/function_dump.h"

#include <array>
#include <cstdint>

namespace weir::server::script {
namespace {

constexpr uint8_t kLibrary = 245;
constexpr uint16_t kVersion = 10;  // that of Redis 7.0, which newer ones read as well
constexpr size_t kFooterBytes = 10;
constexpr uint8_t kCompressed = 0xc3;
constexpr size_t kCodeBytesMax = 512 << 20;
constexpr const char* kNotWhole = "ERR DUMP payload version or checksum are wrong";
constexpr const char* kBroken = "ERR failed loading functions payload";

// Jones' polynomial, bits mirrored.
constexpr std::array<uint64_t, 256> kCrcTable = [] {
  std::array<uint64_t, 256> table = {};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x95ac9329ac4bc9b5 : 0);
    table[byte] = crc;
  }
  return table;
}();

uint64_t crc64(std::string_view bytes) {
  uint64_t crc = 0;
  for (const char c : bytes)
    crc = kCrcTable[static_cast<uint8_t>(crc ^ static_cast<uint8_t>(c))] ^ crc >> 8;
  return crc;
}

void put_le(std::string* out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void put_be(std::string* out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void put_size(std::string* out, uint64_t size) {
  if (size < 1 << 6) {
    put_be(out, size, 1);
  } else if (size < 1 << 14) {
    put_be(out, size | 1 << 14, 2);
  } else {
    put_be(out, 0x80, 1);
    put_be(out, size, 4);
  }
}

// Takes from the front; once there is too little, everything is zero and `ok` false.
struct Reader {
  std::string_view rest;
  bool ok = true;

  std::string_view bytes(uint64_t size) {
    ok = ok && size <= rest.size();
    if (!ok) return {};
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  uint8_t byte() {
    const std::string_view taken = bytes(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  uint64_t be(int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | byte();
    return value;
  }
  uint64_t size_behind(uint8_t first) {
    if (first >> 6 == 0) return first;
    if (first >> 6 == 1) return static_cast<uint64_t>(first & 63) << 8 | byte();
    if (first == 0x80) return be(4);
    if (first == 0x81) return be(8);
    ok = false;
    return 0;
  }
  uint64_t size() { return size_behind(byte()); }
};

// LZF: a byte below 32 announces so many bytes and one as they are; others a distance back and how
// much to repeat from there.
bool decompress(std::string_view packed, size_t size, std::string* out) {
  Reader reader = {packed};
  while (reader.ok && !reader.rest.empty()) {
    const uint8_t head = reader.byte();
    if (head < 32) {
      out->append(reader.bytes(head + 1u));
    } else {
      size_t length = head >> 5;
      if (length == 7) length += reader.byte();
      const size_t back = (static_cast<size_t>(head & 31) << 8 | reader.byte()) + 1;
      if (!reader.ok || back > out->size()) return false;
      for (size_t i = 0; i < length + 2; ++i) out->push_back((*out)[out->size() - back]);
    }
    if (out->size() > size) return false;
  }
  return reader.ok && out->size() == size;
}

bool read_code(Reader* reader, std::string* code) {
  const uint8_t first = reader->byte();
  if (first != kCompressed) {
    *code = reader->bytes(reader->size_behind(first));
    return reader->ok;
  }
  const uint64_t packed = reader->size();
  const uint64_t size = reader->size();
  return reader->ok && size <= kCodeBytesMax && decompress(reader->bytes(packed), size, code);
}

uint64_t le(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

}  // namespace

std::string dump_libraries(const std::vector<std::string_view>& codes) {
  std::string payload;
  for (const std::string_view code : codes) {
    payload.push_back(static_cast<char>(kLibrary));
    put_size(&payload, code.size());
    payload.append(code);
  }
  put_le(&payload, kVersion, 2);
  put_le(&payload, crc64(payload), 8);
  return payload;
}

std::optional<std::vector<std::string>> parse_dump(std::string_view payload, std::string* error) {
  *error = kNotWhole;
  if (payload.size() < kFooterBytes) return std::nullopt;
  const size_t crc_at = payload.size() - 8;
  if (crc64(payload.substr(0, crc_at)) != le(payload.substr(crc_at))) return std::nullopt;
  Reader reader = {payload.substr(0, payload.size() - kFooterBytes)};
  std::vector<std::string> codes;
  while (!reader.rest.empty()) {
    if (reader.byte() != kLibrary) {
      *error = "ERR given type is not a function";
      return std::nullopt;
    }
    *error = kBroken;
    if (!read_code(&reader, &codes.emplace_back())) return std::nullopt;
  }
  return codes;
}

}  // namespace weir::server::script

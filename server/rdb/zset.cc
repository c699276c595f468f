#include <bit>
#include <cmath>
#include <limits>

#include "resp/numbers.h"
#include "server/rdb/collections.h"
#include "server/rdb/integers.h"
#include "server/rdb/packed.h"
#include "server/rdb/writer.h"

namespace weir::server::rdb {
namespace {

// These values are in the place of a text score's length.
constexpr uint8_t kNan = 253, kInfinity = 254, kMinusInfinity = 255;
constexpr size_t kScoreBytes = sizeof(double);

// Answers NaN if the text is no score.
double parse_score(std::string_view text) {
  return resp::parse_double(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

double read_text_score(Reader* reader) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const uint8_t length = reader->byte();
  if (length == kInfinity) return kEndless;
  if (length == kMinusInfinity) return -kEndless;
  if (length == kNan) return std::numeric_limits<double>::quiet_NaN();
  return parse_score(reader->bytes(length));
}

double read_score(Type type, Reader* reader) {
  if (type == Type::kZsetText) return read_text_score(reader);
  return std::bit_cast<double>(load_unsigned(reader->bytes(kScoreBytes)));
}

bool read_plain(Type type, Reader* reader, Value* value) {
  const uint64_t size = reader->size();
  if (!reader->ok() || size > reader->left() / 2) return false;
  value->texts.reserve(size);
  value->scores.reserve(size);
  for (uint64_t i = 0; i < size && reader->ok(); ++i) {
    value->texts.push_back(reader->text());
    value->scores.push_back(read_score(type, reader));
    if (std::isnan(value->scores.back())) return false;
  }
  return reader->ok();
}

bool stand_in_order(const Value& value, size_t first) {
  const double here = value.scores[first], next = value.scores[first + 1];
  return here < next || (here == next && value.texts[first] < value.texts[first + 1]);
}

// Separates members and scores, which alternate.
bool part(Value* value) {
  if (value->texts.size() % 2 != 0) return false;
  const size_t size = value->texts.size() / 2;
  for (size_t i = 0; i < size; ++i) {
    value->scores.push_back(parse_score(value->texts[2 * i + 1]));
    value->texts[i] = value->texts[2 * i];
    if (std::isnan(value->scores[i])) return false;
    if (i > 0 && !stand_in_order(*value, i - 1)) return false;
  }
  value->texts.resize(size);
  return true;
}

bool read_packed(Type type, Reader* reader, Value* value) {
  const std::string_view packed = reader->text();
  if (!reader->ok()) return false;
  const bool whole =
      type == Type::kZsetZiplist ? read_ziplist(packed, value) : read_listpack(packed, value);
  return whole && part(value);
}

// Whole numbers are written without an exponent, even those that would have one.
std::string packed_score(double score) {
  constexpr double kWholeMax = 4611686018427387904.0;  // 2^62
  const bool whole = std::abs(score) <= kWholeMax && std::trunc(score) == score;
  return whole ? std::to_string(static_cast<int64_t>(score)) : resp::format_double(score);
}

}  // namespace

bool read_zset(Type type, Reader* reader, Value* value) {
  const bool plain = type == Type::kZset || type == Type::kZsetText;
  const bool whole = plain ? read_plain(type, reader, value) : read_packed(type, reader, value);
  return whole && !has_twins(*value, 1);
}

void write_zset(const Value& value, std::string* out) {
  if (value.compact) {
    ListpackWriter packed;
    for (size_t i = 0; i < value.texts.size(); ++i) {
      packed.add(value.texts[i]);
      packed.add(packed_score(value.scores[i]));
    }
    put_type(out, Type::kZsetListpack);
    return put_bytes(out, packed.finish());
  }
  put_type(out, Type::kZset);
  put_size(out, value.texts.size());
  for (size_t i = value.texts.size(); i > 0; --i) {  // Redis, too, begins with the highest
    put_text(out, value.texts[i - 1]);
    put_little_endian(out, std::bit_cast<uint64_t>(value.scores[i - 1]), kScoreBytes);
  }
}

}  // namespace weir::server::rdb

// Redis' compact forms of a collection: one run of bytes that holds all elements.
//
// Each reader appends what it finds to value->texts; false unless the bytes are whole to the last
// one. All their numbers of elements, lengths and sums are checked. The caller looks for twins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/rdb/value.h"

namespace weir::server::rdb {

// listpack := bytes(u32) elements(u16) (entry backlen)... 0xff
[[nodiscard]] bool read_listpack(std::string_view bytes, Value* value);
// ziplist := bytes(u32) offset of the last entry(u32) elements(u16) (prevlen entry)... 0xff
[[nodiscard]] bool read_ziplist(std::string_view bytes, Value* value);
// zipmap := elements(u8) (length field length spare(u8) value spare bytes)... 0xff
[[nodiscard]] bool read_zipmap(std::string_view bytes, Value* value);
// intset := width(u32, 2, 4 or 8) elements(u32) integer...   rising
[[nodiscard]] bool read_intset(std::string_view bytes, Value* value);

// Writes an intset. REQUIRES: value.texts are integers in their canonical spelling, rising.
std::string write_intset(const Value& value);

// Writes a listpack; a text that is an integer in canonical spelling becomes one.
class ListpackWriter {
 public:
  ListpackWriter();
  void add(std::string_view text);
  size_t entries() const { return entries_; }
  size_t size() const { return bytes_.size() + 1; }  // the size that finish() would answer
  // Answers the bytes; the writer then begins anew.
  std::string finish();

 private:
  std::string bytes_;
  size_t entries_ = 0;
};

}  // namespace weir::server::rdb

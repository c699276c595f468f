#include "server/limiter/policy/request_cache.h"

#include <cstring>
#include <functional>

namespace weir::server {
namespace {

// A size before each word keeps "ab c" and "a bc" apart.
size_t join(Args words, char* out, size_t room) {
  size_t at = 0;
  for (const std::string_view word : words) {
    const auto size = static_cast<uint16_t>(word.size());
    if (word.size() > room || at + sizeof size + word.size() > room) return 0;
    std::memcpy(out + at, &size, sizeof size);
    std::memcpy(out + at + sizeof size, word.data(), word.size());
    at += sizeof size + word.size();
  }
  return at;
}

}  // namespace

RequestCache::Parsed RequestCache::parse(Args words, uint32_t options) {
  char joined[kBytesMax];
  const size_t size = join(words, joined, sizeof joined);
  if (size == 0) return parse_anew(words, options);
  const std::string_view key(joined, size);
  Place& place = places_[(std::hash<std::string_view>()(key) ^ options) % kPlaces];
  if (place.options == options && place.words == key) return &place.request;
  const Parsed parsed = parse_anew(words, options);
  if (!parsed || !(*parsed)->id.empty() || (*parsed)->traced) return parsed;
  place = {.options = options, .words = std::string(key), .request = **parsed};
  return &place.request;
}

RequestCache::Parsed RequestCache::parse_anew(Args words, uint32_t options) {
  auto parsed = parse_request(words, options, zones_);
  if (!parsed) return parsed.error();
  uncached_ = std::move(parsed.value());
  return &uncached_;
}

}  // namespace weir::server

#include "server/limiter/policy/request_cache.h"

#include <cstring>
#include <functional>

#include "base/ascii.h"

namespace weir::server {
namespace {

constexpr size_t kNoToken = 0;           // the first word is none
constexpr uint16_t kTokenMark = 0xffff;  // in place of a size, which is smaller

// Answers which word seems to be an ID's token: that after the last word ID. The parser may see it
// otherwise, where ID is a policy's name for instance.
size_t token_in(Args words, uint32_t options) {
  if ((options & kIdOption) == 0) return kNoToken;
  for (size_t i = words.size(); i > 1; --i) {
    if (equals_ignoring_case(words[i - 2], "ID")) return i - 1;
  }
  return kNoToken;
}

bool can_be_token(std::string_view word) { return !word.empty() && word.size() <= kIdBytesMax; }

// A size before each word keeps "ab c" and "a bc" apart. Answers 0 where there is no room.
size_t join(Args words, size_t token, char* out, size_t room) {
  size_t at = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_token = i == token && token != kNoToken;
    const std::string_view word = is_token ? std::string_view() : words[i];
    const auto size = is_token ? kTokenMark : static_cast<uint16_t>(word.size());
    if (word.size() > room || at + sizeof size + word.size() > room) return 0;
    std::memcpy(out + at, &size, sizeof size);
    word.copy(out + at + sizeof size, word.size());  // which may be nowhere if it is empty
    at += sizeof size + word.size();
  }
  return at;
}

}  // namespace

RequestCache::Parsed RequestCache::parse(Args words, uint32_t options) {
  if (words.size() > kWordsMax) return parse_anew(words, options);
  const size_t token = token_in(words, options);
  if (token != kNoToken && !can_be_token(words[token])) return parse_anew(words, options);
  char joined[kBytesMax];
  const size_t size = join(words, token, joined, sizeof joined);
  if (size == 0) return parse_anew(words, options);
  const std::string_view key(joined, size);
  Place& place = places_[(std::hash<std::string_view>()(key) ^ options) % kPlaces];
  if (place.options == options && place.words == key) {
    if (token != kNoToken) place.request.id = words[token];
    return &place.request;
  }
  const Parsed parsed = parse_anew(words, options);
  if (!parsed || (*parsed)->id_word != token || (*parsed)->traced) return parsed;
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

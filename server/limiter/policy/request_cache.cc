#include "server/limiter/policy/request_cache.h"

#include <algorithm>
#include <cstring>

#include "base/ascii.h"

namespace weir::server {
namespace {

constexpr size_t kNoToken = 0;  // the first word is never one
constexpr uint16_t kTokenMark = 0xffff;

// Which word seems to be the token of an ID: that after the last word ID. It may be another one,
// where that is a name, for instance.
size_t token_in(Args words, uint32_t options) {
  if ((options & kIdOption) == 0) return kNoToken;
  for (size_t i = words.size(); i > 1; --i) {
    if (equals_ignoring_case(words[i - 2], "ID")) return i - 1;
  }
  return kNoToken;
}

bool can_be_token(std::string_view word) { return !word.empty() && word.size() <= kIdBytesMax; }

// A word as it is kept, or that the token is in its place.
struct KeptWord {
  KeptWord(Args words, size_t place, size_t token)
      : is_token(place == token && token != kNoToken),
        bytes(is_token ? std::string_view() : words[place]),
        size(is_token ? kTokenMark : static_cast<uint16_t>(bytes.size())) {}

  bool is_token;
  std::string_view bytes;
  uint16_t size;  // before the bytes, which keeps "ab c" and "a bc" apart
};

// Answers how long the words are as they are kept; more than `most` where that is too long.
size_t kept_size(Args words, size_t token, size_t most) {
  size_t size = 0;
  for (size_t i = 0; i < words.size() && size <= most; ++i) {
    const size_t bytes = i == token && token != kNoToken ? 0 : words[i].size();
    size = bytes > most ? most + 1 : size + sizeof KeptWord::size + bytes;
  }
  return size;
}

std::string joined(Args words, size_t token) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const KeptWord word(words, i, token);
    text.append(reinterpret_cast<const char*>(&word.size), sizeof word.size).append(word.bytes);
  }
  return text;
}

bool is_joined(std::string_view text, Args words, size_t token) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < words.size(); ++i) {
    const KeptWord word(words, i, token);
    if (static_cast<size_t>(end - at) < sizeof word.size + word.bytes.size()) return false;
    if (std::memcmp(at, &word.size, sizeof word.size) != 0) return false;
    at += sizeof word.size;
    if (!std::equal(word.bytes.begin(), word.bytes.end(), at)) return false;
    at += word.bytes.size();
  }
  return at == end;
}

uint64_t up_to_eight(const char* bytes, size_t size) {
  uint64_t number = 0;
  if (size > 0) std::memcpy(&number, bytes, std::min(size, sizeof number));
  return number;
}

// Of the first and the last bytes of each word. Which requests share a place does not matter: the
// words are compared.
size_t hash_of(Args words, size_t token) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  uint64_t hash = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const KeptWord word(words, i, token);
    const size_t size = word.bytes.size();
    const size_t tail = std::min<size_t>(size, 8);
    hash ^= word.size + up_to_eight(word.bytes.data(), size);
    hash = (hash ^ up_to_eight(word.bytes.data() + size - tail, tail)) * kGolden;
    hash ^= hash >> 29;
  }
  return static_cast<size_t>(hash ^ hash >> 32);
}

}  // namespace

// What is too long to be kept is not looked at either, but for its size.
RequestCache::Parsed RequestCache::parse(Args words, uint32_t options) {
  if (words.size() > kWordsMax) return parse_anew(words, options);
  const size_t token = token_in(words, options);
  if (token != kNoToken && !can_be_token(words[token])) return parse_anew(words, options);
  const size_t size = kept_size(words, token, kBytesMax);
  if (size > kBytesMax) return parse_anew(words, options);
  Place& place = places_[(hash_of(words, token) ^ options) % kPlaces];
  if (place.options == options && place.words.size() == size &&
      is_joined(place.words, words, token)) {
    if (token != kNoToken) place.request.id = words[token];
    return &place.request;
  }
  const Parsed parsed = parse_anew(words, options);
  if (!parsed) return parsed;
  const bool has_token = !(*parsed)->id.empty();
  const bool is_found_again = has_token ? (*parsed)->id_word == token : token == kNoToken;
  if (!is_found_again) return parsed;
  place = {.options = options, .words = joined(words, token), .request = **parsed};
  return &place.request;
}

RequestCache::Parsed RequestCache::parse_anew(Args words, uint32_t options) {
  auto parsed = parse_request(words, options, zones_);
  if (!parsed) return parsed.error();
  uncached_ = std::move(parsed.value());
  return &uncached_;
}

}  // namespace weir::server

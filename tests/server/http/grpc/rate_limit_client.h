// Requests of Envoy's rate limit service as bytes, and its responses as one would read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/protobuf.h"
#include "server/http/grpc/rate_limit_messages.h"
#include "server/http/grpc/wire.h"

namespace weir::server::grpc {

struct AskedDescriptor {
  std::vector<std::pair<std::string, std::string>> entries = {};
  std::optional<uint64_t> hits = {};
  bool gives_back = false;
  std::optional<std::pair<uint32_t, Unit>> limit = {};
  uint32_t multiplier = 0;  // of the limit's unit; 0: it is not told
};

// The domain and descriptors, which all requests have at the same places.
inline ProtobufWriter begun_request(std::string_view domain,
                                    const std::vector<AskedDescriptor>& descriptors) {
  ProtobufWriter request;
  request.text(1, domain);
  for (const AskedDescriptor& asked : descriptors) {
    ProtobufWriter descriptor;
    for (const auto& [name, value] : asked.entries) {
      ProtobufWriter entry;
      entry.text(1, name);
      entry.text(2, value);
      descriptor.bytes(1, entry.message());
    }
    if (asked.limit) {
      ProtobufWriter limit;
      limit.nonzero(1, asked.limit->first);
      limit.nonzero(2, static_cast<uint64_t>(asked.limit->second));
      ProtobufWriter multiplier;
      multiplier.nonzero(1, asked.multiplier);
      if (asked.multiplier > 0) limit.bytes(3, multiplier.message());
      descriptor.bytes(2, limit.message());
    }
    if (asked.hits) {
      ProtobufWriter wrapped;
      wrapped.nonzero(1, *asked.hits);
      descriptor.bytes(3, wrapped.message());
    }
    descriptor.nonzero(4, asked.gives_back ? 1 : 0);
    request.bytes(2, descriptor.message());
  }
  return request;
}

inline std::string request_bytes(std::string_view domain,
                                 const std::vector<AskedDescriptor>& descriptors,
                                 uint32_t hits = 0) {
  ProtobufWriter request = begun_request(domain, descriptors);
  request.nonzero(3, hits);
  return request.message();
}

// Of Kuadrant's Reserve: an amount, and a time in milliseconds, below 0 none.
inline std::string reserve_bytes(std::string_view domain,
                                 const std::vector<AskedDescriptor>& descriptors, uint64_t amount,
                                 int64_t ttl_ms = -1) {
  ProtobufWriter request = begun_request(domain, descriptors);
  request.nonzero(3, amount);
  if (ttl_ms < 0) return request.message();
  ProtobufWriter ttl;
  ttl.nonzero(1, static_cast<uint64_t>(ttl_ms / 1000));
  ttl.nonzero(2, static_cast<uint64_t>(ttl_ms % 1000 * 1'000'000));
  request.bytes(4, ttl.message());
  return request.message();
}

inline std::string commit_bytes(std::string_view domain,
                                const std::vector<AskedDescriptor>& descriptors,
                                std::string_view id, uint64_t amount) {
  ProtobufWriter request = begun_request(domain, descriptors);
  request.text(3, id);
  request.nonzero(4, amount);
  return request.message();
}

// Texts in a nested message, by the fields that lead to them.
inline std::vector<std::string> texts_in(std::string_view message, std::vector<uint32_t> fields) {
  const uint32_t field = fields.front();
  fields.erase(fields.begin());
  std::vector<std::string> found;
  WireReader reader(message);
  while (reader.next()) {
    if (!reader.is_bytes(field)) continue;
    if (fields.empty()) {
      found.emplace_back(reader.bytes());
    } else {
      for (std::string& text : texts_in(reader.bytes(), fields)) found.push_back(std::move(text));
    }
  }
  return found;
}

// A number in a nested message, by the fields that lead to it; 0: it is not there.
inline uint64_t number_in(std::string_view message, std::vector<uint32_t> fields) {
  const uint32_t field = fields.front();
  fields.erase(fields.begin());
  uint64_t found = 0;
  WireReader reader(message);
  while (reader.next()) {
    if (fields.empty() && reader.is_number(field)) found = reader.number();
    if (!fields.empty() && reader.is_bytes(field)) found = number_in(reader.bytes(), fields);
  }
  return found;
}

// "OVER: OK 5/2 left 3 in 60s; OVER ..., ratelimit=...": of each descriptor its verdict, and where
// it has a limit requests/unit, or requests/multiplier*unit, what is left, and the seconds until it
// is full.
inline std::string response_text(std::string_view response) {
  const auto verdict = [](uint64_t code) { return code == 1 ? "OK" : code == 2 ? "OVER" : "?"; };
  std::string text = verdict(number_in(response, {1}));
  std::string_view between = ": ";
  WireReader reader(response);
  while (reader.next()) {
    if (reader.is_bytes(2)) {
      const std::string_view status = reader.bytes();
      text.append(between).append(verdict(number_in(status, {1})));
      between = "; ";
      const uint64_t requests = number_in(status, {2, 1});
      const uint64_t unit = number_in(status, {2, 2});
      const uint64_t multiplier = number_in(status, {2, 4, 1});
      if (requests + unit > 0)
        text += " " + std::to_string(requests) + "/" +
                (multiplier == 0 ? "" : std::to_string(multiplier) + "*") + std::to_string(unit) +
                " left " + std::to_string(number_in(status, {3})) + " in " +
                std::to_string(number_in(status, {4, 1})) + "s";
    }
    if (reader.is_bytes(3)) {
      std::string name;
      std::string value;
      WireReader header(reader.bytes());
      while (header.next()) {
        if (header.is_bytes(1)) name = header.bytes();
        if (header.is_bytes(2)) value = header.bytes();
      }
      text += ", " + name + "=" + value;
    }
  }
  return text;
}

}  // namespace weir::server::grpc

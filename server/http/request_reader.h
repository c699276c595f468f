// Reads requests of HTTP/1.0 and 1.1 from bytes, one after the other.
//
// Invariant: a request's memory is bounded by kHeaderBytesMax and kBodyBytesMax, and what it is
// sent as by kRequestBytesMax, whatever it announces. A batch of /v1/batch may be longer: its body
// has at most kBatchBodyBytesMax, and what it is sent as is as much longer.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "server/http/format/message.h"

namespace weir::server::http {

inline constexpr size_t kHeaderBytesMax = 32 << 10;  // what proxies let through
inline constexpr size_t kBodyBytesMax = 16 << 10;
inline constexpr size_t kBatchBodyBytesMax = 64 << 10;
inline constexpr size_t kChunkHeadBytesMax = 8 << 10;  // its size, extensions and line ends
// With what comes around the body's chunks.
inline constexpr size_t kRequestBytesMax = 64 << 10;

class RequestReader {
 public:
  RequestReader();
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  enum class Progress {
    kNeedsMore,
    kHasHeader,   // request() lacks its body, of which more is to come; once for a request
    kAsksToGoOn,  // kNeedsMore, and the client waits for "100 Continue"; once for a request
    kDone,        // request() is whole
    kRefused,     // refusal() says why; nothing more can be read
  };
  // Goes on with what stands at the front of the bytes, and answers in *used how many of them were
  // used; those that were not come again with the next call. REQUIRES: neither done nor refused.
  Progress read(std::string_view bytes, size_t* used);

  // Valid until read() or reset() is called. Of a refused request it holds what was read, as far as
  // its path.
  const Request& request() const { return request_; }
  const Answer& refusal() const { return refusal_; }
  // What the reader takes beside its own members.
  size_t memory_bytes() const;
  // Forgets the request; the next one begins.
  void reset();

 private:
  struct Parser;

  Progress refuse(unsigned status, std::string_view why);
  Progress refuse_body();
  size_t body_bytes_max() const;
  void show_request();

  std::unique_ptr<Parser> parser_;
  Request request_;
  Answer refusal_;
  size_t bytes_ = 0;  // of the request that were used
  bool told_header_ = false;
  bool asked_to_go_on_ = false;
};

}  // namespace weir::server::http

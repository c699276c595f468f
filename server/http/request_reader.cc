#include "server/http/request_reader.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/heap_bytes.h"
#include "server/http/v1/endpoints.h"

namespace weir::server::http {

namespace wire = boost::beast::http;

namespace {

std::string_view text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

constexpr unsigned kVersion11 = 11;
// What a field takes in the parser beside its text: places in a list and in a tree, and lengths.
constexpr size_t kFieldOwnBytes = 64;

}  // namespace

struct RequestReader::Parser : wire::request_parser<wire::string_body> {
  Parser() {
    eager(false);  // the header is looked at before the body is read
    header_limit(kHeaderBytesMax);
    body_limit(kBatchBodyBytesMax);  // until the path is known
  }

  void count_field_bytes() {
    field_bytes = 0;
    for (const auto& field : get())
      field_bytes +=
          block_bytes(kFieldOwnBytes + field.name_string().size() + field.value().size());
  }
  size_t fields() const { return static_cast<size_t>(std::distance(get().begin(), get().end())); }

  // Both are known once the header is done: none of it is parsed before.
  size_t header_fields = 0;
  size_t field_bytes = 0;  // of memory
};

namespace {

// Whether two programs that read the request could differ about where its body ends: RFC 9112,
// 6.1 and 6.3. Only the one coding is known here.
bool is_ambiguous(const wire::request<wire::string_body>& message) {
  const size_t codings = message.count(wire::field::transfer_encoding);
  if (codings == 0) return false;
  return codings > 1 || message.version() < kVersion11 ||
         message.count(wire::field::content_length) > 0 ||
         !equals_ignoring_case(text_of(message[wire::field::transfer_encoding]), "chunked");
}

}  // namespace

RequestReader::RequestReader() { reset(); }
RequestReader::~RequestReader() = default;

void RequestReader::reset() {
  request_ = {};
  parser_ = std::make_unique<Parser>();
  bytes_ = 0;
  told_header_ = false;
  asked_to_go_on_ = false;
}

RequestReader::Progress RequestReader::refuse(unsigned status, std::string_view why) {
  refusal_ = {.status = status, .body = "the request was refused: " + std::string(why) + "\n"};
  show_request();
  return Progress::kRefused;
}

size_t RequestReader::body_bytes_max() const {
  const std::string_view target = text_of(parser_->get().target());
  return target.substr(0, target.find('?')) == kBatchPath ? kBatchBodyBytesMax : kBodyBytesMax;
}

RequestReader::Progress RequestReader::refuse_body() {
  return refuse(413, "its body has more than " + std::to_string(body_bytes_max()) + " bytes");
}

RequestReader::Progress RequestReader::read(std::string_view bytes, size_t* used) {
  *used = 0;
  while (!parser_->is_done()) {
    if (bytes.empty()) break;
    boost::system::error_code error;
    const size_t taken = parser_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(taken);
    *used += taken;
    if (error == wire::error::need_more) break;
    if (error == wire::error::header_limit)
      return refuse(431, "its header has more than 32768 bytes");
    if (error == wire::error::body_limit) return refuse_body();
    if (error) return refuse(400, error.message());
    if (parser_->is_header_done() && parser_->header_fields == 0) {
      parser_->header_fields = parser_->fields();
      parser_->count_field_bytes();
      if (is_ambiguous(parser_->get())) return refuse(400, "bad Transfer-Encoding");
      if (parser_->content_length().value_or(0) > body_bytes_max()) return refuse_body();
      parser_->body_limit(body_bytes_max());
    }
    if (taken == 0) break;
  }
  bytes_ += *used;
  const bool awaits_chunk = parser_->is_header_done() && !parser_->is_done();
  const size_t bytes_max = kRequestBytesMax + body_bytes_max() - kBodyBytesMax;
  if (bytes_ > bytes_max || (awaits_chunk && bytes.size() > kChunkHeadBytesMax))
    return refuse(413, "it is longer than requests are here");
  if (parser_->is_done()) {
    // What comes after a body is the client's own also where a proxy has written the header.
    if (parser_->fields() > parser_->header_fields)
      return refuse(400, "it has fields after its body");
    show_request();
    return Progress::kDone;
  }
  if (!parser_->is_header_done() || asked_to_go_on_) return Progress::kNeedsMore;
  if (!std::exchange(told_header_, true)) {
    show_request();
    return Progress::kHasHeader;
  }
  const auto& message = parser_->get();
  if (message.version() < kVersion11 ||
      !equals_ignoring_case(text_of(message[wire::field::expect]), "100-continue"))
    return Progress::kNeedsMore;
  asked_to_go_on_ = true;
  return Progress::kAsksToGoOn;
}

size_t RequestReader::memory_bytes() const {
  return block_bytes(sizeof(Parser)) + parser_->field_bytes + heap_bytes(parser_->get().body()) +
         heap_bytes(request_.fields);
}

void RequestReader::show_request() {
  const auto& message = parser_->get();
  request_ = {.method = text_of(message.method_string()),
              .target = text_of(message.target()),
              .fields = {},
              .body = message.body(),
              .keep_alive = message.keep_alive()};
  for (const auto& field : message)
    request_.fields.push_back(
        {.name = text_of(field.name_string()), .value = text_of(field.value())});
}

}  // namespace weir::server::http

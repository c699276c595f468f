#include "server/http/request_reader.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>

#include "base/ascii.h"

namespace weir::server::http {

namespace wire = boost::beast::http;

namespace {

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

constexpr unsigned kVersion11 = 11;

}  // namespace

struct RequestReader::Parser : wire::request_parser<wire::string_body> {
  Parser() {
    eager(true);
    header_limit(kHeaderBytesMax);
    body_limit(kBodyBytesMax);
  }
};

RequestReader::RequestReader() { reset(); }
RequestReader::~RequestReader() = default;

void RequestReader::reset() {
  request_ = {};
  parser_ = std::make_unique<Parser>();
  bytes_ = 0;
  asked_to_go_on_ = false;
}

RequestReader::Progress RequestReader::refuse(unsigned status, std::string_view why) {
  refusal_ = {.status = status, .body = "the request was refused: " + std::string(why) + "\n"};
  return Progress::kRefused;
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
      return refuse(431, "its header has more than 8192 bytes");
    if (error == wire::error::body_limit) return refuse(413, "its body has more than 16384 bytes");
    if (error) return refuse(400, error.message());
    if (taken == 0) break;
  }
  bytes_ += *used;
  if (bytes_ > kRequestBytesMax || (!parser_->is_done() && bytes.size() > kHeaderBytesMax))
    return refuse(413, "it is longer than requests are here");
  if (parser_->is_done()) {
    finish();
    return Progress::kDone;
  }
  if (!parser_->is_header_done() || asked_to_go_on_) return Progress::kNeedsMore;
  const auto& message = parser_->get();
  if (message.version() < kVersion11 ||
      !equals_ignoring_case(view(message[wire::field::expect]), "100-continue"))
    return Progress::kNeedsMore;
  asked_to_go_on_ = true;
  return Progress::kAsksToGoOn;
}

void RequestReader::finish() {
  const auto& message = parser_->get();
  request_ = {.method = view(message.method_string()),
              .target = view(message.target()),
              .fields = {},
              .body = message.body(),
              .keep_alive = message.keep_alive()};
  for (const auto& field : message)
    request_.fields.push_back({.name = view(field.name_string()), .value = view(field.value())});
}

}  // namespace weir::server::http

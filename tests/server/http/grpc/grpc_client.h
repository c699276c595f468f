// A client of gRPC without a socket: it makes the bytes of calls, and reads those of their answers.
#pragma once

#include <nghttp2/nghttp2.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/grpc/framing.h"

namespace weir::server::grpc {

using TestFields = std::vector<std::pair<std::string, std::string>>;

// What came back on a stream.
struct Answered {
  std::map<std::string, std::string> fields;  // trailers among them
  std::string body;
  bool is_over = false;
  uint32_t error = 0;  // of HTTP/2; 0: none

  std::string status() const {
    const auto found = fields.find("grpc-status");
    return found == fields.end() ? "" : found->second;
  }
  std::string text() const {
    const auto found = fields.find("grpc-message");
    return found == fields.end() ? "" : found->second;
  }
  // "(none)": there is no message.
  std::string message() const {
    const auto message = message_of(body);
    return std::string(message ? *message : "(none)");
  }
};

class GrpcClient {
 public:
  GrpcClient() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~GrpcClient() { nghttp2_session_del(session_); }
  GrpcClient(const GrpcClient&) = delete;
  GrpcClient& operator=(const GrpcClient&) = delete;

  static TestFields fields_of(std::string_view path) {
    return {{":method", "POST"},
            {":scheme", "http"},
            {":authority", "weir"},
            {":path", std::string(path)},
            {"content-type", "application/grpc"},
            {"te", "trailers"}};
  }

  // Begins a call, and answers its stream; below 0: it may not. Without `ends` its body goes on.
  int32_t call(std::string_view path, std::string_view message, const TestFields& more = {},
               bool ends = true) {
    TestFields fields = fields_of(path);
    fields.insert(fields.end(), more.begin(), more.end());
    return ask(fields, framed(message), ends);
  }
  int32_t ask(const TestFields& fields, std::string body, bool ends = true) {
    std::vector<nghttp2_nv> all;
    for (const auto& [name, value] : fields) {
      const auto bytes = [](const std::string& text) {
        return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
      };
      all.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider provider = {.source = {.ptr = nullptr}, .read_callback = read_body};
    const int32_t stream =
        nghttp2_submit_request(session_, nullptr, all.data(), all.size(), &provider, nullptr);
    if (stream < 0) return stream;
    bodies_[stream] = {std::move(body), ends};
    return stream;
  }
  // Goes on with a body that has not ended.
  void more(int32_t stream, std::string_view bytes, bool ends = false) {
    Body& body = bodies_[stream];
    body.bytes += bytes;
    body.ends = ends;
    (void)nghttp2_session_resume_data(session_, stream);
  }
  void reset(int32_t stream, uint32_t error = NGHTTP2_CANCEL) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, error);
  }
  nghttp2_session* session() { return session_; }

  // The bytes that it wants to send.
  std::string bytes() {
    std::string all;
    const uint8_t* data = nullptr;
    while (true) {
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size <= 0) return all;
      all.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
  }
  void receives(std::string_view bytes) {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    const ssize_t used = nghttp2_session_mem_recv(session_, data, bytes.size());
    if (used != static_cast<ssize_t>(bytes.size())) is_confused = true;
  }
  const Answered& of(int32_t stream) { return answers_[stream]; }
  const std::map<int32_t, Answered>& answers() const { return answers_; }
  uint32_t server_setting(nghttp2_settings_id setting) const {
    return nghttp2_session_get_remote_settings(session_, setting);
  }

  bool is_confused = false;   // by bytes that are no HTTP/2
  bool is_sent_away = false;  // by GOAWAY
  uint32_t goaway_error = 0;

 private:
  struct Body {
    std::string bytes;
    bool ends = true;
    size_t sent = 0;
  };

  static GrpcClient& self(void* user) { return *static_cast<GrpcClient*>(user); }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                       size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                       void* user) {
    self(user)
        .answers_[frame->hd.stream_id]
        .fields[{reinterpret_cast<const char*>(name), name_size}] = {
        reinterpret_cast<const char*>(value), value_size};
    return 0;
  }
  static int on_data(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                     void* user) {
    self(user).answers_[stream].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int on_close(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    self(user).answers_[stream].is_over = true;
    self(user).answers_[stream].error = error;
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    self(user).is_sent_away = true;
    self(user).goaway_error = frame->goaway.error_code;
    return 0;
  }
  static ssize_t read_body(nghttp2_session*, int32_t stream, uint8_t* buffer, size_t size,
                           uint32_t* flags, nghttp2_data_source*, void* user) {
    Body& body = self(user).bodies_[stream];
    const size_t copied = body.bytes.copy(reinterpret_cast<char*>(buffer), size, body.sent);
    body.sent += copied;
    if (body.sent < body.bytes.size()) return static_cast<ssize_t>(copied);
    if (body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!body.ends && copied == 0) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(copied);
  }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Body> bodies_;
  std::map<int32_t, Answered> answers_;
};

}  // namespace weir::server::grpc

#include "server/http/grpc/http2.h"

#include <malloc.h>
#include <nghttp2/nghttp2.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/heap_bytes.h"

namespace weir::server::grpc {
namespace {

// What a field counts beside its bytes (RFC 9113, 6.5.2).
constexpr size_t kFieldOverhead = 32;

// What nghttp2 takes is counted as it is taken and given back.
size_t bytes_of_block(void* block) {
  return block == nullptr ? 0 : block_bytes(::malloc_usable_size(block));
}

void count_block(void* counter, size_t before, void* block) {
  *static_cast<size_t*>(counter) += bytes_of_block(block) - before;  // modulo 2^64
}

void* take_block(size_t size, void* counter) {
  void* const block = std::malloc(size);
  count_block(counter, 0, block);
  return block;
}

void give_block(void* block, void* counter) {
  count_block(counter, bytes_of_block(block), nullptr);
  std::free(block);
}

void* take_zeros(size_t count, size_t size, void* counter) {
  void* const block = std::calloc(count, size);
  count_block(counter, 0, block);
  return block;
}

void* resize_block(void* block, size_t size, void* counter) {
  const size_t before = bytes_of_block(block);
  void* const resized = std::realloc(block, size);
  if (resized != nullptr) count_block(counter, before, resized);
  return resized;
}

nghttp2_nv as_nv(const std::string& name, const std::string& value) {
  const auto bytes_of = [](const std::string& text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));  // it is only read
  };
  return {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

void append_fields(const HeaderFields& fields, std::vector<nghttp2_nv>* all) {
  for (const auto& [name, value] : fields) all->push_back(as_nv(name, value));
}

std::string_view text_of(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

// Frames of C lie between these and those who call nghttp2, so nothing may be thrown through them.
struct Http2::Wire {
  static Http2& of(void* user) { return *static_cast<Http2*>(user); }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
    Http2& http2 = of(user);
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    http2.streams_[frame->hd.stream_id].began_ns = http2.now_ns_;
    http2.parts_.insert(frame->hd.stream_id);
    return 0;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                       size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                       void* user) noexcept {
    Stream* const stream = of(user).find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const size_t bytes = name_size + value_size + kFieldOverhead;
    stream->header_bytes += bytes;
    of(user).header_bytes_ += bytes;
    // A byte may stand for a field of kilobytes. From here on nghttp2 only decompresses.
    if (stream->header_bytes > 2 * kHeaderBytesMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (stream->header_bytes > kHeaderBytesMax) stream->request.is_too_large = true;
    const bool is_trailer = frame->headers.cat != NGHTTP2_HCAT_REQUEST;
    if (stream->is_whole || stream->request.is_too_large || is_trailer) return 0;
    keep(text_of(name, name_size), text_of(value, value_size), &stream->request);
    return 0;
  }

  static void keep(std::string_view name, std::string_view value, Request* request) {
    if (name == ":path") request->path = value;
    if (name == "content-type") request->content_type = value;
    if (name != "authorization") return;
    if (!request->authorization.empty()) request->authorization += ", ";
    request->authorization += value;
  }

  static int on_data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                     void* user) noexcept {
    Http2& http2 = of(user);
    Stream* const stream = http2.find(id);
    if (stream == nullptr || stream->is_whole) return 0;
    std::string& body = stream->request.body;
    const size_t most = stream->is_dialogue ? kDialogueBytesMax : http2.body_bytes_max_;
    if (body.size() + size > most) {
      stream->request.is_too_large = true;
      http2.tell(id, stream);
    } else {
      body.append(text_of(bytes, size));
    }
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
    Http2& http2 = of(user);
    ++http2.frames_;
    if (frame->hd.type == NGHTTP2_SETTINGS) http2.has_begun_ = true;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Stream* const stream = http2.find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->has_ended = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    stream->is_dialogue = http2.dialogues_(stream->request.path);
    if (stream->has_ended || stream->request.is_too_large || stream->is_dialogue)
      http2.tell(frame->hd.stream_id, stream);
    if (stream->has_ended || stream->is_dialogue) http2.parts_.erase(frame->hd.stream_id);
    return 0;
  }

  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
    Http2& http2 = of(user);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    ++http2.answer_frames_;
    const Stream* const stream = http2.find(frame->hd.stream_id);
    // Who still sends is told that nobody reads it (RFC 9113, 8.1).
    const bool is_last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (stream != nullptr && stream->ends_early && is_last)
      (void)nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                      NGHTTP2_NO_ERROR);
    return 0;
  }

  static int on_close(nghttp2_session*, int32_t id, uint32_t, void* user) noexcept {
    Http2& http2 = of(user);
    if (Stream* const stream = http2.find(id)) http2.owe(stream, false);
    http2.streams_.erase(id);
    http2.parts_.erase(id);
    return 0;
  }

  static ssize_t read_body(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t size,
                           uint32_t* flags, nghttp2_data_source*, void* user) noexcept {
    Stream* const stream = of(user).find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    Answer& answer = stream->answer;
    const size_t copied = answer.body.copy(reinterpret_cast<char*>(buffer), size, stream->sent);
    stream->sent += copied;
    if (stream->sent < answer.body.size()) return static_cast<ssize_t>(copied);
    if (stream->goes_on) {
      if (copied == 0) return NGHTTP2_ERR_DEFERRED;
      answer.body = {};
      stream->sent = 0;
      of(user).owe(stream, false);
      of(user).tell(id, stream);
      return static_cast<ssize_t>(copied);
    }
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (answer.trailers.empty()) return static_cast<ssize_t>(copied);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    std::vector<nghttp2_nv> trailers;
    append_fields(answer.trailers, &trailers);
    const int done = nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
    if (done != 0) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return static_cast<ssize_t>(copied);
  }

  static const nghttp2_session_callbacks* callbacks() {
    static const nghttp2_session_callbacks* const made = [] {
      nghttp2_session_callbacks* all = nullptr;
      WEIR_REQUIRE(nghttp2_session_callbacks_new(&all) == 0);
      nghttp2_session_callbacks_set_on_begin_headers_callback(all, on_begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(all, on_header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, on_data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(all, on_frame);
      nghttp2_session_callbacks_set_on_frame_send_callback(all, on_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(all, on_close);
      return all;
    }();
    return made;
  }

  static const nghttp2_option* options() {
    static const nghttp2_option* const made = [] {
      nghttp2_option* option = nullptr;
      WEIR_REQUIRE(nghttp2_option_new(&option) == 0);
      nghttp2_option_set_no_closed_streams(option, 1);  // or it keeps some for priorities
      // A library that does not have it is older than the hole that it mends.
      nghttp2_option_set_stream_reset_rate_limit(option, kResetsAtOnce, kResetsPerSecond);
      return option;
    }();
    return made;
  }
};

Http2::Http2(size_t body_bytes_max, Dialogues dialogues)
    : body_bytes_max_(body_bytes_max), dialogues_(dialogues) {
  nghttp2_mem memory = {&kept_bytes_, take_block, give_block, take_zeros, resize_block};
  // It copies what it is given.
  WEIR_REQUIRE(nghttp2_session_server_new3(&session_, Wire::callbacks(), this, Wire::options(),
                                           &memory) == 0);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderBytesMax}};
  has_failed_ =
      nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings)) != 0;
}

Http2::~Http2() { nghttp2_session_del(session_); }

Http2::Stream* Http2::find(int32_t stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

void Http2::tell(int32_t id, Stream* stream) {
  if (stream->is_dialogue) {
    if (stream->request.is_too_large) stream->is_whole = true;
    if (std::exchange(stream->is_told, true)) return;
  } else if (std::exchange(stream->is_whole, true)) {
    return;
  }
  if (stream->request.is_too_large) stream->request.body = {};
  whole_.push_back(id);
}

void Http2::receive(std::string_view bytes, int64_t now_ns) {
  now_ns_ = now_ns;
  if (has_failed_) return;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const ssize_t used = nghttp2_session_mem_recv(session_, data, bytes.size());
  is_foreign_ = used == NGHTTP2_ERR_BAD_CLIENT_MAGIC;
  has_failed_ = used < 0;
}

Request Http2::take_request(int32_t stream) {
  Stream* const found = find(stream);
  WEIR_REQUIRE(found != nullptr);
  return std::exchange(found->request, {});
}

void Http2::owe(Stream* stream, bool is_owed) {
  if (std::exchange(stream->is_owed, is_owed) == is_owed) return;
  owed_ = is_owed ? owed_ + 1 : owed_ - 1;
}

void Http2::answer(int32_t stream, Answer answer) {
  Stream* const found = find(stream);
  if (found == nullptr) return;
  if (found->goes_on) return end_dialogue(stream, found, std::move(answer));
  if (found->is_answered) return;
  found->answer = std::move(answer);
  found->ends_early = found->answer.body.empty() && !found->has_ended;
  submit(stream, found);
}

void Http2::submit(int32_t id, Stream* stream) {
  stream->is_answered = true;
  owe(stream, true);
  const Answer& kept = stream->answer;
  const std::string name = ":status";
  const std::string status = std::to_string(kept.http_status);
  std::vector<nghttp2_nv> fields = {as_nv(name, status)};
  append_fields(kept.fields, &fields);
  if (kept.body.empty()) append_fields(kept.trailers, &fields);
  nghttp2_data_provider body = {.source = {.ptr = nullptr}, .read_callback = Wire::read_body};
  const int done = nghttp2_submit_response(session_, id, fields.data(), fields.size(),
                                           kept.body.empty() ? nullptr : &body);
  if (done != 0)
    (void)nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
}

bool Http2::is_dialogue(int32_t stream) const {
  const auto found = streams_.find(stream);
  return found != streams_.end() && found->second.is_dialogue;
}

Request* Http2::listen(int32_t stream) {
  Stream* const found = find(stream);
  WEIR_REQUIRE(found != nullptr && found->is_dialogue);
  found->is_told = false;
  return found->is_owed ? nullptr : &found->request;
}

bool Http2::has_ended(int32_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() || found->second.has_ended;
}

void Http2::say(int32_t stream, HeaderFields fields, std::string bytes) {
  Stream* const found = find(stream);
  WEIR_REQUIRE(found != nullptr && found->is_dialogue && !found->is_owed);
  found->answer.body = std::move(bytes);
  if (!std::exchange(found->goes_on, true)) {
    found->answer.fields = std::move(fields);
    return submit(stream, found);
  }
  owe(found, true);
  (void)nghttp2_session_resume_data(session_, stream);
}

void Http2::end_dialogue(int32_t id, Stream* stream, Answer answer) {
  stream->goes_on = false;
  stream->answer.trailers = std::move(answer.trailers);
  stream->ends_early = !stream->has_ended;
  owe(stream, true);
  (void)nghttp2_session_resume_data(session_, id);
}

void Http2::leave() {
  if (has_failed_ || std::exchange(has_left_, true)) return;
  (void)nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                              nullptr, 0);
}

void Http2::write(std::string* out, size_t bytes_max) {
  while (!has_failed_ && out->size() < bytes_max) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size < 0) has_failed_ = true;
    if (size <= 0) return;
    out->append(text_of(bytes, static_cast<size_t>(size)));
  }
}

bool Http2::is_over() const {
  if (has_failed_) return true;
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

std::optional<int64_t> Http2::oldest_part_ns() const {
  if (parts_.empty()) return std::nullopt;
  return streams_.at(*parts_.begin()).began_ns;
}

size_t Request::memory_bytes() const {
  return heap_bytes(path) + heap_bytes(content_type) + heap_bytes(authorization) + heap_bytes(body);
}

size_t Http2::memory_bytes() const {
  size_t bytes = kept_bytes_ + heap_bytes(whole_) + parts_.size() * tree_node_bytes<int32_t>();
  const auto of = [](const HeaderFields& fields) {
    size_t sum = heap_bytes(fields);
    for (const auto& [name, value] : fields) sum += heap_bytes(name) + heap_bytes(value);
    return sum;
  };
  for (const auto& [id, stream] : streams_) {
    bytes += tree_node_bytes<std::pair<const int32_t, Stream>>() + stream.request.memory_bytes() +
             of(stream.answer.fields) + of(stream.answer.trailers) + heap_bytes(stream.answer.body);
  }
  return bytes;
}

}  // namespace weir::server::grpc

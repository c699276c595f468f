// HTTP/2 on one connection, the server's side (RFC 9113, by nghttp2): bytes become requests, and
// answers bytes. It knows no socket, and no gRPC.
//
// nghttp2 has the frames, the compression of headers and the windows, because these are what others
// have found holes in for ten years, and Debian mends them; it does no I/O, so it fits one loop. A
// server of gRPC's own library would have threads of its own, and a mailbox between.
//
// Invariants
// 1. A client has at most kStreamsMax streams open, each with at most kHeaderBytesMax of header
//    and, in `body_bytes_max`, its body. What is more is thrown away, and the request says so. So
//    what a client has the server keep is bounded, and all of it is in memory_bytes().
// 2. What is answered waits here for the client's windows, and as bytes in the caller's buffer for
//    the socket. Nothing of a stream is kept after its end. In a dialogue, whose requests and
//    answers are messages in turns, nothing is to be said before the last answer has left.
// 3. A client that resets streams faster than kResetsAtOnce and kResetsPerSecond allow is sent
//    away (CVE-2023-44487): each reset stream makes room for another before its work is paid.
//    nghttp2 counts them, by a clock of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_session;

namespace weir::server::grpc {

inline constexpr uint32_t kStreamsMax = 128;
inline constexpr size_t kHeaderBytesMax = 8 << 10;  // as SETTINGS_MAX_HEADER_LIST_SIZE counts them
inline constexpr size_t kDialogueBytesMax = 4 << 10;  // that have come and were not answered
inline constexpr uint64_t kResetsAtOnce = 1000;
inline constexpr uint64_t kResetsPerSecond = 100;

struct Request {
  std::string path = {};
  std::string content_type = {};
  std::string authorization = {};  // several fields of it with ", " between
  std::string body = {};
  // Its header or its body, of which the rest is missing. A header twice as large as it may be
  // resets its stream.
  bool is_too_large = false;

  size_t memory_bytes() const;
};

using HeaderFields = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct Answer {
  unsigned http_status = 200;
  HeaderFields fields = {};
  std::string body = {};
  HeaderFields trailers = {};  // without a body they are fields
};

class Http2 {
 public:
  // Which paths are of dialogues.
  using Dialogues = bool (*)(std::string_view path);

  Http2(size_t body_bytes_max, Dialogues dialogues);
  ~Http2();
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;

  // Takes what was received at that instant of the steady clock.
  void receive(std::string_view bytes, int64_t now_ns);
  // The streams whose requests have become whole, or will not, since the last question. A dialogue
  // is among them when something of it has come, when it has ended, and when an answer has left.
  std::vector<int32_t> take_whole() { return std::exchange(whole_, {}); }
  // Answers what a stream has asked, once. REQUIRES: the stream is open.
  Request take_request(int32_t stream);
  bool is_open(int32_t stream) const { return streams_.contains(stream); }
  // Answers a stream; nothing happens if it has ended.
  void answer(int32_t stream, Answer answer);

  bool is_dialogue(int32_t stream) const;
  // What has come of a dialogue, from whose body the caller takes what it has understood; nullptr:
  // its last answer has not left.
  Request* listen(int32_t stream);
  bool has_ended(int32_t stream) const;  // the client's side
  // Sends bytes of a dialogue's answer, the first time with fields before them. REQUIRES: it
  // listens.
  void say(int32_t stream, HeaderFields fields, std::string bytes);
  // Tells the client to send no more requests; those that it has sent are answered.
  void leave();

  // Appends what may be sent now, as long as there are fewer than so many bytes.
  void write(std::string* out, size_t bytes_max);
  // Nothing is to be received any more, and all is written.
  bool is_over() const;
  // The client has begun with something else than HTTP/2.
  bool is_foreign() const { return is_foreign_; }
  bool has_begun() const { return has_begun_; }  // the client's preface and settings are there

  size_t frames_received() const { return frames_; }
  // As SETTINGS_MAX_HEADER_LIST_SIZE counts them. Of a header that is far too large the rest is
  // neither looked at nor counted.
  size_t header_bytes_received() const { return header_bytes_; }
  // Frames of answers that write() has appended.
  size_t answer_frames_sent() const { return answer_frames_; }
  // When the oldest stream began whose request is not whole.
  std::optional<int64_t> oldest_part_ns() const;
  // Tells whether an answer waits for the client's windows.
  bool owes_answers() const { return owed_ > 0; }
  // What it takes beside its own members.
  size_t memory_bytes() const;

 private:
  struct Wire;  // what nghttp2 calls
  struct Stream {
    int64_t began_ns = 0;
    size_t header_bytes = 0;
    Request request = {};
    bool is_whole = false;   // or has been told of, because it is too large
    bool has_ended = false;  // the client's side
    bool is_answered = false;
    bool is_owed = false;
    bool is_dialogue = false;
    bool is_told = false;     // a dialogue, since the last listen()
    bool goes_on = false;     // its answer
    bool ends_early = false;  // the client is told to send no more once its answer has left
    Answer answer = {};
    size_t sent = 0;  // of the answer's body
  };

  Stream* find(int32_t stream);
  void tell(int32_t id, Stream* stream);
  void owe(Stream* stream, bool is_owed);
  void submit(int32_t id, Stream* stream);
  void end_dialogue(int32_t id, Stream* stream, Answer answer);

  const size_t body_bytes_max_;
  const Dialogues dialogues_;
  nghttp2_session* session_ = nullptr;
  size_t kept_bytes_ = 0;  // by nghttp2
  std::map<int32_t, Stream> streams_;
  std::set<int32_t> parts_;  // of them, those whose requests are not whole; older ones are lower
  size_t owed_ = 0;          // of them
  std::vector<int32_t> whole_;
  size_t frames_ = 0;
  size_t header_bytes_ = 0;
  size_t answer_frames_ = 0;
  int64_t now_ns_ = 0;
  bool has_begun_ = false;
  bool is_foreign_ = false;
  bool has_failed_ = false;
  bool has_left_ = false;
};

}  // namespace weir::server::grpc

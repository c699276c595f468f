#include "server/peer/http_post.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

#include "base/ascii.h"
#include "server/os/version.h"
#include "server/peer/host_port.h"
#include "server/peer/socket.h"

namespace weir::server {
namespace {

constexpr std::string_view kUrlForm =
    "an address is written http://host[:port][/path], or https:// for TLS";
constexpr int kHttpPort = 80, kHttpsPort = 443;
constexpr size_t kReadBytes = 4096;
constexpr std::string_view kStatusLine = "HTTP/1.";  // and a digit, a space, the status
constexpr size_t kStatusAt = kStatusLine.size() + 2;
constexpr size_t kStatusDigits = 3;

std::string request_head(const HttpTarget& target, std::string_view content_type, size_t bytes) {
  std::string head = "POST " + target.path +
                     " HTTP/1.1\r\nHost: " + host_and_port(target.host, target.port) +
                     "\r\nUser-Agent: weir/" + std::string(weir_version()) +
                     "\r\nContent-Type: " + std::string(content_type) +
                     "\r\nContent-Length: " + std::to_string(bytes) + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : target.fields)
    head.append(name).append(": ").append(value).append("\r\n");
  return head + "\r\n";
}

// Nothing, if these bytes are no answer of HTTP.
std::optional<int> status_of(std::string_view answer) {
  int status = 0;
  if (!answer.starts_with(kStatusLine) || answer.size() < kStatusAt + kStatusDigits) return {};
  const char* const at = answer.data() + kStatusAt;
  const auto read = std::from_chars(at, at + kStatusDigits, status);
  if (read.ec != std::errc() || read.ptr != at + kStatusDigits) return {};
  return status;
}

// A socket of one request, with TLS or without.
class Exchange {
 public:
  Exchange(int descriptor, TlsClient* tls) : descriptor_(descriptor), tls_(tls) {}

  bool send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const long put = tls_ != nullptr
                           ? tls_->send(bytes.data(), bytes.size())
                           : ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && tls_ == nullptr && errno == EINTR) continue;
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    return true;
  }

  // To its end, so that the peer can end in peace, but for what is too long.
  std::string read_all() {
    std::string answer;
    while (answer.size() < kHttpAnswerBytesMax) {
      const size_t held = answer.size();
      answer.resize(held + kReadBytes);
      const long got = tls_ != nullptr ? tls_->receive(answer.data() + held, kReadBytes)
                                       : ::recv(descriptor_, answer.data() + held, kReadBytes, 0);
      answer.resize(held + static_cast<size_t>(std::max(got, 0L)));
      if (got < 0 && tls_ == nullptr && errno == EINTR) continue;
      if (got <= 0) break;
    }
    return answer;
  }

 private:
  const int descriptor_;
  TlsClient* const tls_;
};

// The socket is let go before it is closed, so that nobody cuts another one of its number.
class Held {
 public:
  explicit Held(CutOff* cut_off) : cut_off_(*cut_off) {}
  ~Held() { cut_off_.let_go(); }

 private:
  CutOff& cut_off_;
};

}  // namespace

std::string HttpTarget::shown() const {
  return (tls ? "https://" : "http://") + host_and_port(host, port) + path;
}

Result<HttpTarget, std::string> parse_http_url(std::string_view text) {
  HttpTarget target;
  const size_t colon = std::min(text.find("://"), text.size());
  const std::string_view scheme = text.substr(0, colon);
  target.tls = equals_ignoring_case(scheme, "https");
  if (!target.tls && !equals_ignoring_case(scheme, "http"))
    return "this is no address: " + std::string(kUrlForm);
  target.port = target.tls ? kHttpsPort : kHttpPort;
  std::string_view rest = text.substr(std::min(colon + 3, text.size()));
  if (!std::ranges::all_of(rest, [](char c) { return is_printable(c) && c != ' '; }))
    return "an address has no spaces and no control characters: " + std::string(kUrlForm);
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  if (rest.substr(0, slash).find('@') != rest.npos)
    return "an address has no user and no password: " + std::string(kUrlForm);
  if (!read_host_and_port(rest.substr(0, slash), &target.host, &target.port))
    return "host and port make no sense: " + std::string(kUrlForm);
  if (slash < rest.size()) {
    if (rest[slash] != '/') return "the path begins with '/': " + std::string(kUrlForm);
    target.path = rest.substr(slash);
  }
  return target;
}

Result<int, std::string> http_post(const HttpTarget& target, std::string_view content_type,
                                   std::string_view body, CutOff* cut_off) {
  const auto failed = [&target](const std::string& why) { return target.shown() + ": " + why; };
  auto socket = connect_socket(target.host, target.port, target.timeout_ms,
                               [cut_off](int descriptor) { return cut_off->hold(descriptor); });
  const Held held(cut_off);
  if (!socket) return failed(socket.error());
  std::unique_ptr<TlsClient> tls;
  if (target.tls) {
    auto secured = TlsClient::connect(socket->get(), target.host, target.certificates);
    if (!secured) return failed(secured.error());
    tls = std::move(*secured);
  }
  Exchange exchange(socket->get(), tls.get());
  const bool sent =
      exchange.send_all(request_head(target, content_type, body.size())) && exchange.send_all(body);
  // Who refuses a request may do so before it has come whole.
  if (const auto status = status_of(exchange.read_all())) return *status;
  return failed(sent ? "there was no answer of HTTP in time" : "the connection is lost");
}

}  // namespace weir::server

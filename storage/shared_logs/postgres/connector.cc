#include "storage/shared_logs/postgres/connector.h"

#include <poll.h>

#include <algorithm>

#include "base/byte_order_mark.h"
#include "base/one_line.h"
#include "base/time_units.h"
#include "storage/format/file.h"

namespace weir::storage::postgres {
namespace {

constexpr int64_t kHostNs = kNsPerS;
constexpr int64_t kBetweenNs = kNsPerS;
constexpr int64_t kLookNs = 10 * kNsPerMs;

// What holds unless the address says otherwise.
constexpr std::pair<const char*, const char*> kUsual[] = {
    {"application_name", "weir"}, {"client_encoding", "UTF8"},
    {"gssencmode", "disable"},  // else libpq may ask a server of tickets, and wait for it
    {"keepalives", "1"},          {"keepalives_idle", "2"},
    {"keepalives_interval", "1"}, {"keepalives_count", "3"},
    {"tcp_user_timeout", "3000"},
};

void ignore_notice(void*, const char*) {}

}  // namespace

Connector::Connector(Address address, std::string password_file)
    : address_(std::move(address)), password_file_(std::move(password_file)) {}

Connector::Step Connector::step(int64_t now_ns) {
  while (true) {
    if (state_ == State::kPausing && now_ns < pause_until_ns_) return Step::kWaiting;
    std::optional<Step> ended;
    if (state_ == State::kConnecting) {
      ended = attempt(now_ns);
    } else if (state_ == State::kLookingUp) {
      ended = look_up(now_ns);
    } else if (candidates_.empty()) {
      begin_host(now_ns);
    } else {
      begin_attempt(now_ns);
    }
    if (ended) return *ended;
  }
}

void Connector::begin_round() {
  tried_ = 0;
  candidates_.clear();
  connection_.reset();
  ++serial_;
  state_ = State::kPausing;
}

int64_t Connector::next_deadline() const {
  if (state_ == State::kPausing) return pause_until_ns_;
  if (state_ == State::kLookingUp) return attempt_began_ns_ + kLookNs;
  return attempt_began_ns_ + kHostNs;
}

void Connector::begin_host(int64_t now_ns) {
  if (tried_ == 0) round_began_ns_ = now_ns;
  attempt_began_ns_ = now_ns;
  state_ = State::kLookingUp;
  if (!needs_no_look_up(host())) resolver_.ask(host().name);
}

// What an earlier look-up found is better than nothing.
std::optional<Connector::Step> Connector::look_up(int64_t now_ns) {
  const std::string& name = host().name;
  std::string failure;
  if (needs_no_look_up(host())) {
    candidates_ = {host().address};
  } else if (const auto answer = resolver_.answer(name)) {
    candidates_ = answer->addresses.empty() ? resolver_.known(name) : answer->addresses;
    failure = answer->failure;
  } else if (now_ns >= attempt_began_ns_ + kHostNs) {
    candidates_ = resolver_.known(name);
    failure = "looking up host '" + name + "' takes too long";
  } else {
    return Step::kWaiting;
  }
  if (candidates_.empty()) return fail(std::move(failure), now_ns);
  const auto good = std::find(candidates_.begin(), candidates_.end(), good_address_);
  if (good != candidates_.end()) std::rotate(candidates_.begin(), good, good + 1);
  begin_attempt(now_ns);
  return std::nullopt;
}

void Connector::begin_attempt(int64_t now_ns) {
  attempt_began_ns_ = now_ns;
  state_ = State::kConnecting;
  failure_.clear();
  std::vector<std::pair<std::string, std::string>> options = address_.options;
  const auto add = [&](const char* name, const std::string& value) {
    const bool is_given = std::any_of(options.begin(), options.end(),
                                      [&](const auto& option) { return option.first == name; });
    if (!is_given && !value.empty()) options.emplace_back(name, value);
  };
  add("host", host().name);
  add("hostaddr", candidates_.front());
  add("port", host().port);
  add("target_session_attrs", "read-write");
  for (const auto& [name, value] : kUsual) add(name, value);
  std::string password;
  if (!password_file_.empty()) {
    if (const Status status = read_file(password_file_, &password); !status.ok()) {
      failure_ = status.message();
      return;
    }
    const std::string_view text = without_byte_order_mark(password);
    add("password", std::string(text.substr(0, text.find_first_of("\r\n"))));
  }
  std::vector<const char*> names, values;
  for (const auto& [name, value] : options) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectStartParams(names.data(), values.data(), 0));
  wanted_ = PGRES_POLLING_WRITING;
  ++serial_;
  if (connection_) PQsetNoticeProcessor(connection_.get(), ignore_notice, nullptr);
}

std::optional<Connector::Step> Connector::attempt(int64_t now_ns) {
  if (!connection_) return fail(failure_.empty() ? "out of memory" : failure_, now_ns);
  while (PQstatus(connection_.get()) != CONNECTION_BAD) {
    if (PQstatus(connection_.get()) != CONNECTION_STARTED) reached_server_ = true;
    if (!is_ready()) {
      if (now_ns < attempt_began_ns_ + kHostNs) return Step::kWaiting;
      return fail("no answer from " + (host().name.empty() ? "the server" : host().name) +
                      " within a second",
                  now_ns);
    }
    wanted_ = PQconnectPoll(connection_.get());
    ++serial_;
    if (wanted_ == PGRES_POLLING_OK) return succeed();
    if (wanted_ == PGRES_POLLING_FAILED) break;
  }
  return fail(one_line(PQerrorMessage(connection_.get())), now_ns);
}

// libpq takes each call for the event that it waits for.
bool Connector::is_ready() const {
  pollfd watched{.fd = PQsocket(connection_.get()),
                 .events = static_cast<short>(wants_write() ? POLLOUT : POLLIN),
                 .revents = 0};
  return ::poll(&watched, 1, 0) > 0;
}

Connector::Step Connector::succeed() {
  first_ = (first_ + tried_) % address_.hosts.size();
  good_address_ = candidates_.front();
  pause_until_ns_ = attempt_began_ns_ + kBetweenNs;
  failure_.clear();
  PQsetnonblocking(connection_.get(), 1);
  return Step::kConnected;
}

std::optional<Connector::Step> Connector::fail(std::string failure, int64_t now_ns) {
  failure_ = std::move(failure);
  connection_.reset();
  ++serial_;
  state_ = State::kPausing;
  pause_until_ns_ = reached_server_ ? attempt_began_ns_ + kBetweenNs : now_ns;
  reached_server_ = false;
  if (!candidates_.empty()) candidates_.erase(candidates_.begin());
  if (!candidates_.empty() || ++tried_ < address_.hosts.size()) return std::nullopt;
  tried_ = 0;
  pause_until_ns_ = std::max(pause_until_ns_, round_began_ns_ + kBetweenNs);
  return Step::kRoundFailed;
}

}  // namespace weir::storage::postgres

#include "storage/shared_logs/nats/link.h"

#include <nats/nats.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <utility>

#include "storage/shared_logs/nats/answers.h"
#include "storage/shared_logs/nats/encryption.h"
#include "storage/shared_logs/nats/words.h"

namespace weir::storage::nats {
namespace {

constexpr int64_t kConnectMs = 1000;
constexpr int64_t kWriteMs = 2000;
constexpr int64_t kPingMs = 1000;
constexpr int kPingsMax = 2;
constexpr int kPendingMessages = 10'000;
constexpr int kPendingBytes = 64 << 20;
constexpr size_t kMailboxBytes = 64 << 20;

struct Destroy {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
  void operator()(natsInbox* inbox) const { natsInbox_Destroy(inbox); }
};

std::unique_ptr<natsOptions, Destroy> options_for(const std::string& url, const std::string& user,
                                                  const std::string& password) {
  natsOptions* made = nullptr;
  if (natsOptions_Create(&made) != NATS_OK) return nullptr;
  std::unique_ptr<natsOptions, Destroy> options(made);
  const bool is_set =
      natsOptions_SetURL(made, url.c_str()) == NATS_OK &&
      natsOptions_SetName(made, "weir") == NATS_OK &&
      natsOptions_SetAllowReconnect(made, false) == NATS_OK &&
      natsOptions_SetTimeout(made, kConnectMs) == NATS_OK &&
      natsOptions_SetWriteDeadline(made, kWriteMs) == NATS_OK &&
      natsOptions_SetPingInterval(made, kPingMs) == NATS_OK &&
      natsOptions_SetMaxPingsOut(made, kPingsMax) == NATS_OK &&
      natsOptions_SetSendAsap(made, true) == NATS_OK &&
      (user.empty() || natsOptions_SetUserInfo(made, user.c_str(), password.c_str()) == NATS_OK);
  return is_set ? std::move(options) : nullptr;
}

}  // namespace

// What the library calls back with.
struct Link::Connection {
  Connection(Link* link_of_it, uint64_t number_of_it) : link(link_of_it), number(number_of_it) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    natsSubscription_Destroy(answers);
    natsConnection_Destroy(server);
  }

  static void hear(natsConnection* server, natsSubscription* answers, natsMsg* message, void* self);
  static void end(void* self);

  Link* const link;
  const uint64_t number;
  natsConnection* server = nullptr;
  natsSubscription* answers = nullptr;
  std::string inbox;
  bool is_heard = false;  // the library may call back; under the mutex of the link
};

void Link::Connection::hear(natsConnection*, natsSubscription*, natsMsg* message, void* self) {
  const std::unique_ptr<natsMsg, Destroy> owned(message);
  const auto* const connection = static_cast<const Connection*>(self);
  const std::string_view subject = natsMsg_GetSubject(message);
  const std::string_view digits = subject.substr(subject.rfind('.') + 1);
  Incoming incoming{
      .kind = natsMsg_IsNoResponders(message) ? Incoming::Kind::kNobody : Incoming::Kind::kAnswer,
      .connection = connection->number,
      .text = ""};
  std::from_chars(digits.data(), digits.data() + digits.size(), incoming.serial);
  const int size = natsMsg_GetDataLength(message);
  if (size < 0 || static_cast<size_t>(size) > kAnswerBytesMax) return;
  incoming.text.assign(natsMsg_GetData(message), static_cast<size_t>(size));
  connection->link->push(std::move(incoming));
}

// Nothing is told after it. The connection may go as soon as the mutex is free.
void Link::Connection::end(void* self) {
  auto* const connection = static_cast<Connection*>(self);
  Link* const link = connection->link;
  const char* words = nullptr;
  const natsStatus status = natsConnection_GetLastError(connection->server, &words);
  link->push({.kind = Incoming::Kind::kLost,
              .connection = connection->number,
              .text = words && *words ? words : natsStatus_GetText(status)});
  const std::lock_guard lock(link->mutex_);
  connection->is_heard = false;
  link->ended_.notify_all();
}

Link::Link(LinkPlan plan)
    : plan_(std::move(plan)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

// The job that closes is the last one.
Link::~Link() {
  is_ending_ = true;
  bool is_closed = false;
  worker_.post([this, &is_closed] {
    disconnect();
    const std::lock_guard lock(mutex_);
    is_closed = true;
    ended_.notify_all();
  });
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return is_closed; });
}

uint64_t Link::open() {
  const uint64_t number = ++number_;
  worker_.post([this, number] { connect(number); });
  return number;
}

void Link::close() {
  worker_.post([this] { disconnect(); });
}

void Link::send(uint64_t serial, Outgoing message) {
  worker_.post([this, serial, message = std::move(message)] { publish(serial, message); });
}

std::vector<Incoming> Link::take() {
  uint64_t count = 0;
  if (::read(wake_.get(), &count, sizeof count) < 0) return {};
  const std::lock_guard lock(mutex_);
  mailbox_bytes_ = 0;
  return std::exchange(mailbox_, {});
}

void Link::connect(uint64_t number) {
  disconnect();
  std::string password, failure;
  if (!plan_.password_file.empty()) {
    if (const Status status = read_file(plan_.password_file, &password); !status.ok())
      failure = status.message();
    password = password.substr(0, password.find_first_of("\r\n"));
  }
  const size_t hosts = failure.empty() ? plan_.address.hosts.size() : 0;
  for (size_t tried = 0; tried < hosts && !connection_ && !is_ending_; ++tried) {
    const std::string& host = plan_.address.hosts[next_host_++ % plan_.address.hosts.size()];
    failure = try_host(host, password, number);
    if (!failure.empty()) failure = host + ": " + failure;
  }
  if (!connection_)
    return push({.kind = Incoming::Kind::kNotOpened, .connection = number, .text = failure});
  const int64_t payload_max = natsConnection_GetMaxPayload(connection_->server);
  push({.kind = Incoming::Kind::kOpened,
        .connection = number,
        .payload_max = payload_max > 0 ? static_cast<size_t>(payload_max) : 0,
        .text = ""});
}

// Answers why it failed; empty: it did not.
std::string Link::try_host(const std::string& host, const std::string& password, uint64_t number) {
  const auto options = options_for("nats://" + host, plan_.address.user, password);
  if (!options) return "out of memory";
  if (std::string failure = set_encryption(options.get(), plan_.address, host); !failure.empty())
    return failure;
  auto connection = std::make_unique<Connection>(this, number);
  natsStatus status = natsConnection_Connect(&connection->server, options.get());
  natsInbox* made = nullptr;
  if (status == NATS_OK) status = natsInbox_Create(&made);
  const std::unique_ptr<natsInbox, Destroy> inbox(made);
  if (status == NATS_OK) {
    connection->inbox = made;
    status = natsConnection_Subscribe(&connection->answers, connection->server,
                                      (connection->inbox + ".*").c_str(), &Connection::hear,
                                      connection.get());
  }
  if (status == NATS_OK)
    status =
        natsSubscription_SetPendingLimits(connection->answers, kPendingMessages, kPendingBytes);
  connection->is_heard = status == NATS_OK;
  if (status == NATS_OK)
    status =
        natsSubscription_SetOnCompleteCB(connection->answers, &Connection::end, connection.get());
  // Then it is closed already, and nobody was told of its inbox.
  if (status != NATS_OK) return words_of(status);
  connection_ = std::move(connection);
  return "";
}

void Link::disconnect() {
  if (!connection_) return;
  natsConnection_Close(connection_->server);
  {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return !connection_->is_heard; });
  }
  connection_.reset();
}

// A connection on which sending fails is closed, of which end() tells.
void Link::publish(uint64_t serial, const Outgoing& message) {
  if (!connection_) return;
  natsMsg* made = nullptr;
  const std::string reply = connection_->inbox + "." + std::to_string(serial);
  natsStatus status =
      natsMsg_Create(&made, message.subject.c_str(), reply.c_str(), message.payload.data(),
                     static_cast<int>(message.payload.size()));
  const std::unique_ptr<natsMsg, Destroy> owned(made);
  for (const auto& [name, value] : message.headers)
    if (status == NATS_OK) status = natsMsgHeader_Set(made, name.c_str(), value.c_str());
  if (status == NATS_OK && message.is_stored_once)
    status = natsMsgHeader_Set(made, "Nats-Msg-Id", reply.c_str());
  if (status == NATS_OK) status = natsConnection_PublishMsg(connection_->server, made);
  if (status != NATS_OK) natsConnection_Close(connection_->server);
}

void Link::push(Incoming incoming) {
  const std::lock_guard lock(mutex_);
  const bool is_message =
      incoming.kind == Incoming::Kind::kAnswer || incoming.kind == Incoming::Kind::kNobody;
  if (is_message && mailbox_bytes_ + incoming.text.size() > kMailboxBytes) return;
  mailbox_bytes_ += incoming.text.size() + sizeof incoming;
  mailbox_.push_back(std::move(incoming));
  const uint64_t one = 1;
  // It fails only if the counter is full, and then the loop is woken anyway.
  if (::write(wake_.get(), &one, sizeof one) < 0) return;
}

}  // namespace weir::storage::nats

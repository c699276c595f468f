#include "storage/shared_logs/nats/link.h"

#include <nats/nats.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "base/one_line.h"
#include "storage/file.h"
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
      natsOptions_SetIgnoreDiscoveredServers(made, true) == NATS_OK &&
      natsOptions_SetTimeout(made, kConnectMs) == NATS_OK &&
      natsOptions_SetWriteDeadline(made, kWriteMs) == NATS_OK &&
      natsOptions_SetPingInterval(made, kPingMs) == NATS_OK &&
      natsOptions_SetMaxPingsOut(made, kPingsMax) == NATS_OK &&
      natsOptions_SetSendAsap(made, true) == NATS_OK &&
      (user.empty() || natsOptions_SetUserInfo(made, user.c_str(), password.c_str()) == NATS_OK);
  return is_set ? std::move(options) : nullptr;
}

}  // namespace

struct Link::Mailbox {
  const Descriptor wake{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::mutex mutex;
  std::vector<Incoming> waiting;
  size_t bytes = 0;
  std::condition_variable ended;  // a connection, or all of it

  void push(Incoming incoming) {
    const std::lock_guard lock(mutex);
    const bool is_message =
        incoming.kind == Incoming::Kind::kAnswer || incoming.kind == Incoming::Kind::kNobody;
    if (is_message && bytes + incoming.text.size() > kMailboxBytes) return;
    bytes += incoming.text.size() + sizeof incoming;
    waiting.push_back(std::move(incoming));
    const uint64_t one = 1;
    // It fails only if the counter is full, and then the loop is woken anyway.
    if (::write(wake.get(), &one, sizeof one) < 0) return;
  }
};

// What the library calls back with.
struct Link::Ear {
  static void hear(natsConnection* server, natsSubscription* answers, natsMsg* message, void* self);
  static void end(void* self);
  // One that the library may still call back with, and does not say when it is done.
  static void leave(std::unique_ptr<Ear> ear);

  const std::shared_ptr<Mailbox> mailbox;
  const uint64_t connection;
  natsConnection* server = nullptr;
  bool is_open = false;  // end() has not come yet; under the mutex of the mailbox
};

struct Link::Connection {
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    natsSubscription_Destroy(answers);
    natsConnection_Destroy(server);
  }

  std::unique_ptr<Ear> ear;
  natsConnection* server = nullptr;
  natsSubscription* answers = nullptr;
  std::string inbox;
  bool is_refusal_told = false;
};

void Link::Ear::hear(natsConnection*, natsSubscription*, natsMsg* message, void* self) {
  const std::unique_ptr<natsMsg, Destroy> owned(message);
  const auto* const ear = static_cast<const Ear*>(self);
  const std::string_view subject = natsMsg_GetSubject(message);
  const std::string_view digits = subject.substr(subject.rfind('.') + 1);
  Incoming incoming{
      .kind = natsMsg_IsNoResponders(message) ? Incoming::Kind::kNobody : Incoming::Kind::kAnswer,
      .connection = ear->connection,
      .text = ""};
  std::from_chars(digits.data(), digits.data() + digits.size(), incoming.serial);
  const int size = natsMsg_GetDataLength(message);
  if (size < 0 || static_cast<size_t>(size) > kAnswerBytesMax) return;
  incoming.text.assign(natsMsg_GetData(message), static_cast<size_t>(size));
  ear->mailbox->push(std::move(incoming));
}

// Nothing is told after it. The ear may go as soon as the mutex is free.
void Link::Ear::end(void* self) {
  auto* const ear = static_cast<Ear*>(self);
  const std::shared_ptr<Mailbox> mailbox = ear->mailbox;
  const char* words = nullptr;
  const natsStatus status = natsConnection_GetLastError(ear->server, &words);
  mailbox->push({.kind = Incoming::Kind::kLost,
                 .connection = ear->connection,
                 .text = one_line(words && *words ? words : natsStatus_GetText(status))});
  const std::lock_guard lock(mailbox->mutex);
  ear->is_open = false;
  mailbox->ended.notify_all();
}

void Link::Ear::leave(std::unique_ptr<Ear> ear) {
  static std::mutex mutex;
  static auto* const left = new std::vector<std::unique_ptr<Ear>>;
  const std::lock_guard lock(mutex);
  left->push_back(std::move(ear));
}

Link::Link(LinkPlan plan) : plan_(std::move(plan)), mailbox_(std::make_shared<Mailbox>()) {}

// The job that closes is the last one.
Link::~Link() {
  is_ending_ = true;
  bool is_closed = false;
  worker_.post([this, &is_closed] {
    disconnect();
    const std::lock_guard lock(mailbox_->mutex);
    is_closed = true;
    mailbox_->ended.notify_all();
  });
  std::unique_lock lock(mailbox_->mutex);
  mailbox_->ended.wait(lock, [&] { return is_closed; });
}

int Link::descriptor() const { return mailbox_->wake.get(); }

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
  if (::read(mailbox_->wake.get(), &count, sizeof count) < 0) return {};
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->bytes = 0;
  return std::exchange(mailbox_->waiting, {});
}

void Link::connect(uint64_t number) {
  disconnect();
  std::string password, failures;
  if (!plan_.password_file.empty()) {
    if (const Status status = read_file(plan_.password_file, &password); !status.ok())
      failures = status.message();
    password = password.substr(0, password.find_first_of("\r\n"));
  }
  const size_t hosts = failures.empty() ? plan_.address.hosts.size() : 0;
  for (size_t tried = 0; tried < hosts && !connection_ && !is_ending_; ++tried) {
    const std::string& host = plan_.address.hosts[next_host_++ % plan_.address.hosts.size()];
    const std::string failure = try_host(host, password, number);
    if (!failure.empty()) failures += (failures.empty() ? "" : "; ") + host + ": " + failure;
  }
  if (!connection_) {
    mailbox_->push(
        {.kind = Incoming::Kind::kNotOpened, .connection = number, .text = one_line(failures)});
    return;
  }
  const int64_t payload_max = natsConnection_GetMaxPayload(connection_->server);
  mailbox_->push({.kind = Incoming::Kind::kOpened,
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
  auto connection = std::make_unique<Connection>();
  connection->ear = std::unique_ptr<Ear>(new Ear{.mailbox = mailbox_, .connection = number});
  Ear* const ear = connection->ear.get();
  natsStatus status = natsConnection_Connect(&connection->server, options.get());
  ear->server = connection->server;
  natsInbox* made = nullptr;
  if (status == NATS_OK) status = natsInbox_Create(&made);
  const std::unique_ptr<natsInbox, Destroy> inbox(made);
  if (status == NATS_OK) {
    connection->inbox = made;
    status = natsConnection_Subscribe(&connection->answers, connection->server,
                                      (connection->inbox + ".*").c_str(), &Ear::hear, ear);
  }
  if (status == NATS_OK)
    status =
        natsSubscription_SetPendingLimits(connection->answers, kPendingMessages, kPendingBytes);
  ear->is_open = status == NATS_OK;
  if (status == NATS_OK)
    status = natsSubscription_SetOnCompleteCB(connection->answers, &Ear::end, ear);
  if (status != NATS_OK) {
    std::string failure = words_of(status);
    if (connection->answers != nullptr) Ear::leave(std::move(connection->ear));
    return failure;
  }
  connection_ = std::move(connection);
  return "";
}

void Link::disconnect() {
  if (!connection_) return;
  natsConnection_Close(connection_->server);
  {
    std::unique_lock lock(mailbox_->mutex);
    mailbox_->ended.wait(lock, [this] { return !connection_->ear->is_open; });
  }
  connection_.reset();
}

// A connection on which sending fails is closed, of which end() tells. That something else was
// refused the server tells later, so that it is looked at when the next message is sent.
void Link::publish(uint64_t serial, const Outgoing& message) {
  if (!connection_) return;
  const char* words = nullptr;
  if (natsConnection_GetLastError(connection_->server, &words) == NATS_NOT_PERMITTED &&
      !std::exchange(connection_->is_refusal_told, true))
    mailbox_->push({.kind = Incoming::Kind::kNotPermitted,
                    .connection = connection_->ear->connection,
                    .text = ""});
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

}  // namespace weir::storage::nats

#include "storage/shared_logs/nats/link.h"

#include <nats/nats.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <utility>

#include "base/byte_order_mark.h"
#include "base/one_line.h"
#include "storage/format/file.h"
#include "storage/shared_logs/nats/answers.h"
#include "storage/shared_logs/nats/encryption.h"
#include "storage/shared_logs/nats/refusals.h"
#include "storage/shared_logs/nats/words.h"

namespace weir::storage::nats {
namespace {

constexpr int64_t kConnectMs = 1000;
constexpr int64_t kWriteMs = 2000;
constexpr int64_t kPingMs = 1000;
constexpr int kPingsMax = 2;
constexpr int kPendingMessages = 10'000;
constexpr int kPendingBytes = 64 << 20;

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

// What the library calls back with.
struct Link::Ear {
  static void hear(natsConnection* server, natsSubscription* answers, natsMsg* message, void* self);
  static void end(void* self);
  // One that the library may still call back with, and does not say when it is done.
  static void leave(std::unique_ptr<Ear> ear);

  const std::shared_ptr<Mailbox> mailbox;
  const uint64_t connection;
  natsConnection* server = nullptr;
  bool is_open = false;  // end() has not come yet; changed by tell()
};

struct Link::Connection {
  Connection(const std::shared_ptr<Mailbox>& mailbox, uint64_t number)
      : refusals(mailbox, number), ear(new Ear{.mailbox = mailbox, .connection = number}) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    natsSubscription_Destroy(answers);
    natsConnection_Destroy(server);
  }

  const Refusals refusals;
  std::unique_ptr<Ear> ear;
  natsConnection* server = nullptr;
  natsSubscription* answers = nullptr;
  std::string inbox;
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

// Nothing is told after it, and the ear may go.
void Link::Ear::end(void* self) {
  auto* const ear = static_cast<Ear*>(self);
  const std::shared_ptr<Mailbox> mailbox = ear->mailbox;
  const char* words = nullptr;
  const natsStatus status = natsConnection_GetLastError(ear->server, &words);
  mailbox->push({.kind = Incoming::Kind::kLost,
                 .connection = ear->connection,
                 .text = one_line(words && *words ? words : natsStatus_GetText(status))});
  mailbox->tell([ear] { ear->is_open = false; });
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
    mailbox_->tell([&is_closed] { is_closed = true; });
  });
  mailbox_->wait_until([&is_closed] { return is_closed; });
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

std::vector<Incoming> Link::take() { return mailbox_->take(); }

void Link::connect(uint64_t number) {
  disconnect();
  std::string password, failures;
  if (!plan_.password_file.empty()) {
    if (const Status status = read_file(plan_.password_file, &password); !status.ok())
      failures = status.message();
    password = without_byte_order_mark(password);
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
  auto connection = std::make_unique<Connection>(mailbox_, number);
  if (!connection->refusals.listen(options.get())) return "out of memory";
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
  mailbox_->wait_until([this] { return !connection_->ear->is_open; });
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

}  // namespace weir::storage::nats

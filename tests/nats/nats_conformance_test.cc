// The log on NATS is a SharedLog as the others are: over a server, over a cluster of three, and a
// proxy that loses and delays.
#include <algorithm>
#include <cstdlib>

#include "storage/shared_logs/nats/answers.h"
#include "storage/shared_logs/nats_log.h"
#include "tests/nats/nats_server.h"
#include "tests/postgres/driver.h"
#include "tests/postgres/proxy.h"
#include "tests/replication/conformance.h"

namespace weir::storage::replication {
namespace {

using nats::NatsServer;
using postgres::Driver;
using postgres::Proxy;

constexpr uint64_t kStreamBytes = 64 << 20;

// Each engine has streams of its own in the servers.
class NatsEngine : public LogEngine {
 public:
  explicit NatsEngine(NatsServer* servers)
      : servers_(*servers),
        proxy_({.socket = "", .port = servers->port(0), .append = "HPUB weir."}) {
    static int engines = 0;
    prefix_ = "engine" + std::to_string(++engines) + "-";
  }
  ~NatsEngine() override {
    for (const std::string& shard : shards_) {
      api("DELETE." + nats::Names(shard).log_stream());
      api("DELETE." + nats::Names(shard).registry_stream());
    }
  }

  std::unique_ptr<SharedLog> connect(const std::string& shard) override {
    const std::string name = prefix_ + shard;
    if (std::find(shards_.begin(), shards_.end(), name) == shards_.end()) shards_.push_back(name);
    auto log = std::make_unique<NatsLog>(NatsOptions{
        .address = *nats::parse_address("nats://127.0.0.1:" + std::to_string(proxy_.port())),
        .shard = name,
        .password_file = "",
        .makes_shard = true,
        .bytes_max = kStreamBytes});
    driver_.watch(log.get());
    return log;
  }
  void pass() override { driver_.pass(&proxy_); }
  int64_t boot_ns() override { return Driver::boot_ns(); }

  bool lose_next_request() override { return arrange(Proxy::Fault::kLoseRequest); }
  bool lose_next_answer() override { return arrange(Proxy::Fault::kLoseAnswer); }
  bool delay_next_request() override { return arrange(Proxy::Fault::kDelayRequest); }
  bool lose_records(const std::string& shard, size_t count) override {
    auto messages = messages_of(shard);
    messages.resize(messages.size() - count);
    store_anew(shard, messages);
    return true;
  }
  bool damage(const std::string& shard, uint64_t log_index) override {
    auto messages = messages_of(shard);
    messages[log_index - 1].data[0] ^= 1;
    store_anew(shard, messages);
    return true;
  }
  bool remove(const std::string& shard, uint64_t log_index) override {
    api("MSG.DELETE." + names(shard).log_stream(),
        R"({"seq":)" + std::to_string(log_index) + R"(,"no_erase":true})");
    return true;
  }
  size_t many() const override {
    const char* given = std::getenv("WEIR_MANY_RECORDS");
    return given ? static_cast<size_t>(std::atoll(given)) : 2'000;
  }
  int passes_in_a_while() const override { return 1'200; }

 private:
  bool arrange(Proxy::Fault fault) {
    proxy_.arrange(fault);
    return true;
  }
  nats::Names names(const std::string& shard) const { return nats::Names(prefix_ + shard); }
  std::string api(const std::string& name, const std::string& payload = "") {
    return servers_.ask("$JS.API.STREAM." + name, payload);
  }

  std::vector<nats::Message> messages_of(const std::string& shard) {
    std::vector<nats::Message> messages;
    while (true) {
      const auto request = nats::get_message(names(shard).log_stream(), messages.size() + 1);
      auto message = nats::message(servers_.ask(request.subject, request.payload));
      if (!message) return messages;
      messages.push_back(std::move(*message));
    }
  }
  // The stream as if only this had ever been stored in it.
  void store_anew(const std::string& shard, const std::vector<nats::Message>& messages) {
    api("DELETE." + names(shard).log_stream());
    const auto made = nats::make_log(names(shard), servers_.servers(), kStreamBytes);
    EXPECT_TRUE(nats::done(servers_.ask(made.subject, made.payload)));
    for (size_t i = 0; i < messages.size(); ++i) {
      std::vector<std::pair<std::string, std::string>> headers = {
          {"Nats-Expected-Last-Sequence", std::to_string(i)}};
      for (const char* const name : {nats::kCrcHeader, nats::kAfterHeader})
        if (const auto value = nats::header(messages[i].headers, name); !value.empty())
          headers.emplace_back(name, value);
      const std::string url = "nats://127.0.0.1:" + std::to_string(servers_.port(0));
      for (int tries = 0; tries < 20; ++tries)
        if (!nats::ask_once(url, messages[i].subject, messages[i].data, headers).empty()) break;
    }
  }

  NatsServer& servers_;
  std::string prefix_;
  std::vector<std::string> shards_;
  Proxy proxy_;
  Driver driver_;
};

const auto kNameOf = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Nats, Conformance,
                         testing::Values(LogEngineFactory{
                             "One",
                             [] { return std::make_unique<NatsEngine>(&nats::shared_server()); }}),
                         kNameOf);

INSTANTIATE_TEST_SUITE_P(NatsCluster, Conformance,
                         testing::Values(LogEngineFactory{
                             "Three",
                             [] { return std::make_unique<NatsEngine>(&nats::shared_cluster()); }}),
                         kNameOf);

}  // namespace
}  // namespace weir::storage::replication

// Connections over TLS: which servers are believed, and that none of them holds a log up. What
// users see of it is in tests/integration/test_nats.py.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "storage/format/file.h"
#include "storage/store/worker_thread.h"
#include "tests/nats/nats_fixture.h"

namespace weir::storage::nats {
namespace {

namespace fs = std::filesystem;

// Says that it encrypts, and nothing more; or it begins a handshake, and sends its part byte by
// byte.
class SilentServer {
 public:
  explicit SilentServer(bool drips = false)
      : drips_(drips), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&here), size);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&here), &size);
    ::listen(listener_.get(), 16);
    port_ = ntohs(here.sin_port);
    worker_.post([this] { serve(); });
  }
  ~SilentServer() {
    is_ending_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  int port() const { return port_; }

 private:
  void serve() {
    constexpr std::string_view kInfo =
        R"(INFO {"server_id":"x","version":"2.15.2","proto":1,"host":"127.0.0.1","port":4222,)"
        R"("headers":true,"max_payload":1048576,"tls_required":true})"
        "\r\n";
    // The beginning of a record of 16 KB, in which nothing is wrong so far.
    constexpr std::string_view kRecord("\x16\x03\x03\x40\x00", 5);
    while (true) {
      Descriptor accepted(::accept(listener_.get(), nullptr, nullptr));
      if (!accepted.ok()) return;
      ::send(accepted.get(), kInfo.data(), kInfo.size(), MSG_NOSIGNAL);
      for (size_t sent = 0; drips_ && !is_ending_; ++sent) {
        ::poll(nullptr, 0, kDripMs);
        const char byte = sent < kRecord.size() ? kRecord[sent] : '\0';
        if (::send(accepted.get(), &byte, 1, MSG_NOSIGNAL) < 1) break;
      }
      accepted_.push_back(std::move(accepted));
    }
  }

  static constexpr int kDripMs = 200;

  const bool drips_;
  std::atomic<bool> is_ending_ = false;
  const Descriptor listener_;
  int port_ = 0;
  std::vector<Descriptor> accepted_;
  WorkerThread worker_;
};

// Certificates, for as long as the tests run.
class Folder {
 public:
  Folder() {
    std::string pattern = fs::temp_directory_path() / "weir-nats-tls-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    const std::string command = "python3 -B " WEIR_CERTIFICATES " " + path_ + " member";
    if (::pclose(::popen(command.c_str(), "r")) != 0)
      throw std::runtime_error("cannot run " + command);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string file(const std::string& name) {
  static const Folder folder;
  return folder.path() + "/" + name;
}

NatsServer& encrypted_server() {
  static NatsServer server(1,
                           "tls { cert_file: \"" + file("server.crt") + "\", key_file: \"" +
                               file("server.key") + "\", ca_file: \"" + file("ca.crt") +
                               "\", verify: true }",
                           "?tlsca=" + file("ca.crt") + "&tlscert=" + file("member.crt") +
                               "&tlskey=" + file("member.key"));
  return server;
}

class NatsEncryption : public NatsTest {
 protected:
  NatsEncryption() : NatsTest(&encrypted_server()) {}

  NatsOptions at(const std::string& address) const {
    NatsOptions changed = options();
    changed.address = *parse_address(address);
    return changed;
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(servers_.port(0)); }
  // What a log says that connects like this.
  std::string trouble_of(const NatsOptions& changed) {
    NatsLog* const log = connect(changed);
    EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
    EXPECT_FALSE(log->trouble().needs_person) << "files and servers may come right";
    return log->trouble().text;
  }
};

TEST_F(NatsEncryption, ALog) {
  NatsLog* const log = connect();
  Head end;
  for (const size_t size : {size_t{1}, size_t{16} << 10, NatsLog::kRecordBytesMax})
    put(log, &end, std::string(size, 'x'));
  log->put("member", "facts");
  wait_until([&] { return log->snapshot().size() == 1; });
  EXPECT_EQ(read_all(connect()).size(), 3u);
}

TEST_F(NatsEncryption, WhoIsNotKnownIsNotBelieved) {
  const std::string own = "&tlscert=" + file("member.crt") + "&tlskey=" + file("member.key");
  const std::string unknown = trouble_of(at("tls://" + host() + "?" + own.substr(1)));
  EXPECT_NE(unknown.find("unable to get local issuer certificate"), std::string::npos) << unknown;
  // The same machine by a name that is not in the certificate.
  const std::string port = host().substr(host().find(':'));
  const std::string named = trouble_of(at("tls://127.1" + port + "?tlsca=" + file("ca.crt") + own));
  EXPECT_NE(named.find("mismatch"), std::string::npos) << named;
  const std::string nobody = trouble_of(at("tls://" + host() + "?tlsca=" + file("ca.crt")));
  EXPECT_NE(nobody.find("wants another certificate"), std::string::npos) << nobody;
}

TEST_F(NatsEncryption, AServerWithoutItIsNotTalkedTo) {
  std::string address = shared_server().address();
  address.replace(0, 4, "tls");
  const std::string trouble = trouble_of(at(address));
  EXPECT_NE(trouble.find("does not encrypt"), std::string::npos) << trouble;
}

TEST_F(NatsEncryption, AServerMayInsist) {
  const std::string trouble = trouble_of(at("nats://" + host()));
  EXPECT_NE(trouble.find("unable to get local issuer"), std::string::npos)
      << "it is verified by what the system trusts: " << trouble;
}

TEST_F(NatsEncryption, FilesThatAreNoneAreNamed) {
  const std::string missing = trouble_of(at("tls://" + host() + "?tlsca=/nowhere/ca"));
  EXPECT_NE(missing.find("/nowhere/ca: No such file"), std::string::npos) << missing;
  const std::string damaged = trouble_of(at("tls://" + host() + "?tlsca=" + file("member.key")));
  EXPECT_NE(damaged.find(file("member.key")), std::string::npos) << damaged;
  const std::string locked = file("locked.key");
  const std::string asked =
      trouble_of(at("tls://" + host() + "?tlscert=" + file("member.crt") + "&tlskey=" + locked));
  EXPECT_NE(asked.find(locked + ": the key must not have a password"), std::string::npos) << asked;
}

TEST_F(NatsEncryption, AServerThatHoldsTheHandshakeUpIsLeft) {
  Head end;
  for (const bool drips : {false, true}) {
    const SilentServer silent(drips);
    const std::string its = "127.0.0.1:" + std::to_string(silent.port());
    std::string address = servers_.address();
    address.insert(6, its + ",");
    NatsLog* const log = connect(at(address));
    put_at_last(log, &end, "a" + std::to_string(drips));
    for (const char* const scheme : {"tls://", "nats://"}) {
      const std::string alone = trouble_of(at(scheme + its));
      EXPECT_NE(alone.find("took too long"), std::string::npos) << alone;
    }
    logs_.clear();
  }
}

// More than what sockets hold is on its way when it stops.
TEST_F(NatsEncryption, AServerThatTakesNothingIsLeft) {
  NatsLog* const log = connect();
  Head end;
  put(log, &end, "a");
  int answers = 0;
  constexpr int kAppends = 40;
  const auto append_to_nobody = [&] {
    servers_.pause(0, true);
    for (int i = 0; i < kAppends; ++i)
      log->append(end, std::string(NatsLog::kRecordBytesMax, 'x'), [&](const Appended& answer) {
        answers += answer.outcome != AppendOutcome::kDone;
      });
  };
  append_to_nobody();
  wait_until([&] { return answers == kAppends; });
  servers_.pause(0, false);
  const auto records = read_all(log);
  EXPECT_TRUE(records.size() == 1 || records.size() == 2) << "the others did not follow it";
  end = records.back().head;
  append_to_nobody();
  wait_ns(kNsPerS / 4);
  logs_.clear();  // it ends although the server takes nothing
  servers_.pause(0, false);
}

}  // namespace
}  // namespace weir::storage::nats

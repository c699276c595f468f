#include "tests/nats/nats_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <nats/nats.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "storage/format/file.h"
#include "storage/shared_logs/nats/encryption.h"
#include "tests/support/stop_process.h"

namespace weir::storage::nats {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 600;
constexpr int kTryMs = 50;
constexpr int64_t kAnswerMs = 2000;
// Below the ports that the system gives to connections by itself.
constexpr int kFirstPort = 12000;
constexpr int kPorts = 18000;

void wait_a_moment() { ::poll(nullptr, 0, kTryMs); }

std::string first_line_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::array<char, 4096> line{};
  if (!pipe || !std::fgets(line.data(), line.size(), pipe.get())) return "";
  std::string text = line.data();
  return text.substr(0, text.find('\n'));
}

int free_port() {
  static int next = ::getpid() * 11 % kPorts;
  for (int tries = 0; tries < kPorts; ++tries) {
    const int port = kFirstPort + next++ % kPorts;
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    here.sin_port = htons(static_cast<uint16_t>(port));
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&here), sizeof here) == 0) return port;
  }
  throw std::runtime_error("no port is free");
}

}  // namespace

const std::string& NatsServer::program() {
  static const std::string found = first_line_of(WEIR_GET_NATS);
  return found;
}

NatsServer::NatsServer(size_t servers, std::string tls, std::string files)
    : tls_(std::move(tls)), files_(std::move(files)), nodes_(servers) {
  std::string pattern = fs::temp_directory_path() / "weir-nats-XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  for (Node& node : nodes_) node = {.port = free_port(), .cluster_port = free_port()};
  for (size_t node = 0; node < servers; ++node) start(node);
  await();
}

NatsServer::~NatsServer() {
  for (size_t node = 0; node < nodes_.size(); ++node) stop(node);
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string NatsServer::write_configuration(size_t node) const {
  const std::string path = folder_ + "/" + name(node) + ".conf";
  std::ofstream file(path);
  file << "server_name: " << name(node) << "\nlisten: \"127.0.0.1:" << nodes_[node].port
       << "\"\njetstream { store_dir: \"" << folder_ << "/" << name(node)
       << "\", max_file_store: 1TB, sync_interval: always }\n"
       << tls_ << "\n";
  if (nodes_.size() == 1) return path;
  file << "cluster { name: weir, listen: \"127.0.0.1:" << nodes_[node].cluster_port
       << "\", routes: [";
  for (const Node& other : nodes_) file << "\"nats://127.0.0.1:" << other.cluster_port << "\", ";
  file << "] }\n";
  return path;
}

void NatsServer::start(size_t node) {
  const std::string path = write_configuration(node);
  const std::string log = folder_ + "/" + name(node) + ".log";
  const std::string& server = program();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execl(server.c_str(), server.c_str(), "-c", path.c_str(), nullptr);
    ::_exit(127);
  }
  nodes_[node].process = child;
}

void NatsServer::stop(size_t node, int signal) {
  pid_t& process = nodes_[node].process;
  if (process < 0) return;
  ::kill(process, SIGCONT);
  ::kill(process, signal);
  ::waitpid(process, nullptr, 0);
  process = -1;
}

void NatsServer::pause(size_t node, bool is_paused) {
  if (is_paused) return stop_process(nodes_[node].process);
  ::kill(nodes_[node].process, SIGCONT);
}

// A cluster is ready when it can place a stream on all of its servers.
void NatsServer::await() {
  const std::string replicas = std::to_string(nodes_.size());
  const std::string stream =
      R"({"name":"ready","subjects":["ready"],"num_replicas":)" + replicas + "}";
  while (ask("$JS.API.STREAM.CREATE.ready", stream).find("\"error\"") != std::string::npos)
    wait_a_moment();
  ask("$JS.API.STREAM.DELETE.ready", "");
}

std::string NatsServer::address_of(const std::string& hosts) const {
  return tls_.empty() ? "nats://" + hosts : "tls://" + hosts + files_;
}

std::string NatsServer::address() const {
  std::string hosts;
  for (const Node& node : nodes_)
    hosts += (hosts.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(node.port));
  return address_of(hosts);
}

// An answer of the whole cluster that it is not ready is none.
std::string NatsServer::ask(const std::string& subject, const std::string& payload) {
  for (int tries = 0; tries < kTries; ++tries) {
    const Node& node = nodes_[static_cast<size_t>(tries) % nodes_.size()];
    if (node.process < 0) continue;
    const std::string answer =
        ask_once(address_of("127.0.0.1:" + std::to_string(node.port)), subject, payload);
    if (!answer.empty() && answer.find("\"code\":503") == std::string::npos) return answer;
    wait_a_moment();
  }
  std::ifstream log(folder_ + "/" + name(0) + ".log");
  throw std::runtime_error("NATS does not answer " + subject + ": " +
                           std::string(std::istreambuf_iterator<char>(log), {}));
}

size_t NatsServer::leader_of(const std::string& stream) {
  const std::string info = ask("$JS.API.STREAM.INFO." + stream, "");
  for (size_t node = 0; node < nodes_.size(); ++node)
    if (info.find("\"leader\":\"" + name(node) + "\"") != std::string::npos) return node;
  return nodes_.size();
}

void NatsServer::await_leader(const std::string& stream) {
  for (int tries = 0; tries < kTries && leader_of(stream) == servers(); ++tries) wait_a_moment();
}

std::string ask_once(const std::string& address, const std::string& subject,
                     const std::string& payload,
                     const std::vector<std::pair<std::string, std::string>>& headers) {
  const Address parsed = *parse_address(address);
  const std::string& host = parsed.hosts.front();
  natsOptions* options = nullptr;
  natsConnection* connection = nullptr;
  natsMsg* request = nullptr;
  natsMsg* reply = nullptr;
  std::string answer;
  natsStatus status = natsOptions_Create(&options);
  if (status == NATS_OK) status = natsOptions_SetURL(options, ("nats://" + host).c_str());
  if (const std::string why = set_encryption(options, parsed, host); !why.empty())
    throw std::runtime_error(why);
  if (status == NATS_OK) status = natsConnection_Connect(&connection, options);
  if (status == NATS_OK)
    status = natsMsg_Create(&request, subject.c_str(), nullptr, payload.data(),
                            static_cast<int>(payload.size()));
  for (const auto& [name, value] : headers)
    if (status == NATS_OK) status = natsMsgHeader_Set(request, name.c_str(), value.c_str());
  if (status == NATS_OK) status = natsConnection_RequestMsg(&reply, connection, request, kAnswerMs);
  if (status == NATS_OK)
    answer.assign(natsMsg_GetData(reply), static_cast<size_t>(natsMsg_GetDataLength(reply)));
  natsMsg_Destroy(reply);
  natsMsg_Destroy(request);
  natsConnection_Destroy(connection);
  natsOptions_Destroy(options);
  return answer;
}

namespace {
std::unique_ptr<NatsServer> server;
std::unique_ptr<NatsServer> cluster;
}  // namespace

NatsServer& shared_server() {
  if (!server) server = std::make_unique<NatsServer>(1);
  return *server;
}

NatsServer& shared_cluster() {
  if (!cluster) cluster = std::make_unique<NatsServer>(3);
  return *cluster;
}

void stop_shared_servers() {
  server.reset();
  cluster.reset();
}

}  // namespace weir::storage::nats

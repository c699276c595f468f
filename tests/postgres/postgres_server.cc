#include "tests/postgres/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/stop_process.h"

namespace weir::storage::postgres {
namespace {

namespace fs = std::filesystem;

constexpr int kOldest = 15;
constexpr int kTriesOfStart = 1500;
constexpr int kTryMs = 20;

struct User {
  bool is_other = false;
  uid_t id = 0;
  gid_t group = 0;
};

User server_user() {
  if (::getuid() != 0) return {};
  for (const char* name : {"postgres", "nobody"})
    if (const passwd* found = ::getpwnam(name))
      return {.is_other = true, .id = found->pw_uid, .group = found->pw_gid};
  throw std::runtime_error("there is neither a user postgres nor nobody to run PostgreSQL as");
}

void pause() { ::poll(nullptr, 0, kTryMs); }

bool ended_well(pid_t process) {
  int status = 0;
  return ::waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string PostgresServer::programs() {
  std::string newest;
  int version = kOldest - 1;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const int found = std::atoi(entry.path().filename().c_str());
    if (found <= version || !fs::exists(entry.path() / "bin/initdb")) continue;
    version = found;
    newest = entry.path() / "bin";
  }
  return newest;
}

PostgresServer::PostgresServer() {
  std::string pattern = fs::temp_directory_path() / "weir-pg-XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  const User user = server_user();
  if (user.is_other && ::chown(folder_.c_str(), user.id, user.group) != 0)
    throw std::runtime_error("cannot give " + folder_ + " to the user of PostgreSQL");
  ::chmod(folder_.c_str(), 0755);
  if (!run(programs() + "/initdb", {"-D", folder_ + "/data", "-U", "admin", "-A", "trust",
                                    "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"}))
    throw std::runtime_error("initdb failed: see " + folder_ + "/log");
  std::ofstream(folder_ + "/data/postgresql.conf", std::ios::app)
      << "listen_addresses = ''\nunix_socket_directories = '" << folder_
      << "'\nfsync = off\nmax_connections = 40\nshared_buffers = 16MB\nmax_wal_size = 256MB\n"
         "autovacuum = off\nlog_min_messages = warning\n";
  std::string rules;
  std::getline(std::ifstream(folder_ + "/data/pg_hba.conf"), rules, '\0');
  std::ofstream(folder_ + "/data/pg_hba.conf") << "local all with_password scram-sha-256\n"
                                               << rules;
  start();
}

PostgresServer::~PostgresServer() {
  stop(SIGQUIT);
  std::error_code error;
  fs::remove_all(folder_, error);
}

void PostgresServer::start() {
  process_ = spawn(programs() + "/postgres", {"-D", folder_ + "/data"});
  await_start();
}

void PostgresServer::stop(int signal) {
  if (process_ < 0) return;
  ::kill(process_, signal);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

// The processes of the sessions hold its memory, which a new server would find in use: they are
// orphans that come to this process, and have gone when they are waited for.
void PostgresServer::kill() {
  if (process_ < 0) return;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  stop_process(process_);
  const std::vector<pid_t> children = processes();
  ::kill(process_, SIGKILL);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  process_ = -1;
  std::error_code error;
  fs::remove(folder_ + "/data/postmaster.pid", error);
}

void PostgresServer::set(const std::string& setting, const std::string& value) {
  sql("alter system set " + setting + " = " + value);
  sql("select pg_reload_conf()");
  // The reload is a signal to the server, which signals its sessions.
  pause();
  pause();
  pause();
}

std::string PostgresServer::address(const std::string& user, const std::string& database,
                                    const std::string& options) const {
  return "postgres://" + user + "@/" + database + "?host=" + folder_ +
         (options.empty() ? "" : "&" + options);
}

Rows PostgresServer::sql(const std::string& statement, const std::string& database) {
  const std::string address = "host=" + folder_ +
                              " user=admin application_name=test dbname=" + database +
                              " options='-c default_transaction_read_only=off'";
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(address.c_str()),
                                                                &PQfinish);
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexec(connection.get(), statement.c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
      << statement << ": " << PQerrorMessage(connection.get());
  Rows rows;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    auto& columns = rows.emplace_back();
    for (int column = 0; column < PQnfields(result.get()); ++column)
      columns.emplace_back(PQgetvalue(result.get(), row, column));
  }
  return rows;
}

bool PostgresServer::run(const std::string& program, const std::vector<std::string>& arguments) {
  return ended_well(spawn(program, arguments));
}

pid_t PostgresServer::spawn(const std::string& program, const std::vector<std::string>& arguments) {
  const User user = server_user();
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const std::string log = folder_ + "/log";
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (user.is_other &&
      (::setgroups(0, nullptr) != 0 || ::setgid(user.group) != 0 || ::setuid(user.id) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent) ::_exit(126);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  ::setenv("LC_ALL", "C", 1);
  if (::chdir("/") != 0) ::_exit(126);
  ::execv(program.c_str(), words.data());
  ::_exit(127);
}

std::vector<pid_t> PostgresServer::processes() const {
  const std::string id = std::to_string(process_);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> found;
  for (pid_t child = 0; children >> child;) found.push_back(child);
  return found;
}

void PostgresServer::await_start() {
  const std::string address = "host=" + folder_ + " user=admin dbname=postgres";
  for (int tries = 0; tries < kTriesOfStart; ++tries) {
    if (PQping(address.c_str()) == PQPING_OK) return;
    if (::waitpid(process_, nullptr, WNOHANG) == process_) break;
    pause();
  }
  std::ifstream log(folder_ + "/log");
  throw std::runtime_error("PostgreSQL does not start: " +
                           std::string(std::istreambuf_iterator<char>(log), {}));
}

namespace {
std::unique_ptr<PostgresServer> shared;
}

PostgresServer& shared_server() {
  if (!shared) shared = std::make_unique<PostgresServer>();
  return *shared;
}

void stop_shared_server() { shared.reset(); }

}  // namespace weir::storage::postgres

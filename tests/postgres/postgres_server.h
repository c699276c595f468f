// A PostgreSQL server of a test's own: its data in a temporary directory, its only way in a socket
// in it. It stops when the object goes, and also when the test's process is killed.
//
// PostgreSQL refuses to run as root: then it runs as the user postgres, or nobody.
#pragma once

#include <libpq-fe.h>
#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace weir::storage::postgres {

using Rows = std::vector<std::vector<std::string>>;

class PostgresServer {
 public:
  // The folder of the programs of the newest server from 15 on; "": none is installed.
  static std::string programs();

  // Makes the data, and starts. The superuser is `admin`; anybody who comes is let in.
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();
  void stop(int signal = SIGINT);
  // kill -9 of every process of it.
  void kill();
  // Sets it for the whole server; sessions that are open hear of it soon, too.
  void set(const std::string& setting, const std::string& value);

  bool is_running() const { return process_ > 0; }
  const std::string& socket_folder() const { return folder_; }
  std::string socket() const { return folder_ + "/.s.PGSQL.5432"; }
  // The address of it for a log, with options of libpq.
  std::string address(const std::string& user = "admin", const std::string& database = "postgres",
                      const std::string& options = "") const;
  // Runs a statement as the superuser, and waits for it.
  Rows sql(const std::string& statement, const std::string& database = "postgres");
  std::string value(const std::string& statement) { return sql(statement).at(0).at(0); }
  bool run(const std::string& program, const std::vector<std::string>& arguments);
  // Starts a program as the server's user; it ends with this process.
  pid_t spawn(const std::string& program, const std::vector<std::string>& arguments);

 private:
  std::vector<pid_t> processes() const;
  void await_start();

  std::string folder_;
  pid_t process_ = -1;
};

// One for the tests that change nothing of the server itself.
PostgresServer& shared_server();
void stop_shared_server();

}  // namespace weir::storage::postgres

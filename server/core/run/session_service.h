// What the server does for its sessions: the SessionHost, made of the server's parts.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/core/clients/messages.h"
#include "server/core/clients/sessions.h"
#include "server/core/disk/turn.h"
#include "server/core/run/executor.h"
#include "server/core/run/scripting.h"
#include "server/os/clock.h"
#include "server/report/report.h"
#include "server/session/requests_ahead.h"
#include "server/session/session_host.h"
#include "storage/keyspace/sought_keys.h"

namespace weir::server {

namespace acl {
class Acl;
}  // namespace acl

class SessionService final : public SessionHost {
 public:
  struct Needs {
    CallHost* host;
    const Config* config;
    Timeline* timeline;
    storage::Keyspace* keys;
    Report* report;
    acl::Acl* acl;
    Executor* executor;
    Sessions* sessions;
    Messages* messages;
    Turn* turn;
    const Scripting* scripting;
  };
  explicit SessionService(const Needs& needs)
      : SessionHost(needs.config, &needs.host->work()), needs_(needs), sought_(needs.keys) {}

  // Looks again whether anything may keep requests from running. The server calls it when something
  // has changed that hold_for() and turn_is_full() look at.
  void note_pressure();

  std::shared_ptr<const acl::User> default_user() const override;
  bool asks_for_login() const override;
  void note_in_turn(Session* session) override;
  Hold hold_for(const Session& session, Args args) const override;
  bool turn_is_full() const override;
  uint64_t slice_end() const override;
  RequestsAhead* requests_ahead() override { return is_busy() ? nullptr : &requests_ahead_; }
  void expect(const Session& session, Args args) override;
  void expect_first(const Session& session, std::string_view bytes) override;
  void fetch_expected() override { (void)sought_.fetch(); }
  Ran execute(Session& session, Args args) override;
  void deliver_messages() override;
  void count_client_bytes(Session& session, int64_t change) override;
  void count_received(size_t bytes) override;
  void count_sent(size_t bytes) override;
  void note_protocol_error(const Session& session, const std::string& error) override;
  void note_query_buffer_overrun(const Session& session) override;

 private:
  bool is_busy() const;

  Needs needs_;
  RequestsAhead requests_ahead_;
  storage::SoughtKeys sought_;
};

}  // namespace weir::server

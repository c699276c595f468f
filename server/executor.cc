#include "server/executor.h"

#include <algorithm>

#include "server/arguments.h"
#include "server/server.h"
#include "server/session.h"

namespace weir::server {
namespace {

constexpr uint64_t kTimedOneIn = 16;

}  // namespace

int Call::database() const { return session.database; }

Executor::Executor(Server* server) : server_(server), figures_(table_.count()) {}

std::string unknown_command_error(const CommandTable& table, Args args) {
  constexpr size_t kShownMax = 128;
  const Command* container = table.find(args[0]);
  if (container != nullptr && args.size() > 1) {
    return "ERR unknown subcommand '" + std::string(shown_part(args[1]).substr(0, kShownMax)) +
           "'. Try " + resp::to_upper(container->name) + " HELP.";
  }
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kShownMax; ++i) {
    const size_t room = kShownMax - shown.size();
    shown.append("'").append(shown_part(args[i]).substr(0, room)).append("' ");
  }
  return "ERR unknown command '" + std::string(shown_part(args[0]).substr(0, kShownMax)) +
         "', with args beginning with: " + shown;
}

bool is_cross_protocol_request(Args args) {
  return resp::equals_ignoring_case(args[0], "post") ||
         resp::equals_ignoring_case(args[0], "host:");
}

std::string arity_error(const Command& command) {
  return "ERR wrong number of arguments for '" + std::string(command.name) + "' command";
}

bool arity_fits(const Command& command, size_t args) {
  const auto count = static_cast<int>(std::min<size_t>(args, 1 << 30));
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

std::string Executor::refusal(Session& session, const Command* command, Args args) {
  if (command == nullptr) return unknown_command_error(table_, args);
  if (!arity_fits(*command, args.size()) || command->run == nullptr) return arity_error(*command);
  if (!session.authenticated && !command->has(kNoAuth)) return "NOAUTH Authentication required.";
  if (command->has(kWrites) && server_->writes_denied()) return server_->storage_error();
  return {};
}

// Most requests are for the same command as the one before.
const Command* Executor::resolve(Args args) {
  if (recent_ != nullptr && !args.empty() && args[0] == recent_spelling_) {
    return recent_;
  }
  const Command* command = table_.resolve(args);
  const bool plain = command != nullptr && !command->has(kContainer) &&
                     command->name.find('|') == std::string_view::npos;
  if (plain) {
    recent_ = command;
    recent_spelling_ = args[0];
    recent_index_ = table_.index_of(*command);
  }
  return command;
}

CommandFigures& Executor::figures_of(const Command& command) {
  return figures_[&command == recent_ ? recent_index_ : table_.index_of(command)];
}

bool Executor::execute(Session& session, Args args) {
  const Command* command = resolve(args);
  if (command == nullptr && is_cross_protocol_request(args)) {
    server_->note_cross_protocol_request(session);
    session.kill();
    return false;
  }
  const size_t reply_begin = session.output_.size();
  server_->stats.commands += 1;
  ++session.commands_run;
  if (std::string error = refusal(session, command, args); !error.empty()) {
    session.reply_.error(error);
    ++server_->stats.error_replies;
    if (command != nullptr) ++figures_of(*command).rejected;
    return command != nullptr && command->has(kWrites);
  }
  session.last_command = command;
  storage::Keyspace& keys = server_->keys();
  const int64_t now_ns = server_->timeline().now_ns();
  keys.begin_command(now_ns);
  run(session, *command, args, session.reply_);
  if (!keys.failure().ok()) {
    keys.roll_back();
    session.output_.resize(reply_begin);
    session.reply_.error(server_->note_read_failure(keys.failure()));
  }
  if (session.output_.size() > reply_begin && session.output_[reply_begin] == '-') {
    ++server_->stats.error_replies;
    ++figures_of(*command).failed;
    if (!command->has(kKeepsOnError)) keys.roll_back();
  }
  return command->has(kReads | kWrites);
}

void Executor::run(Session& session, const Command& command, Args args, resp::ReplyWriter& reply) {
  CommandFigures& figures = figures_of(command);
  const bool timed = figures.calls++ % kTimedOneIn == 0;
  Call call{.server = *server_,
            .session = session,
            .keys = server_->keys(),
            .reply = reply,
            .command = command,
            .args = args,
            .now_ns = server_->keys().now_ns()};
  if (!timed) return command.run(call);
  const int64_t begin_ns = server_->clock().steady_ns();
  command.run(call);
  figures.timed_ns += server_->clock().steady_ns() - begin_ns;
  ++figures.timed;
}

void Executor::reset_figures() { std::fill(figures_.begin(), figures_.end(), CommandFigures()); }

}  // namespace weir::server

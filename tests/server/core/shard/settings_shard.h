// A server in the place of the primary of one shard of several, and what it is told of settings.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/shard/settings_store.h"
#include "server/script/lua/sha1.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {

inline constexpr std::string_view kLibraryCode =
    "#!lua name=one\nredis.register_function('f', function() return 1 end)";

// A server in the place of a shard's primary.
class SettingsShard {
 public:
  SettingsShard(uint64_t bits, std::string name,
                std::shared_ptr<storage::MemoryDisk> disk = nullptr)
      : name_(std::move(name)), server_({}, std::move(disk)), client_(server_.connect()) {
    begin_settings(bits);
  }

  void begin_settings(uint64_t bits) {
    Server& server = *server_;
    server.keys().running().begin_command(server.timeline().now_ns());
    server.shard_role().settings().begin(bits);
    server.turn().commit_early();
  }
  std::string ask(std::initializer_list<std::string_view> words) {
    return as_text(client_->send(request(words)));
  }
  std::string ask(std::string_view line) { return server::ask(*client_, line); }
  SettingsJournal& journal() { return server_->limiters().settings; }
  std::string digest() { return digest_text_of(journal().head()); }
  SettingsPage page(uint64_t after) {
    server_->keys().running().begin_command(server_->timeline().now_ns());
    return server_->shard_role().settings().page(after);
  }
  void take(const std::string& from, const SettingsPage& page) {
    EXPECT_TRUE(server_->shard_role().take_settings(from, {}, page));
  }
  // All that the other one has and this one has not heard.
  size_t pull(SettingsShard* other) {
    for (size_t pages = 1;; ++pages) {
      const SettingsPage page = other->page(journal().taken_from(other->name_, {}));
      take(other->name_, page);
      if (!page.has_more) return pages;
    }
  }
  void advance(int64_t ns) { server_.advance(ns); }
  FakeServer& server() { return server_; }
  const std::string& name() const { return name_; }

  // What clients see, without versions.
  std::string contents() {
    std::string text = ask("RL.POLICY LIST") + ask("FUNCTION LIST WITHCODE");
    for (const char* policy : {"p0", "p1", "p2"}) {
      text += ask("RL.POLICY GET " + std::string(policy));
      for (const char* key : {"k0", "k1", "k2"}) text += override_text(policy, key);
    }
    for (const char* body : {"return 0", "return 1", "return 2"})
      text += ask("SCRIPT EXISTS " + script::sha1_hex(body));
    return text;
  }

 private:
  // In no order that counts.
  std::string override_text(const std::string& policy, const std::string& key) {
    const std::string all = ask("RL.POLICY OVERRIDES " + policy);
    const size_t at = all.find("\"" + key + "\"");
    return at == all.npos ? "-" : all.substr(at, all.find(']', at) - at);
  }

  std::string name_;
  FakeServer server_;
  std::unique_ptr<FakeClient> client_;
};

}  // namespace weir::server

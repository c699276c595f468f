// Addresses of a log on PostgreSQL.
#include "storage/shared_logs/postgres/address.h"

#include <gtest/gtest.h>

#include "base/one_line.h"
#include "storage/shared_logs/postgres/session.h"

namespace weir::storage::postgres {
namespace {

std::string shown(const std::string& text) {
  const auto address = parse_address(text);
  if (!address) return address.error();
  std::string out;
  for (const Host& host : address->hosts)
    out += host.name + "|" + host.address + "|" + host.port + " ";
  for (const auto& [name, value] : address->options) out += name + "=" + value + " ";
  return out;
}

TEST(PostgresAddress, IsLibpqs) {
  EXPECT_EQ(shown("postgres://weir@db1/limits"), "db1|| user=weir dbname=limits ");
  EXPECT_EQ(shown("postgresql://weir@db1:5433,db2:5434/limits?sslmode=verify-full"),
            "db1||5433 db2||5434 user=weir dbname=limits sslmode=verify-full ");
  EXPECT_EQ(shown("postgres://weir@db1,db2/limits?port=6000"),
            "db1||6000 db2||6000 user=weir dbname=limits ");
  EXPECT_EQ(shown("postgres://weir@[::1]:5433/limits"), "::1||5433 user=weir dbname=limits ");
  EXPECT_EQ(shown("postgres://weir@/limits?host=/run/pg"), "/run/pg|| user=weir dbname=limits ");
  EXPECT_EQ(shown("postgres://weir@db1/limits?hostaddr=10.0.0.1"),
            "db1|10.0.0.1| user=weir dbname=limits ");
  EXPECT_EQ(shown("postgres://db1"), "db1|| ");
}

TEST(PostgresAddress, WhatIsRefusedIsSaid) {
  const auto expect = [](const std::string& text, const std::string& part) {
    const std::string error = shown(text);
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  };
  expect("postgres://weir:secret@db1/limits", "log-password-file");
  expect("postgres://weir@db1/limits?password=secret", "PGPASSFILE");
  expect("postgres://weir:secret@[db1/limits", "is not postgres://USER@HOST");
  expect("postgres://weir@db1/limits?password=secret&none=1", "is not postgres://USER@HOST");
  expect("postgres://weir@db1/limits?colour=red", "colour");
  expect("postgres://weir@db1/limits?service=a", "'service' is not accepted");
  expect("postgres://weir@db1/limits?target_session_attrs=any", "got 'any'");
  expect("postgres://weir@db1,db2,db3/limits?hostaddr=10.0.0.1,10.0.0.2", "number of hosts");
  expect("postgres://weir@db1,db2,db3/limits?port=1,2", "number of ports");
  expect("postgre://weir@db1", "postgres://USER@HOST");
  expect("", "postgres://USER@HOST");
}

TEST(PostgresAddress, WhichNamesAreLookedUp) {
  const auto needs = [](const std::string& name) {
    return !needs_no_look_up({.name = name, .address = "", .port = ""});
  };
  EXPECT_TRUE(needs("db1"));
  EXPECT_TRUE(needs("10.0.0"));
  for (const char* name : {"10.0.0.1", "::1", "/run/postgresql", "@hidden", ""})
    EXPECT_FALSE(needs(name)) << name;
  EXPECT_TRUE(needs_no_look_up({.name = "db1", .address = "10.0.0.1", .port = ""}));
}

TEST(PostgresFacts, CopiesAreThoseThatAnAppendWaitsFor) {
  EXPECT_EQ(copies_of(""), 1u);
  EXPECT_EQ(copies_of("  "), 1u);
  EXPECT_EQ(copies_of("a"), 2u);
  EXPECT_EQ(copies_of("*"), 2u);
  EXPECT_EQ(copies_of("db2, db3"), 2u);
  EXPECT_EQ(copies_of("2 (a, b, c)"), 3u);
  EXPECT_EQ(copies_of("FIRST 1 (a, b)"), 2u);
  EXPECT_EQ(copies_of("ANY 2 (a1, b2, c3)"), 3u);
}

TEST(PostgresFacts, TextsAreOneLine) {
  EXPECT_EQ(one_line("FATAL:  a\n\tDETAIL:  b \n"), "FATAL: a DETAIL: b");
  EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace weir::storage::postgres

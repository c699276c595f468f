// Bodies of /v1/ as words of commands, and what is wrong with them; without a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/v1/body_words.h"
#include "server/http/v1/endpoints.h"

namespace weir::server::http {
namespace {

using testing::HasSubstr;

// The words with blanks between, or the error's line.
std::string asked(std::string_view path, std::string_view body) {
  const Endpoint* endpoint = find_endpoint(path);
  const auto parsed = parse_json(body);
  if (endpoint == nullptr || !parsed) return "no such endpoint, or no JSON";
  const auto made = words_of(*endpoint, *parsed);
  if (!made) return made.error().line();
  std::string text;
  for (const std::string& word : *made) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(V1Words, AreThoseOfTheCommand) {
  const struct {
    std::string_view path, body, words;
  } kRows[] = {
      {"take", R"({"key": "k", "limits": ["GCRA 10/1s", "FIXED", "5/1h"], "cost": [1, 2],
                   "shadow": true, "upto": false, "id": null, "hold": "60s"})",
       "RL.TAKE k GCRA 10/1s FIXED 5/1h COST 1,2 SHADOW HOLD 60s HEADERS"},
      {"take", R"({"key": 42, "policy": "\u00e4pi", "headers": true, "full": true, "id": 7})",
       "RL.TAKE 42 POLICY \xc3\xa4pi ID 7 HEADERS"},
      {"take", R"({"KEY": {"hex": "6b"}, "Policy": "p", "force": true, "OnChange": "reset"})",
       "RL.TAKE k POLICY p FORCE ONCHANGE RESET HEADERS"},
      {"peek", R"({"key": "k"})", "RL.PEEK k HEADERS"},
      {"peek", R"({"key": "k", "policy": "p", "cost": 3.0})", "RL.PEEK k POLICY p COST 3 HEADERS"},
      {"mtake", R"({"keys": ["a", 2], "policy": "p"})", "RL.MTAKE 2 a 2 POLICY p FULL"},
      {"mtake", R"({"keys": ["a", "b"], "cost": [1, 10, 1], "each": [{"policy": "api"},
                    {"limits": "CONCURRENCY 5 LEASE 30s", "policy": "team"}]})",
       "RL.MTAKE 2 a b EACH POLICY api EACH CONCURRENCY 5 LEASE 30s POLICY team COST 1,10,1 FULL"},
      {"acquire", R"({"key": "k", "limits": "1/1s", "timeout": "10s", "id": "7f3a"})",
       "RL.ACQUIRE k 1/1s TIMEOUT 10s ID 7f3a HEADERS"},
      {"acquire", R"({"key": "k", "limits": "1/1s", "timeout": 500})",
       "RL.ACQUIRE k 1/1s TIMEOUT 500 HEADERS"},
      {"reserve", R"({"key": "k", "limits": "1/1s", "maxwait": 0})", "RL.RESERVE k 1/1s MAXWAIT 0"},
      {"settle", R"({"key": "k", "id": 5418236077, "cost": 3127})", "RL.SETTLE k 5418236077 3127"},
      {"cancel", R"({"id": 1, "key": "k"})", "RL.CANCEL k 1"},
      {"release", R"({"key": "k", "id": 9007199254740991})", "RL.RELEASE k 9007199254740991"},
      {"renew", R"({"key": "k", "id": 2})", "RL.RENEW k 2"},
      {"refund", R"({"key": "k", "permits": [1, 5000], "id": "x"})", "RL.REFUND k 1,5000 ID x"},
      {"report", R"({"key": "k", "result": "fail", "latency": "2s"})",
       "RL.REPORT k FAIL LATENCY 2s"},
      {"info", R"({"key": ""})", "RL.INFO "},
      {"reset", R"({"key": "k"})", "RL.RESET k"},
      {"top", "{}", "RL.TOP"},
      {"top", R"({"window": "DAY", "count": 3, "by": "TAKEN"})", "RL.TOP TAKEN DAY COUNT 3"},
      {"top/reset", "{}", "RL.TOP RESET"},
      {"policies/list", "{}", "RL.POLICY LIST"},
      {"policies/get", R"({"policy": "a b"})", "RL.POLICY GET a b"},
      {"policies/set", R"({"policy": "p", "percent": 10, "limits": "5/1m", "onchange": "ASIS"})",
       "RL.POLICY SET p 5/1m PERCENT 10 ONCHANGE ASIS"},
      {"policies/set", R"({"policy": "p", "limits": "BLOCKED", "shadow": null})",
       "RL.POLICY SET p BLOCKED"},
      {"policies/delete", R"({"policy": "p"})", "RL.POLICY DEL p"},
      {"policies/override", R"({"limits": "UNLIMITED", "prefix": "vip:", "policy": "p"})",
       "RL.POLICY OVERRIDE p PREFIX vip: UNLIMITED"},
      {"policies/override/delete", R"({"policy": "p", "key": "k"})",
       "RL.POLICY OVERRIDE p KEY k DEL"},
      {"policies/overrides", R"({"policy": "p", "cursor": "7"})", "RL.POLICY OVERRIDES p 7"},
      {"policies/stats", R"({"policy": "p"})", "RL.POLICY STATS p"},
      {"policies/stats/all", "{}", "RL.POLICY STATS"},
      {"policies/history", R"({"policy": "p"})", "RL.POLICY HISTORY p"},
      {"policies/reload", R"({"diff": true})", "RL.POLICY RELOAD DIFF"},
      {"policies/report", R"({"policy": "p", "result": "OK"})", "RL.POLICY REPORT p OK"},
  };
  for (const auto& row : kRows) EXPECT_EQ(asked(row.path, row.body), row.words) << row.body;
}

// Costs count the limits in the order in which they are written.
TEST(V1Words, PolicyAndLimitsKeepTheirOrder) {
  EXPECT_EQ(asked("take", R"({"policy": "p", "limits": "5/1s", "key": "k"})"),
            "RL.TAKE k POLICY p 5/1s HEADERS");
  EXPECT_EQ(asked("take", R"({"limits": "5/1s", "key": "k", "cost": 2, "policy": "p"})"),
            "RL.TAKE k 5/1s POLICY p COST 2 HEADERS");
}

constexpr struct {
  std::string_view path, body, error;
} kFaults[] = {
    {"take", "[]", "ERR the body must be an object"},
    {"take", "null", "ERR the body must be an object"},
    {"take", R"({"limits": "1/1s"})", "ERR key must be given"},
    {"take", R"({"key": "k"})", "ERR policy or limits must be given"},
    {"take", R"({"key": "k", "policy": null})", "ERR policy or limits must be given"},
    {"take", R"({"key": "k", "limits": "1/1s", "colour": 1})",
     "ERR colour is unknown: there are key, policy, limits, cost, upto, shadow, force, id, hold, "
     "onchange, full, headers"},
    {"take", R"({"key": "k", "limits": "1/1s", "Key": "j"})", "ERR Key is given twice"},
    {"take", R"({"key": "k", "limits": "1/1s", "cost": "3"})",
     "ERR cost must be an integer between 0 and 1000000000000, or an array of them with one for "
     "each limit, got \"3\""},
    {"take", R"({"key": "k", "limits": "1/1s", "shadow": 1})",
     "ERR shadow must be true or false, got 1"},
    {"take", R"({"key": "k", "limits": "1/1s", "hold": 30})",
     "ERR hold must be a string with an integer and a unit (us ms s m h d w), got 30"},
    {"take", R"({"key": "k", "limits": "1/1s", "hold": "30"})",
     "ERR hold must be a string with an integer and a unit (us ms s m h d w), got \"30\""},
    {"take", R"({"key": "k", "limits": "1/1s", "onchange": "KEEP"})",
     "ERR onchange must be USED, RESET, ASIS, PROPORTIONAL or ADDITIVE, got \"KEEP\""},
    {"take", R"({"key": "k", "limits": "1/1s", "id": ""})",
     "ERR id must be a string of 1 to 64 bytes, or an integer, got \"\""},
    {"take", R"({"key": "k", "policy": ""})",
     "ERR policy must be a string of 1 to 128 bytes, got \"\""},
    {"take", R"({"key": "k", "limits": " "})",
     "ERR limits must be limits in a string, or in an array of strings, got \" \""},
    {"take", R"({"key": "k", "limits": ["1/1s", 5]})",
     "ERR limits must be limits in a string, or in an array of strings, got [\"1/1s\",5]"},
    {"acquire", R"({"key": "k", "limits": "1/1s"})", "ERR timeout must be given"},
    {"acquire", R"({"key": "k", "limits": "1/1s", "timeout": 0})",
     "ERR timeout must be a string with an integer and a unit (us ms s m h d w), or an integer, "
     "which is milliseconds, 1 to 60000 ms, got 0"},
    {"mtake", R"({"keys": [], "policy": "p"})",
     "ERR keys must be an array of 1 to 16 keys, got []"},
    {"mtake", R"({"keys": ["a", null], "policy": "p"})",
     "ERR keys[1] must be a string or an integer, or {\"hex\": \"...\"} for other bytes, got "
     "null"},
    {"mtake", R"({"keys": ["a"]})", "ERR each or policy or limits must be given"},
    {"mtake", R"({"keys": ["a"], "each": [{"policy": "p"}], "limits": "1/1s"})",
     "ERR each goes neither with policy nor with limits"},
    {"mtake", R"({"keys": ["a"], "each": [{"policy": "p"}, {"cost": 1}]})",
     "ERR each[1].cost is unknown: there are policy, limits"},
    {"mtake", R"({"keys": ["a"], "each": [{}]})", "ERR each[0].policy or limits must be given"},
    {"settle", R"({"key": "k", "id": 0, "cost": 1})",
     "ERR id must be an integer between 1 and 9007199254740991, got 0"},
    {"settle", R"({"key": "k", "id": null, "cost": 1})",
     "ERR id must be an integer between 1 and 9007199254740991, got null"},
    {"refund", R"({"key": "k", "permits": []})",
     "ERR permits must be an integer between 0 and 1000000000000, or an array of them with one "
     "for each limit, got []"},
    {"report", R"({"key": "k", "result": "OK", "latency": "2d"})",
     "ERR latency must be a string with an integer and a unit (us ms s m h d w), or an integer, "
     "which is milliseconds, 0 to 86400000 ms, got \"2d\""},
    {"policies/override", R"({"policy": "p", "limits": "1/1s"})",
     "ERR key or prefix must be given, one of the two"},
    {"policies/override", R"({"policy": "p", "limits": "1/1s", "key": "a", "prefix": "b"})",
     "ERR key or prefix must be given, one of the two"},
    {"policies/set", R"({"policy": "p", "limits": null})",
     "ERR limits must be limits in a string, or in an array of strings, got null"},
    {"mtake", R"({"keys": [], "policy": "p"})",
     "ERR keys must be an array of 1 to 16 keys, got []"},
    {"mtake", R"({"keys": ["a"], "each": 1})",
     "ERR each must be an array of 1 to 16 objects with policy, limits or both, got 1"},
    {"policies/list", R"({"a": 1})", "ERR a is unknown: there are none"},
};

TEST(V1Words, WhatIsWrongIsNamed) {
  for (const auto& row : kFaults) EXPECT_EQ(asked(row.path, row.body), row.error) << row.body;
  for (const std::string key : {"true", "false", "null", "[]", R"(["u", "t"])", "1.5", "1e300",
                                "{}", R"({"hex": "6"})", "9223372036854775808"}) {
    EXPECT_THAT(asked("take", R"({"limits": "10/1s", "Key": )" + key + "}"),
                HasSubstr("ERR key must be a string or an integer, or {\"hex\": \"...\"}"))
        << key;
  }
}

}  // namespace
}  // namespace weir::server::http

// What the HTTP port answers, on a server without sockets.
#include "server/http/answers.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "server/core/metrics/metrics.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class HttpAnswers : public ::testing::Test {
 protected:
  http::Answer get(std::string_view target, std::string_view accept = "") {
    return http::answer(*server_, {.method = "GET", .target = target, .accept = accept});
  }
  // The value of a metric, or "none".
  std::string value(const std::string& metric) {
    std::istringstream lines(get("/metrics").body);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(metric + " ")) return line.substr(metric.size() + 1);
    }
    return "none";
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(HttpAnswers, TellsWhatThereIs) {
  const http::Answer answer = get("/nothing");
  EXPECT_EQ(answer.status, 404u);
  EXPECT_EQ(
      answer.body,
      "there is no such page; there are / /v1/page /metrics /history /healthz /readyz /serves\n");
}

TEST_F(HttpAnswers, MetricsMayAskForAUser) {
  server_->config().metrics_auth = true;
  server_->acl().set_default_password("secret");
  const auto status = [this](std::string_view authorization) {
    return http::answer(*server_,
                        {.method = "GET", .target = "/metrics", .authorization = authorization})
        .status;
  };
  EXPECT_EQ(status(""), 401u);
  EXPECT_EQ(status("Basic OnNlY3JldA=="), 200u);
  EXPECT_EQ(status("Bearer ZGVmYXVsdDpzZWNyZXQ="), 200u);
  EXPECT_EQ(status("Basic Ondyb25n"), 401u);
  client_->call({"AUTH", "secret"});
  client_->call({"ACL", "SETUSER", "few", "on", ">p", "+get"});
  EXPECT_EQ(status("Basic ZmV3OnA="), 401u);
  client_->call({"ACL", "SETUSER", "few", "+info"});
  EXPECT_EQ(status("Basic ZmV3OnA="), 200u);
  EXPECT_EQ(get("/healthz").status, 200u);
}

TEST_F(HttpAnswers, OnlyReads) {
  const http::Answer answer =
      http::answer(*server_, {.method = "POST", .target = "/metrics", .accept = ""});
  EXPECT_EQ(answer.status, 405u);
  ASSERT_EQ(answer.fields.size(), 1u);
  EXPECT_EQ(answer.fields[0], std::make_pair(std::string("Allow"), std::string("GET, HEAD")));
}

TEST_F(HttpAnswers, AQueryIsIgnored) { EXPECT_EQ(get("/healthz?x=1").body, "alive\n"); }

TEST_F(HttpAnswers, IsReadyWhileItServesWrites) {
  EXPECT_EQ(get("/readyz").status, 200u);
  EXPECT_EQ(value("weir_ready"), "1");
}

TEST_F(HttpAnswers, AServerOfNoShardServesWhateverItsStoreDoes) {
  EXPECT_EQ(get("/serves").body, "serves\n");
  server_.disk().faults.disk_full = true;
  client_->call({"SET", "k", "v"});
  EXPECT_EQ(get("/readyz").status, 503u);
  EXPECT_EQ(get("/serves").status, 200u);
}

TEST(HttpReadiness, AStandbyIsReadyWhileItFollows) {
  MemberView standby;
  standby.state = "following";
  EXPECT_EQ(unready_reason(standby), "");
  for (const char* state : {"joining", "claiming", "copying", "switching over"}) {
    standby.state = state;
    EXPECT_EQ(unready_reason(standby),
              std::string("this member of its shard does not serve and is ") + state);
  }
  standby.state = "stopped";
  standby.stopped_because = "the shared log is damaged";
  EXPECT_EQ(unready_reason(standby),
            "this member of its shard does not serve and is stopped: the shared log is damaged");
}

TEST_F(HttpAnswers, TheFormatIsTheOneThatIsAskedFor) {
  EXPECT_EQ(get("/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
  const http::Answer open =
      get("/metrics", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
  EXPECT_EQ(open.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_TRUE(open.body.ends_with("# EOF\n"));
}

TEST_F(HttpAnswers, MetricsCountVerdicts) {
  client_->call({"CL.THROTTLE", "k", "0", "1", "60"});
  client_->call({"CL.THROTTLE", "k", "0", "1", "60"});
  EXPECT_EQ(value("weir_verdicts_total{outcome=\"allowed\"}"), "1");
  EXPECT_EQ(value("weir_verdicts_total{outcome=\"denied\"}"), "1");
  EXPECT_EQ(value("weir_command_calls_total{command=\"cl.throttle\"}"), "2");
  EXPECT_EQ(value("weir_database_keys{database=\"0\"}"), "1");
}

TEST_F(HttpAnswers, PoliciesAreToldApart) {
  client_->call({"RL.POLICY", "SET", "api", "GCRA", "1/m"});
  client_->call({"RL.TAKE", "a", "POLICY", "api"});
  client_->call({"RL.TAKE", "a", "POLICY", "api"});
  EXPECT_EQ(value("weir_policy_verdicts_total{policy=\"api\",outcome=\"allowed\"}"), "1");
  EXPECT_EQ(value("weir_policy_verdicts_total{policy=\"api\",outcome=\"denied\"}"), "1");
}

TEST_F(HttpAnswers, TooManyPoliciesAreOneSum) {
  for (size_t i = 0; i < kPolicyMetricsMax + 3; ++i) {
    const std::string name = "p" + std::to_string(1000 + i);
    client_->call({"RL.POLICY", "SET", name, "GCRA", "1/m"});
    client_->call({"RL.TAKE", name, "POLICY", name});
  }
  EXPECT_EQ(value("weir_policy_verdicts_total{policy=\"p1000\",outcome=\"allowed\"}"), "1");
  EXPECT_EQ(value("weir_policy_verdicts_total{policy=\"p1200\",outcome=\"allowed\"}"), "none");
  EXPECT_EQ(value("weir_policy_verdicts_total{policy=\"other\",outcome=\"allowed\"}"), "3");
}

// Both formats demand that a metric has one head and its samples after it.
TEST_F(HttpAnswers, EachMetricHasOneHead) {
  client_->call({"SET", "key", "1"});
  client_->call({"LPUSH", "key", "1"});
  std::set<std::string> heads;
  std::istringstream lines(get("/metrics").body);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_TRUE(heads.insert(name).second) << name;
  }
  EXPECT_GT(heads.size(), 60u);
}

TEST_F(HttpAnswers, NoKeyIsNamed) {
  client_->call({"RL.TAKE", "a-secret-key", "GCRA", "1/m"});
  client_->call({"RL.TAKE", "a-secret-key", "GCRA", "1/m"});
  EXPECT_EQ(get("/metrics").body.find("a-secret-key"), std::string::npos);
}

}  // namespace
}  // namespace weir::server

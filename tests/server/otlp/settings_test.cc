#include "server/otlp/settings.h"

#include <gmock/gmock.h>

#include <map>

namespace weir::server::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

using Variables = std::map<std::string, std::string>;

Result<Settings, std::string> read(const Variables& variables) {
  return read_settings([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kBoth{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}};

// With an endpoint for both.
Result<Settings, std::string> read_with(const Variables& more) {
  Variables all = kBoth;
  for (const auto& [name, value] : more) all[name] = value;
  return read(all);
}

std::string refusal(const std::string& name, const std::string& value) {
  const auto settings = read_with({{name, value}});
  return settings ? "" : settings.error();
}

TEST(OtlpSettings, NothingIsSentUnlessAnEndpointIsNamed) {
  EXPECT_FALSE(read({})->exports());
  EXPECT_FALSE(read({{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}})->exports());
  EXPECT_FALSE(read({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}})->exports());
  EXPECT_FALSE(read_with({{"OTEL_SDK_DISABLED", "True"}})->exports());
}

TEST(OtlpSettings, AnEndpointForBothIsABase) {
  auto settings = read(kBoth);
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->metrics->shown(), "http://collector:4318/v1/metrics");
  EXPECT_EQ(settings->spans->shown(), "http://collector:4318/v1/traces");
  EXPECT_EQ(settings->metrics_interval_ms, 60'000);
  EXPECT_EQ(settings->spans_interval_ms, 5'000);
  EXPECT_EQ(settings->metrics->timeout_ms, 10'000);
  EXPECT_THAT(settings->resource, ElementsAre(Pair("service.name", "weir")));
  settings = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://[::1]/otlp/"}});
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->spans->shown(), "https://[::1]:443/otlp/v1/traces");
}

TEST(OtlpSettings, AnEndpointOfOneKindIsTakenAsItIs) {
  auto settings = read({{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m:1/push"}});
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->metrics->shown(), "http://m:1/push");
  EXPECT_FALSE(settings->spans);
  settings = read_with({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t"}});
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->spans->shown(), "http://t:80/");
  EXPECT_EQ(settings->metrics->host, "collector");
}

TEST(OtlpSettings, EachKindCanBeTurnedOff) {
  EXPECT_FALSE(read_with({{"OTEL_METRICS_EXPORTER", "none"}})->metrics);
  EXPECT_TRUE(read_with({{"OTEL_METRICS_EXPORTER", "none"}})->spans);
  EXPECT_FALSE(read_with({{"OTEL_TRACES_EXPORTER", "none"}})->spans);
  EXPECT_TRUE(read_with({{"OTEL_TRACES_EXPORTER", "otlp"}})->spans);
}

TEST(OtlpSettings, WhatIsOfOneKindPrevails) {
  const auto settings = read_with({{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x = y"},
                                   {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "z=1"},
                                   {"OTEL_EXPORTER_OTLP_TIMEOUT", "500"},
                                   {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "700"},
                                   {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"}});
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_THAT(settings->metrics->fields, ElementsAre(Pair("api-key", "a b"), Pair("x", "y")));
  EXPECT_THAT(settings->spans->fields, ElementsAre(Pair("z", "1")));
  EXPECT_EQ(settings->metrics->timeout_ms, 700);
  EXPECT_EQ(settings->spans->timeout_ms, 500);
  EXPECT_EQ(settings->spans->certificates.ca_cert_file, "/ca.pem");
}

TEST(OtlpSettings, TheServiceHasItsName) {
  const std::string attributes = "service.name=a,deployment.environment.name=p%2C1";
  EXPECT_THAT(read_with({{"OTEL_RESOURCE_ATTRIBUTES", attributes}})->resource,
              ElementsAre(Pair("service.name", "a"), Pair("deployment.environment.name", "p,1")));
  EXPECT_EQ(read_with({{"OTEL_RESOURCE_ATTRIBUTES", attributes}, {"OTEL_SERVICE_NAME", "b"}})
                ->resource[0]
                .second,
            "b");
}

TEST(OtlpSettings, IntervalsAreMilliseconds) {
  const auto settings =
      read_with({{"OTEL_METRIC_EXPORT_INTERVAL", " 1500 "}, {"OTEL_BSP_SCHEDULE_DELAY", "200"}});
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->metrics_interval_ms, 1500);
  EXPECT_EQ(settings->spans_interval_ms, 200);
}

TEST(OtlpSettings, WhatCannotBeObeyedIsRefusedInWords) {
  EXPECT_EQ(
      refusal("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
      "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, the only protocol of OTLP that weir "
      "speaks, got 'grpc'");
  EXPECT_THAT(refusal("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
              HasSubstr("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be"));
  EXPECT_EQ(refusal("OTEL_METRICS_EXPORTER", "prometheus"),
            "OTEL_METRICS_EXPORTER must be otlp or none, got 'prometheus'");
  EXPECT_EQ(refusal("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            "OTEL_EXPORTER_OTLP_COMPRESSION must be none, weir compresses nothing, got 'gzip'");
  for (const char* interval : {"99", "-1", "1s", "1e3", "86400001", "99999999999999999999"}) {
    EXPECT_EQ(refusal("OTEL_METRIC_EXPORT_INTERVAL", interval),
              "OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds from 100 to 86400000, "
              "got '" +
                  std::string(interval) + "'");
  }
  for (const char* attributes : {"a", "=b", "a=%", "a=%zz", "a=%4"})
    EXPECT_THAT(refusal("OTEL_RESOURCE_ATTRIBUTES", attributes), HasSubstr("must be name=value"));
}

TEST(OtlpSettings, AHeaderIsOneAndIsNotShown) {
  for (const char* fields : {"key=secret%0D%0AEvil:1", "k y=secret", "secret", "k:=secret"}) {
    const std::string error = refusal("OTEL_EXPORTER_OTLP_HEADERS", fields);
    EXPECT_THAT(error, HasSubstr("OTEL_EXPORTER_OTLP_HEADERS must be name=value")) << fields;
    EXPECT_THAT(error, Not(HasSubstr("secret")));
  }
}

TEST(OtlpSettings, AnEndpointIsAnAddress) {
  for (const char* url : {"collector:4318", "ftp://a", "http://", "http://a:0", "http://a:65536",
                          "http://a:x", "http://:1", "http://[::1", "http://u:secret@a",
                          "http://a b", "http://a\r\nX: y", "http://[::1]x", "http://a?q"}) {
    const auto settings = read({{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", url}});
    ASSERT_FALSE(settings) << url;
    EXPECT_THAT(settings.error(), HasSubstr("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "));
    EXPECT_THAT(settings.error(), HasSubstr("an address is written http://host[:port][/path]"));
    EXPECT_THAT(settings.error(), Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace weir::server::otlp

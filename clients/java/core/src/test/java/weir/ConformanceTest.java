package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import weir.core.Failure;
import weir.core.Limits;
import weir.core.View;

/** The tables that all clients share; no server is asked. */
class ConformanceTest {
  @TestFactory
  Stream<DynamicTest> limits() throws Exception {
    return Tables.each("limits", "limits", row -> assertEquals(Tables.specs(row.get("specs")),
        Limits.parse(Limits.words(row.get("limits").asText())).orElse(null)));
  }

  @TestFactory
  Stream<DynamicTest> errors() throws Exception {
    return Tables.each("errors", "error", row -> assertEquals(row.get("means").asText(),
        Failure.ofError(row.get("error").asText()).map(Failure::toString).orElse("program")));
  }

  @TestFactory
  Stream<DynamicTest> fields() throws Exception {
    return Tables.each("fields", "name", row -> {
      Replies.Full full = Replies.full(Tables.reply(row.get("reply")), null, Tables.cost(row.get("cost")));
      JsonNode banned = row.get("banned_ms");
      assertEquals(banned.isNull() ? null : banned.asDouble(), full.bannedMs());
      Verdict got = full.verdict();
      JsonNode wanted = row.get("verdict");
      assertEquals(wanted.get("allowed").asBoolean(), got.allowed());
      assertEquals(wanted.get("limit").asLong(), got.limit());
      assertEquals(wanted.get("remaining").asLong(), got.remaining());
      assertEquals(wanted.get("granted").asLong(), got.granted());
      assertEquals(wanted.get("retry_ms").asDouble(), ms(got.retryAfter()));
      assertEquals(wanted.get("reset_ms").asDouble(), ms(got.resetAfter()));
      assertEquals(wanted.get("policy").isNull() ? null : wanted.get("policy").asText(), got.policy().orElse(null));
      assertEquals(Tables.specs(row.get("specs")), got.specs());
      Map<String, String> headers = new HashMap<>();
      row.get("headers").fields().forEachRemaining(field -> headers.put(field.getKey(), field.getValue().asText()));
      assertEquals(headers, got.headersWithLegacy());
    });
  }

  private static double ms(Optional<Duration> duration) {
    return duration.map(found -> found.toNanos() / 1e6).orElse(View.NEVER);
  }

  @TestFactory
  Stream<DynamicTest> away() throws Exception {
    return Stream.concat(played("away"), Stream.concat(played("unknown"), played("bookings")));
  }

  private static Stream<DynamicTest> played(String table) throws Exception {
    return Tables.each(table, "name", row -> {
      AwayPlayer player = new AwayPlayer(row);
      for (JsonNode step : row.get("steps")) {
        player.play(step);
      }
    });
  }
}

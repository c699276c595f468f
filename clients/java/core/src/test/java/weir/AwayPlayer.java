package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import weir.core.Answer;
import weir.core.Away;
import weir.core.Booking;
import weir.core.Core;
import weir.core.Cost;
import weir.core.Decision;
import weir.core.Failure;
import weir.core.HandBack;
import weir.core.Limits;
import weir.core.Plan;
import weir.core.View;

/** Does the steps of a row of away.json, or of a table like it, to a core. */
final class AwayPlayer {
  private static final double CLOSE = 1e-6;

  private final Core core;
  private final Map<String, HandBack> planned = new HashMap<>();
  private int ids;

  AwayPlayer(JsonNode row) {
    int keysMax = row.has("keys_max") ? row.get("keys_max").asInt() : Core.KEYS_MAX;
    core = new Core(Limits.parse(Limits.words(row.get("limits").asText())).orElse(null),
        Away.valueOf(row.get("away").asText().toUpperCase(Locale.ROOT)),
        row.get("processes").isNull() ? null : row.get("processes").asDouble(), keysMax, () -> 0.5);
  }

  void play(JsonNode step) {
    double at = step.get("at").asDouble();
    String kind = Stream.of("answered", "replied", "failed", "plan", "handed_back", "decide", "book", "give_back",
        "probe", "probed")
        .filter(step::has).findFirst().get();
    JsonNode what = step.get(kind);
    String key = what.isObject() ? what.get("key").asText() : "";
    switch (kind) {
      case "answered" -> {
        core.replied();
        core.answered(key, at, answer(what));
      }
      case "replied" -> core.replied();
      case "failed" -> {
        Failure failure = Stream.of(Failure.values()).filter(found -> found.toString().equals(what.asText()))
            .findFirst().get();
        core.failed(at, failure);
        assertEquals(step.get("away").asBoolean(), core.breaker().isAway(), step.toString());
      }
      case "plan" -> plan(key, at, step);
      case "handed_back" -> core.handedBack(key, planned.get(key));
      case "decide" -> decide(key, at, what, step);
      case "book" -> book(key, at, what, step);
      case "give_back" -> core.giveBack(key, what.get("cost").asLong(), at);
      case "probe" -> assertEquals(step.get("begins").asBoolean(), core.breaker().beginProbe(at), step.toString());
      default -> {
        core.breaker().probed(at, what.asBoolean());
        assertEquals(step.get("away").asBoolean(), core.breaker().isAway(), step.toString());
      }
    }
  }

  private static Answer answer(JsonNode what) {
    double[] resets = what.has("resets_ms")
        ? Tables.rows(what.get("resets_ms")).mapToDouble(JsonNode::asDouble).toArray() : new double[0];
    Long callers = what.has("callers") ? what.get("callers").asLong() : null;
    return new Answer(new Cost(what.get("granted").asLong()), Tables.specs(what.get("specs")), resets,
        what.has("blocked") ? what.get("blocked").asBoolean() : null,
        what.has("banned_ms") ? what.get("banned_ms").asDouble() : null, callers);
  }

  private void plan(String key, double at, JsonNode step) {
    Plan plan = core.plan(key, at, () -> Integer.toString(ids++));
    assertEquals(step.get("asks").asBoolean(), plan.asks(), step.toString());
    if (!plan.asks()) {
      return;
    }
    HandBack back = plan.handBack();
    Cost wanted = step.get("hand_back").isNull() ? null
        : new Cost(Tables.rows(step.get("hand_back")).mapToLong(JsonNode::asLong).toArray());
    assertEquals(wanted, back == null ? null : back.costs(), step.toString());
    HandBack before = planned.put(key, back);
    if (before != null && back != null && before.costs().equals(back.costs())) {
      assertEquals(before, back, "the ID of a hand back is kept");
    }
  }

  private void book(String key, double at, JsonNode what, JsonNode step) {
    double most = what.has("wait_max") ? what.get("wait_max").asDouble() : Double.POSITIVE_INFINITY;
    Booking booking = core.book(key, new Cost(what.get("cost").asLong()), most, at);
    assertEquals(step.get("booked").asBoolean(), booking.isBooked(), step.toString());
    if (step.has("wait")) {
      assertEquals(step.get("wait").asDouble(), booking.decision().deciding().get().retryMs(), CLOSE, step.toString());
    }
  }

  private void decide(String key, double at, JsonNode what, JsonNode step) {
    Decision decision = core.decide(key, new Cost(what.get("cost").asLong()), at, true);
    assertEquals(step.get("allowed").asBoolean(), decision.allowed(), step.toString());
    View view = decision.deciding().orElse(null);
    if (step.has("remaining")) {
      assertNotNull(view, step.toString());
      assertEquals(step.get("remaining").asLong(), view.remaining(), step.toString());
    }
    if (step.has("retry")) {
      assertEquals(step.get("retry").asDouble(), view.retryMs(), CLOSE, step.toString());
    }
    if (step.has("reset")) {
      assertEquals(step.get("reset").asDouble(), view.resetMs(), CLOSE, step.toString());
    }
  }
}

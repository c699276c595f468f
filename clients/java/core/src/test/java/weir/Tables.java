package weir;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.function.Executable;
import weir.core.Cost;
import weir.core.Spec;

/** The tables of clients/conformance. */
final class Tables {
  interface Check {
    void of(JsonNode row) throws Exception;
  }

  private Tables() {}

  static JsonNode table(String name) throws IOException {
    return new ObjectMapper().readTree(WeirServer.root().resolve("clients/conformance/" + name + ".json").toFile());
  }

  static Stream<JsonNode> rows(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false);
  }

  static Stream<DynamicTest> each(String name, String title, Check check) throws IOException {
    return rows(table(name)).map(row -> {
      Executable body = () -> check.of(row);
      return DynamicTest.dynamicTest(row.get(title).asText(), body);
    });
  }

  static List<Spec> specs(JsonNode rows) {
    if (rows == null || rows.isNull()) {
      return null;
    }
    return rows(rows).map(row -> new Spec(Spec.Kind.valueOf(row.get(0).asText().toUpperCase(Locale.ROOT)),
        row.get(1).asText(), row.get(2).asDouble(), row.get(3).asDouble(), row.get(4).asDouble())).toList();
  }

  /** One number, one for each limit, or null where it is left out. */
  static Cost cost(JsonNode node) {
    if (node == null) {
      return Cost.ONE;
    }
    return node.isArray() ? new Cost(rows(node).mapToLong(JsonNode::asLong).toArray()) : new Cost(node.asLong());
  }

  /** As the client reads it: maps as flat pairs. */
  static Object reply(JsonNode node) {
    if (node.isObject()) {
      List<Object> pairs = new ArrayList<>();
      node.fields().forEachRemaining(field -> {
        pairs.add(field.getKey());
        pairs.add(reply(field.getValue()));
      });
      return pairs;
    }
    if (node.isArray()) {
      return rows(node).map(Tables::reply).toList();
    }
    return node.isNull() ? null : node.isTextual() ? node.asText() : (Object) node.asLong();
  }
}

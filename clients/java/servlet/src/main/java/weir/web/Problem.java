package weir.web;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import weir.Verdict;

/** The body of a 429: application/problem+json. */
public final class Problem {
  /** The status of a denial. */
  public static final int STATUS = 429;
  /** The media type of the body. */
  public static final String TYPE = "application/problem+json";
  private static final String QUOTA = "https://iana.org/assignments/http-problem-types#quota-exceeded";
  private static final String TITLE = "Request cannot be satisfied as assigned quota has been exceeded";
  private static final char SPACE = ' ';

  private Problem() {}

  /**
   * The body of a denial.
   *
   * @param verdict the denial
   * @param cost permits that were asked for
   * @return JSON
   */
  public static String of(Verdict verdict, long cost) {
    List<String> names = verdict.itemNames();
    String violated = IntStream.range(0, names.size()).filter(index -> verdict.limits().get(index).remaining() < cost)
        .mapToObj(index -> quoted(names.get(index))).collect(Collectors.joining(", "));
    return "{\"type\": " + quoted(QUOTA) + ", \"title\": " + quoted(TITLE) + ", \"status\": " + STATUS
        + ", \"violated-policies\": [" + violated + "]}";
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        quoted.append('\\').append(letter);
      } else if (letter < SPACE) {
        quoted.append(String.format("\\u%04x", (int) letter));
      } else {
        quoted.append(letter);
      }
    }
    return quoted.append('"').toString();
  }
}

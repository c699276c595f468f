package weir.core;

import java.util.Optional;
import java.util.Set;

/** How weir failed to answer a call. */
public enum Failure {
  /** Refused, cut, or answered that it does not serve. */
  GONE("gone"),
  /** It serves what reads: MISCONF, OOM. */
  NO_WRITES("no writes"),
  /** Nothing came in time. */
  LATE("late");

  // First words of errors by which a server says that it does not serve. All others are the program's.
  private static final Set<String> GONE_WORDS =
      Set.of("READONLY", "MASTERDOWN", "LOADING", "CLUSTERDOWN", "TRYAGAIN", "BUSY");
  private static final Set<String> NO_WRITES_WORDS = Set.of("MISCONF", "OOM");
  private static final String MAX_CLIENTS = "ERR max number of clients";

  private final String words;

  Failure(String words) {
    this.words = words;
  }

  /**
   * What an error reply means.
   *
   * @param error the text of the reply
   * @return nothing if it is a fault of the program, which is raised
   */
  public static Optional<Failure> ofError(String error) {
    String word = error.split(" ", 2)[0];
    if (NO_WRITES_WORDS.contains(word)) {
      return Optional.of(NO_WRITES);
    }
    return GONE_WORDS.contains(word) || error.startsWith(MAX_CLIENTS) ? Optional.of(GONE) : Optional.empty();
  }

  /** The failure in words: gone, no writes, late. */
  @Override
  public String toString() {
    return words;
  }
}

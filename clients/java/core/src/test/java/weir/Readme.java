package weir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The blocks of the README, which tests hold to be code that is compiled and settings that are used. */
public final class Readme {
  static final Path FOLDER = WeirServer.root().resolve("clients/java");

  private Readme() {}

  /** Those of a language, as they stand. */
  public static List<String> blocks(String language) throws IOException {
    String page = Files.readString(FOLDER.resolve("README.md"));
    return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(page).results()
        .map(found -> found.group(1)).toList();
  }
}

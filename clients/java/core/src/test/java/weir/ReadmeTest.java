package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each block of Java in the README is a piece of a test, here or in the modules for Spring. */
class ReadmeTest {
  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static String words(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }

  @Test
  void blocksAreCompiled() throws Exception {
    String tests;
    try (Stream<Path> files = Files.walk(Readme.FOLDER)) {
      tests = words(files.filter(file -> file.toString().matches(".*/src/test/.*\\.java")).map(ReadmeTest::text)
          .collect(Collectors.joining("\n")));
    }
    List<String> blocks = Readme.blocks("java");
    assertEquals(5, blocks.size());
    for (String block : blocks) {
      String code = words(block).replace("\"redis://127.0.0.1:7000\"", "server.url()");
      assertTrue(tests.contains(code), "no test has this:\n" + block);
    }
  }

  @Test
  void aLimiterAndLots() throws Exception {
    try (WeirServer server = WeirServer.started()) {
      Weir weir = Weir.connect(server.url());
      WeirLimiter limiter = weir.limiter("100/1m BURST 20").processes(4).build();
      Verdict verdict = limiter.take("user:42");
      assertEquals(verdict.source() == Source.WEIR ? 21 : 5, verdict.limit()); // a busy machine may be late
      try (Lots lots = limiter.lots(Duration.ofMillis(100))) {
        boolean allowed = lots.take("tenant:7");
      }
      State state = limiter.state();
      assertEquals(2, state.asked() + state.decidedHere());
      weir.close();
    }
  }
}

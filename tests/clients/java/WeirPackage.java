import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import io.lettuce.core.RedisClient;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

// Runs the tests of clients/java, and says each one's outcome. WEIR_SERVER is the program that they start.
public final class WeirPackage implements TestExecutionListener {
  private static final String ALL = "weir\\..*Test";
  private static final String WITHOUT_SERVER = "weir\\.ConformanceTest";
  private static final int WHY_MAX = 600;
  // Some classes at once, as most of them wait for something; a test that hangs fails.
  private static final Map<String, String> EXECUTION = Map.of("parallel.enabled", "true", "parallel.mode.default",
      "same_thread", "parallel.mode.classes.default", "concurrent", "parallel.config.strategy", "fixed",
      "parallel.config.fixed.parallelism", "4", "parallel.config.fixed.max-pool-size", "4", "timeout.default", "200 s",
      "timeout.thread.mode.default", "separate_thread");

  private static String name(TestIdentifier test) {
    String place = test.getSource().map(source -> source instanceof MethodSource method
        ? method.getJavaClass().getSimpleName() + "." + method.getMethodName()
        : source instanceof ClassSource type ? type.getJavaClass().getSimpleName() : "").orElse("");
    String title = test.getDisplayName().replace(": ", ", ");
    return title.endsWith("()") || title.equals(place) ? place : place + " " + title;
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
      if (test.isTest()) {
        Report.say("ok %s", name(test));
      }
      return;
    }
    String why = result.getThrowable().map(Object::toString).orElse("no reason").replaceAll("\\s+", " ");
    Report.say("not ok %s: %s", name(test), why.substring(0, Math.min(WHY_MAX, why.length())));
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    Report.say("skip %s: %s", name(test), reason);
  }

  public static void main(String[] arguments) throws Exception {
    Report.say("version %s", Report.version(RedisClient.class));
    Path classes = Path.of(WeirPackage.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String wanted = !Report.IS_WEIR ? WITHOUT_SERVER : arguments.length > 0 ? arguments[0] : ALL;
    LauncherDiscoveryRequestBuilder tests = request().selectors(selectClasspathRoots(Set.of(classes)))
        .filters(ClassNameFilter.includeClassNamePatterns(wanted));
    EXECUTION.forEach((name, value) -> tests.configurationParameter("junit.jupiter.execution." + name, value));
    LauncherFactory.create().execute(tests.build(), new WeirPackage());
    Report.say("done");
    System.exit(0);
  }
}

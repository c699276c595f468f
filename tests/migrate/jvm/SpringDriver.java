import io.lettuce.core.ScriptOutputType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

// Spring Cloud Gateway's script out of its jar, unmodified, on both servers, beside RL.TAKE of
// TOKENBUCKET. The script counts in whole seconds of the server's clock.
public final class SpringDriver {
  private static final String SCRIPT = System.getenv("MIGRATE_SCRIPT");

  private SpringDriver() {}

  private static String answer(boolean allowed, long left) {
    return allowed + " " + left;
  }

  private static Lockstep.Limiter script(Server server, String key, int rate, int capacity) {
    String[] keys = {"request_rate_limiter.{" + key + "}.tokens",
      "request_rate_limiter.{" + key + "}.timestamp"};
    return cost -> {
      List<Long> reply = server.connection.sync().eval(SCRIPT, ScriptOutputType.MULTI, keys,
          "" + rate, "" + capacity, "", "" + cost);
      return answer(reply.get(0) == 1, reply.get(1));
    };
  }

  private static Map<String, Lockstep.Limiter> limiters(int rate, int capacity) {
    String key = Server.newKey("route");
    var all = new LinkedHashMap<String, Lockstep.Limiter>();
    all.put("script on Redis", script(Server.REDIS, key, rate, capacity));
    all.put("script on weir", script(Server.WEIR, key, rate, capacity));
    all.put("RL.TAKE", cost -> {
      var verdict = Server.WEIR.verdict("RL.TAKE %s TOKENBUCKET %d/1s CAPACITY %d COST %d", key,
          rate, capacity, cost);
      return answer(verdict.allowed(), verdict.remaining());
    });
    return all;
  }

  // 50 ms before a second all is taken, 100 ms later the script has a whole second's tokens again.
  private static void boundary() throws Exception {
    var answers = Lockstep.play(List.of(new Lockstep.Step(0, 5), new Lockstep.Step(120, 5)), 80,
        () -> limiters(5, 5), () -> Lockstep.atMillisecond(910));
    Report.expect(answers.get("script on Redis"), List.of("true 0", "true 0"), "on Redis");
    Report.expect(answers.get("script on weir"), List.of("true 0", "true 0"), "on weir");
    Report.expect(answers.get("RL.TAKE"), List.of("true 0", "false 0"), "RL.TAKE");
    Report.figure("boundary: 5 a second, 5 at the end of a second and 5 more 120 ms later: the "
        + "script admits 10, RL.TAKE 5");
  }

  public static void main(String[] arguments) {
    Report.say("version spring-cloud-gateway %s", System.getenv("MIGRATE_SCRIPT_VERSION"));
    // What is taken at the same place of each second is the same; a little later, so that ours has
    // had its whole second, too.
    var steps = List.of(new Lockstep.Step(0, 1, 12), new Lockstep.Step(1040, 1, 7),
        new Lockstep.Step(2080, 3), new Lockstep.Step(2085, 3), new Lockstep.Step(4120, 10),
        new Lockstep.Step(4125, 1));
    for (Server server : List.of(Server.REDIS, Server.WEIR)) {
      server.connection.sync().eval(SCRIPT, ScriptOutputType.MULTI, new String[] {"a", "b"}, "1",
          "1", "", "1");
    }
    Lockstep.checkSame("burst of 40", List.of(new Lockstep.Step(0, 1, 40)), 450,
        () -> limiters(1, 20), () -> Lockstep.atMillisecond(300));
    Lockstep.checkSame("by the second", steps, 120, () -> limiters(5, 10),
        () -> Lockstep.atMillisecond(400));
    Report.check("boundary", SpringDriver::boundary);
    Report.say("done");
    System.exit(0);
  }
}

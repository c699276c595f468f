import java.util.List;
import java.util.Set;

// A bare client: what BareChecks asks of it. A byte is a character of the same number.
interface Bare extends AutoCloseable {
  // As CLIENT SETINFO tells them.
  String name();

  String version();

  // A client with another password or name for the connection; null leaves it out.
  Bare again(String password, String clientName);

  // Its own type for what a server refuses, and for all that goes wrong.
  Class<? extends Exception> refusal();

  Class<? extends Exception> failure();

  // A command without a method of its own.
  List<Long> numbers(String command, String... words);

  void unknown(String command);

  String ping();

  String echo(String text);

  String info();

  String clientList();

  void password(String password);

  String set(String key, String value);

  String setFor(String key, String value, long ms);

  String get(String key);

  long incr(String key);

  void push(String key, String value);

  boolean exists(String key);

  boolean expire(String key, long seconds);

  long ttl(String key);

  long pttl(String key);

  boolean persist(String key);

  void setAll(List<String> keys, String value);

  Set<String> scan(String pattern);

  // SET and GET of each key in one go, and what they answered in order.
  List<Object> pipeline(List<String> keys);

  @Override
  void close();
}

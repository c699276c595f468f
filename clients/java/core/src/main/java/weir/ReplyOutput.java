package weir;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Any reply: Long, Double, Boolean, String, null, or a list of them. A map is a list of flat pairs. */
final class ReplyOutput extends CommandOutput<String, String, Object> {
  private record Open(List<Object> list, int size) {}

  private final Deque<Open> open = new ArrayDeque<>();

  ReplyOutput() {
    super(StringCodec.UTF8, null);
  }

  @Override
  public void set(ByteBuffer bytes) {
    add(bytes == null ? null : codec.decodeValue(bytes));
  }

  @Override
  public void setSingle(ByteBuffer bytes) {
    set(bytes);
  }

  @Override
  public void setBigNumber(ByteBuffer bytes) {
    set(bytes);
  }

  @Override
  public void set(long integer) {
    add(integer);
  }

  @Override
  public void set(double number) {
    add(number);
  }

  @Override
  public void set(boolean value) {
    add(value);
  }

  @Override
  public void multi(int count) {
    if (count <= 0) {
      add(count < 0 ? null : List.of());
      return;
    }
    List<Object> list = new ArrayList<>(count);
    put(list);
    open.push(new Open(list, count));
  }

  private void put(Object value) {
    if (open.isEmpty()) {
      output = value;
    } else {
      open.peek().list.add(value);
    }
  }

  // What comes after the last element of a list belongs to the list around it.
  private void add(Object value) {
    put(value);
    while (!open.isEmpty() && open.peek().list.size() == open.peek().size) {
      open.pop();
    }
  }
}

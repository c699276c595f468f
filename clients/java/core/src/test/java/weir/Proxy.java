package weir;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Between a client and weir: it is late, loses replies with their connections, or cuts. */
final class Proxy implements AutoCloseable {
  private interface Body {
    void run() throws Exception;
  }

  final AtomicInteger writes = new AtomicInteger(); // of requests, as they have come together
  final AtomicInteger lose = new AtomicInteger(); // replies to so many requests that name RL.TAKE
  volatile long delayMs; // before each reply
  volatile long trickleMs; // between its bytes
  private final ServerSocket listener;
  private final int to;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  Proxy(int to) throws IOException {
    this.to = to;
    listener = new ServerSocket(0);
    beside(() -> {
      while (true) {
        Socket client = listener.accept();
        client.setTcpNoDelay(true);
        sockets.add(client);
        beside(() -> serve(client));
      }
    });
  }

  private static void beside(Body body) {
    Thread thread = new Thread(() -> {
      try {
        body.run();
      } catch (Exception error) {
        return; // the connection has ended
      }
    });
    thread.setDaemon(true);
    thread.start();
  }

  String url() {
    return "redis://127.0.0.1:" + listener.getLocalPort();
  }

  private void serve(Socket client) throws IOException {
    try (client; Socket server = new Socket("127.0.0.1", to)) {
      sockets.add(server);
      AtomicBoolean isLost = new AtomicBoolean();
      beside(() -> replies(server, client, isLost));
      byte[] buffer = new byte[65536];
      for (int size = client.getInputStream().read(buffer); size > 0; size = client.getInputStream().read(buffer)) {
        boolean takes = new String(buffer, 0, size, StandardCharsets.ISO_8859_1).contains("RL.TAKE");
        if (takes) {
          writes.incrementAndGet();
        }
        if (takes && lose.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
          isLost.set(true);
        }
        server.getOutputStream().write(buffer, 0, size);
      }
    }
  }

  private void replies(Socket server, Socket client, AtomicBoolean isLost) throws Exception {
    byte[] buffer = new byte[65536];
    for (int size = server.getInputStream().read(buffer); size > 0; size = server.getInputStream().read(buffer)) {
      if (isLost.get()) {
        client.close();
        return;
      }
      Thread.sleep(delayMs);
      int step = trickleMs > 0 ? 1 : size;
      for (int at = 0; at < size; at += step) {
        Thread.sleep(trickleMs);
        client.getOutputStream().write(buffer, at, step);
      }
    }
  }

  /** Ends all connections. */
  void cut() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }
}

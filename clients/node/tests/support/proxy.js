// Between a client and weir: a proxy that is late, loses replies or cuts; and a server that answers what it is told.
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

class Listener {
  async listen(t) {
    this.sockets = new Set();
    this.server = net.createServer((socket) => {
      socket.setNoDelay(true);
      this.keep(socket);
      this.serve(socket);
    });
    await new Promise((resolve) => { this.server.listen(0, '127.0.0.1', resolve); });
    this.port = this.server.address().port;
    this.url = `redis://127.0.0.1:${this.port}`;
    t.after(() => this.end());
    return this;
  }

  keep(socket) {
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
  }

  /** Ends all connections. */
  cut() {
    for (const socket of this.sockets) socket.destroy();
  }

  end() {
    this.cut();
    this.server.close();
  }
}

/**
 * `delayMs`: before each reply. `trickleMs`: between its bytes. `lose`: the replies to so many requests that name
 * RL.TAKE are lost, with their connections. `isDeaf`: nothing goes on, in connections that are there and in new ones.
 */
export class Proxy extends Listener {
  delayMs = 0;
  trickleMs = 0;
  lose = 0;
  isDeaf = false;

  constructor(to) {
    super();
    this.to = to;
  }

  serve(client) {
    const server = net.connect(this.to, '127.0.0.1');
    this.keep(server);
    let isLost = false;
    client.isDeaf = this.isDeaf;
    client.on('data', (data) => {
      if (this.isDeaf || client.isDeaf) {
        client.isDeaf = true;
        return;
      }
      if (this.lose && data.includes('RL.TAKE')) {
        this.lose -= 1;
        isLost = true;
      }
      server.write(data);
    });
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    let before = Promise.resolve();
    server.on('data', (data) => {
      if (isLost) {
        client.destroy();
        return;
      }
      before = before.then(() => this.reply(client, data));
    });
  }

  async reply(client, data) {
    if (this.delayMs) await pause(this.delayMs);
    if (!this.trickleMs) {
      client.write(data);
      return;
    }
    for (const byte of data) {
      await pause(this.trickleMs);
      if (client.destroyed) return;
      client.write(Buffer.from([byte]));
    }
  }
}

/** Answers each command by its name, in upper case, from `replies` (text of the protocol), else +OK. It speaks RESP3. */
export class Answering extends Listener {
  constructor(replies) {
    super();
    this.replies = { HELLO: '%1\r\n$5\r\nproto\r\n:3\r\n', INFO: '$9\r\nloading:0\r\n', ...replies };
    this.seen = [];
  }

  serve(client) {
    let text = '';
    client.on('data', (data) => {
      text += data.toString('latin1');
      for (;;) {
        const command = /^\*(\d+)\r\n/.exec(text);
        if (!command) return;
        let at = command[0].length;
        const words = [];
        while (words.length < Number(command[1])) {
          const head = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20));
          if (!head || text.length < at + head[0].length + Number(head[1]) + 2) return;
          at += head[0].length;
          words.push(text.slice(at, at + Number(head[1])));
          at += Number(head[1]) + 2;
        }
        text = text.slice(at);
        this.seen.push(words);
        client.write(this.replies[words[0].toUpperCase()] ?? '+OK\r\n');
      }
    });
  }
}

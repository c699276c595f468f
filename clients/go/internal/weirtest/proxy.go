package weirtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// listener serves each connection in a goroutine of its own.
type listener struct {
	listener net.Listener
	lock     sync.Mutex
	sockets  []net.Conn
}

func (l *listener) listen(t testing.TB, serve func(net.Conn)) {
	made, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.listener = made
	t.Cleanup(func() {
		_ = made.Close()
		l.Cut()
	})
	go func() {
		for {
			client, err := made.Accept()
			if err != nil {
				return
			}
			l.keep(client)
			go func() {
				defer func() { _ = client.Close() }()
				serve(client)
			}()
		}
	}()
}

func (l *listener) keep(socket net.Conn) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.sockets = append(l.sockets, socket)
}

// URL is where it listens.
func (l *listener) URL() string { return "redis://" + l.listener.Addr().String() }

// Cut ends all connections.
func (l *listener) Cut() {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, socket := range l.sockets {
		_ = socket.Close()
	}
	l.sockets = nil
}

// Proxy stands before a weir-server.
type Proxy struct {
	listener
	Delay   atomic.Int64 // milliseconds before each reply
	Trickle atomic.Int64 // milliseconds between its bytes
	Lose    atomic.Int64 // the replies to so many requests that name RL.TAKE are lost, with their connections
	to      string
}

// NewProxy makes one that disturbs nothing yet.
func NewProxy(t testing.TB, server *Server) *Proxy {
	made := &Proxy{to: server.Address()}
	made.listen(t, made.serve)
	return made
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	p.keep(server)
	var lost atomic.Bool
	go p.replies(server, client, &lost)
	buffer := make([]byte, 65536)
	for {
		size, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:size], []byte("RL.TAKE")) && p.Lose.Load() > 0 {
			p.Lose.Add(-1)
			lost.Store(true)
		}
		if _, err := server.Write(buffer[:size]); err != nil {
			return
		}
	}
}

func (p *Proxy) replies(server, client net.Conn, lost *atomic.Bool) {
	defer func() { _ = client.Close() }()
	buffer := make([]byte, 65536)
	for {
		size, err := server.Read(buffer)
		if err != nil || lost.Load() {
			return
		}
		time.Sleep(time.Duration(p.Delay.Load()) * time.Millisecond)
		piece := size
		if p.Trickle.Load() > 0 {
			piece = 1
		}
		for at := 0; at < size; at += piece {
			time.Sleep(time.Duration(p.Trickle.Load()) * time.Millisecond)
			if _, err := client.Write(buffer[at : at+piece]); err != nil {
				return
			}
		}
	}
}

// Answering answers each command by its name, in upper case, from its replies (bytes of the protocol), else +OK.
type Answering struct {
	listener
	replies map[string]string
}

// NewAnswering makes one that speaks RESP3.
func NewAnswering(t testing.TB, replies map[string]string) *Answering {
	made := &Answering{replies: map[string]string{"HELLO": "%1\r\n+proto\r\n:3\r\n"}}
	for name, reply := range replies {
		made.replies[name] = reply
	}
	made.listen(t, made.serve)
	return made
}

func (a *Answering) serve(client net.Conn) {
	lines := bufio.NewReader(client)
	for {
		var count int
		if _, err := fmt.Fscanf(lines, "*%d\r\n", &count); err != nil {
			return
		}
		name := ""
		for index := range count {
			var size int
			if _, err := fmt.Fscanf(lines, "$%d\r\n", &size); err != nil {
				return
			}
			word := make([]byte, size+2)
			if _, err := io.ReadFull(lines, word); err != nil {
				return
			}
			if index == 0 {
				name = strings.ToUpper(string(word[:size]))
			}
		}
		reply, found := a.replies[name]
		if !found {
			reply = "+OK\r\n"
		}
		if _, err := client.Write([]byte(reply)); err != nil {
			return
		}
	}
}

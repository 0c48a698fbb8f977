package main

import (
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A crawl that a service manager has started says that it is ready, and then that it stops.
func TestCrawl_reportsToItsServiceManager(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such sockets")
	}
	name := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := silent.Close(); err != nil { // nothing answers there, so the site is tried again until the time is over
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", name)
	t.Setenv("WATCHDOG_USEC", "300000")
	received := make(chan []string)
	go func() {
		var messages []string
		for b := make([]byte, 4096); ; {
			n, err := socket.Read(b)
			if err != nil {
				break // all of them were read
			}
			messages = append(messages, string(b[:n]))
		}
		received <- messages
	}()
	call("crawl", "--dir", filepath.Join(t.TempDir(), "crawl"), "--progress", "none", "--allow-net", "127.0.0.0/8",
		"--max-time", "1s", "http://"+silent.Addr().String()+"/")
	if err := socket.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	messages := <-received
	all := strings.Join(messages, "\n\n")
	if !strings.HasPrefix(all, "READY=1\nSTATUS=running: ") || !strings.Contains(all, "\n\nWATCHDOG=1\nSTATUS=") ||
		!strings.Contains(messages[len(messages)-1], "STOPPING=1") {
		t.Errorf("messages:\n%s", all)
	}
}

package process

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// fakeSystemd is a socket as systemd gives one to a service.
func fakeSystemd(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such sockets")
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func received(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 1000)
	n, err := conn.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func variables(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

// A message is one datagram, whose lines are assignments. A line break in a value cannot add an assignment.
func TestSupervisor_sendsAMessageInOneDatagram(t *testing.T) {
	names := []string{filepath.Join(t.TempDir(), "notify")}
	if runtime.GOOS == "linux" {
		names = append(names, "@orbweaver-test-"+strconv.Itoa(os.Getpid()))
	}
	for _, name := range names {
		socket := fakeSystemd(t, name)
		s, err := FindSupervisor(variables(map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000000"}))
		if err != nil || !s.Listens() || s.Watchdog() != 2*time.Second {
			t.Fatalf("%+v, %v", s, err)
		}
		s.Notify("READY=1", "STATUS=a\nWATCHDOG=1")
		if got := received(t, socket); got != "READY=1\nSTATUS=a WATCHDOG=1" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Without a service manager, or with a socket that is gone, messages are discarded.
func TestSupervisor_withoutOneMessagesAreDiscarded(t *testing.T) {
	s, err := FindSupervisor(variables(nil))
	if err != nil || s.Listens() || s.Watchdog() != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	s.Notify("READY=1")
	s, err = FindSupervisor(variables(map[string]string{"NOTIFY_SOCKET": filepath.Join(t.TempDir(), "gone")}))
	if err == nil || s.Listens() {
		t.Errorf("%+v, %v", s, err)
	}
	s.Notify("READY=1")
}

// The watchdog of another process, or a period that is no number, is none.
func TestWatchdogOf(t *testing.T) {
	for _, c := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"", "", 0}, {"30000000", "", 30 * time.Second}, {"30000000", strconv.Itoa(os.Getpid()), 30 * time.Second},
		{"30000000", "1", 0}, {"soon", "", 0}, {"-5", "", 0},
	} {
		if got := watchdogOf(variables(map[string]string{"WATCHDOG_USEC": c.usec, "WATCHDOG_PID": c.pid})); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A service manager that does not read cannot hold the crawl up.
func TestSupervisor_aManagerThatDoesNotReadHoldsNothingUp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	fakeSystemd(t, name)
	s, err := FindSupervisor(variables(map[string]string{"NOTIFY_SOCKET": name}))
	if err != nil {
		t.Fatal(err)
	}
	conn := s.out.(patientConn)
	for { // until the queue of the socket is full
		if err := conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.UnixConn.Write([]byte("WATCHDOG=1")); err != nil {
			break
		}
	}
	began := time.Now()
	s.Notify("STOPPING=1")
	if took := time.Since(began); took > 5*patience {
		t.Errorf("the message took %v", took)
	}
}

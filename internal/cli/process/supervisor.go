package process

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Supervisor is the service manager that started this process, such as systemd. It takes messages if it has named a
// socket in the variable NOTIFY_SOCKET (sd_notify(3)). Without one, messages are discarded.
type Supervisor struct {
	out      io.Writer // one datagram for each call of Write
	listens  bool
	watchdog time.Duration
}

// FindSupervisor returns the service manager that the environment names. An error says why the socket cannot be used;
// the Supervisor discards its messages then.
func FindSupervisor(variable func(name string) string) (*Supervisor, error) {
	s := &Supervisor{out: io.Discard}
	name := variable("NOTIFY_SOCKET")
	if name == "" {
		return s, nil
	}
	// A name that begins with @ is in the abstract namespace of Linux; package net knows that form.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return s, fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	s.out, s.listens = patientConn{conn}, true
	s.watchdog = watchdogOf(variable)
	return s, nil
}

// patience is how long a message may wait for a service manager that does not read. The message is lost then.
const patience = time.Second

// patientConn is a socket whose writes do not wait for longer than patience.
type patientConn struct{ *net.UnixConn }

// Write sends one datagram.
func (c patientConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	return c.UnixConn.Write(b)
}

// NewSupervisor returns one that writes each message to out, for tests.
func NewSupervisor(out io.Writer, watchdog time.Duration) *Supervisor {
	return &Supervisor{out: out, listens: true, watchdog: watchdog}
}

// watchdogOf is the time after which the service manager kills a silent process; 0 for none, or if another process is
// meant.
func watchdogOf(variable func(name string) string) time.Duration {
	if pid := variable("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	n, err := strconv.ParseInt(variable("WATCHDOG_USEC"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}

// Listens says whether anything takes the messages.
func (s *Supervisor) Listens() bool { return s.listens }

// Watchdog is the time after which a process is killed that has not sent WATCHDOG=1; 0 for none.
func (s *Supervisor) Watchdog() time.Duration { return s.watchdog }

// Notify sends assignments such as READY=1 in one message. A failure has no consequence: the service manager may have
// been started again.
func (s *Supervisor) Notify(assignments ...string) {
	for i := range assignments {
		assignments[i] = strings.ReplaceAll(assignments[i], "\n", " ")
	}
	_, _ = io.WriteString(s.out, strings.Join(assignments, "\n"))
}

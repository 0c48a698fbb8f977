package netns

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reaches says whether a datagram of one member arrives at another. A datagram that should arrive is sent again for up
// to a minute: the first ones after a change may be lost while the kernel asks for the address, and a busy kernel
// counts them late.
func (l *Land) reaches(t *testing.T, from, to int, want bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := func(argv []string) *exec.Cmd { return exec.CommandContext(ctx, argv[0], argv[1:]...) }
	received := func() string {
		said, err := run(l.In(to, "cat", "/proc/self/net/snmp")).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(said)) {
			if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "Udp:" && fields[1] != "InDatagrams" {
				return fields[2] // NoPorts: no listener is there
			}
		}
		t.Fatalf("no datagrams are counted: %s", said)
		return ""
	}
	before := received()
	for sent := 0; sent < 12 || want && ctx.Err() == nil; sent++ {
		send := l.In(from, "bash", "-c", "echo hello > /dev/udp/"+l.Address(to)+"/9")
		if said, err := run(send).CombinedOutput(); err != nil &&
			!strings.Contains(string(said), "refused") {
			t.Fatalf("%v: %s", err, said)
		}
		if received() != before {
			return true
		}
	}
	return false
}

func land(t *testing.T, members int) *Land {
	t.Helper()
	l, err := New(t.Context(), members)
	if errors.Is(err, ErrImpossible) {
		t.Skip(err) // not every machine gives leave to make them; bench/scenario/cluster has partitions without
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// Members reach each other; a part that is moved away reaches its own only; what is lost is lost one way; and all is
// well again after Mend.
func TestCutAndMended(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err) // what is sent here is sent by bash
	}
	l := land(t, 3)
	type way struct{ from, to int }
	all := []way{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}
	for _, c := range []struct {
		name string
		do   func() error
		cut  []way
	}{
		{"joined", func() error { return nil }, nil},
		{"parted", func() error { return l.Part(t.Context(), []int{1, 2}) }, []way{{0, 1}, {1, 0}, {0, 2}, {2, 0}}},
		{"mended", func() error { return l.Mend(t.Context()) }, nil},
		{"lost", func() error { return l.Lose(t.Context(), []int{2}, []int{0, 1}) }, []way{{2, 0}, {2, 1}}},
		{"mended again", func() error { return l.Mend(t.Context()) }, nil},
	} {
		if err := c.do(); err != nil {
			t.Fatal(c.name, err)
		}
		for _, w := range all {
			want := true
			for _, x := range c.cut {
				want = want && x != w
			}
			if got := l.reaches(t, w.from, w.to, want); got != want {
				t.Errorf("%s: from %d to %d %t, want %t", c.name, w.from, w.to, got, want)
			}
		}
	}
}

// No way leads out: a member has no other network than that of the members, and its loopback is its own.
func TestNobodyOutsideIsReached(t *testing.T) {
	l := land(t, 1)
	argv := l.In(0, "ip", "-4", "route", "show", "table", "all")
	said, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for line := range strings.Lines(string(said)) {
		if !strings.Contains(line, "10.77.0.") && !strings.Contains(line, "127.") {
			t.Errorf("a way out: %s", line)
		}
	}
	for _, argv := range [][]string{l.In(0, "readlink", "/proc/self/ns/net"), l.Hub("readlink", "/proc/self/ns/net")} {
		inside, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if outside, err := os.Readlink("/proc/self/ns/net"); err != nil ||
			strings.TrimSpace(string(inside)) == outside {
			t.Errorf("the namespace is ours: %s, %v", inside, err)
		}
	}
}

// Where a tool is missing, that is said, and what helps.
func TestImpossible(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Try(t.Context())
	if !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), "unshare") ||
		!strings.Contains(err.Error(), "util-linux") {
		t.Errorf("%v", err)
	}
}

// Too few and too many members are refused.
func TestMembers(t *testing.T) {
	for _, n := range []int{0, MembersMax + 1} {
		if _, err := New(t.Context(), n); err == nil || errors.Is(err, ErrImpossible) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

package bodyfile

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"

	"orbweaver/internal/vfs"
)

// domainOf is the registrable domain of the hosts of these tests.
func domainOf(host []byte) []byte {
	if i := bytes.IndexByte(host, '.'); bytes.Count(host, []byte(".")) > 1 {
		return host[i+1:]
	}
	return host
}

// address returns one of 2^16 addresses.
func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}) }

// openEndless opens a Store.
func openEndless(t *testing.T, disk vfs.FS) *Store {
	t.Helper()
	s, err := Open(Options{
		FS: disk, Dir: "bodies", DomainOf: domainOf, Warn: func(msg string, args ...any) { t.Error(msg, args) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A wildcard domain is one source: its other names at the same address are known, also after a restart. Other domains
// there are not, and neither is the domain elsewhere.
func TestEndless_aWildcardDomainIsOneSourceAlsoAfterARestart(t *testing.T) {
	disk := vfs.NewMem(1)
	s := openEndless(t, disk)
	if s.IsEndless([]byte("a.wild.test"), address(1)) {
		t.Error("known before its first body")
	}
	s.NoteEndless([]byte("a.wild.test"), address(1))
	s.NoteEndless([]byte("x.six.test"), netip.MustParseAddr("2001:db8::1"))
	for range 2 {
		for _, c := range []struct {
			host string
			at   netip.Addr
			want bool
		}{
			{"b.wild.test", address(1), true},
			{"wild.test", address(1), true},
			{"b.wild.test", address(2), false},
			{"b.other.test", address(1), false},
			{"y.six.test", netip.MustParseAddr("2001:db8::ffff"), true},
			{"y.six.test", netip.MustParseAddr("2001:db8:1::1"), false},
		} {
			if got := s.IsEndless([]byte(c.host), c.at); got != c.want {
				t.Errorf("%s at %s: %v", c.host, c.at, got)
			}
		}
		s = openEndless(t, disk)
	}
}

// Through a proxy no address is known. Then many domains with endless bodies say nothing about all others.
func TestEndless_withoutAddressesADomainIsASource(t *testing.T) {
	disk := vfs.NewMem(1)
	s := openEndless(t, disk)
	for n := range 2 * endlessSpread {
		s.NoteEndless(fmt.Appendf(nil, "a.wild%d.test", n), netip.Addr{})
	}
	for range 2 {
		if !s.IsEndless([]byte("b.wild3.test"), netip.Addr{}) {
			t.Error("a domain is not known by its other names")
		}
		if s.IsEndless([]byte("a.other.test"), netip.Addr{}) {
			t.Error("a domain counts that has sent nothing")
		}
		s = openEndless(t, disk)
	}
}

// A domain that has sent endless bodies from many addresses counts at each address, and an address of many such domains
// counts for each domain.
func TestEndless_spreads(t *testing.T) {
	s := openEndless(t, vfs.NewMem(1))
	for n := range endlessSpread {
		if s.IsEndless([]byte("b.wild.test"), address(99)) || s.IsEndless([]byte("z.test"), address(50)) {
			t.Errorf("after %d", n)
		}
		s.NoteEndless([]byte("a.wild.test"), address(n))
		s.NoteEndless(fmt.Appendf(nil, "d%d.test", n), address(50))
	}
	if !s.IsEndless([]byte("b.wild.test"), address(99)) || !s.IsEndless([]byte("z.test"), address(50)) {
		t.Error("does not spread")
	}
	if s.IsEndless([]byte("z.test"), address(99)) {
		t.Error("spreads too far")
	}
}

// The memory and the file are bounded: when they are used up, all are forgotten.
func TestEndless_isBounded(t *testing.T) {
	disk := vfs.NewMem(1)
	s := openEndless(t, disk)
	for n := range endlessMost {
		s.endless.note(fmt.Appendf(nil, "d%d.test", n), address(n))
	}
	if !s.IsEndless([]byte("d7.test"), address(7)) || len(s.endless.pairs) != endlessMost {
		t.Errorf("%d pairs", len(s.endless.pairs))
	}
	s.NoteEndless([]byte("more.test"), address(1))
	for range 2 {
		if s.IsEndless([]byte("d7.test"), address(7)) || !s.IsEndless([]byte("more.test"), address(1)) {
			t.Error("it grows without end")
		}
		s = openEndless(t, disk)
	}
}

// A file that is damaged or torn loses these lines and no other. The next line replaces the torn one.
func TestEndless_readsADamagedFile(t *testing.T) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("bodies"); err != nil {
		t.Fatal(err)
	}
	f, err := disk.Create("bodies/" + endlessName)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("a.test 198.18.0.1\n\x00\x00\n 1.2.3.4\nb.test 198.18.0.2\nc.test 198.1")); err != nil {
		t.Fatal(err)
	}
	s := openEndless(t, disk)
	s.NoteEndless([]byte("d.test"), address(4))
	for range 2 {
		for n, host := range map[int]string{1: "a.test", 2: "b.test", 4: "d.test"} {
			if !s.IsEndless([]byte(host), address(n)) {
				t.Errorf("%s is lost", host)
			}
		}
		if n := len(s.endless.pairs); n != 3 {
			t.Errorf("%d pairs", n)
		}
		s = openEndless(t, disk)
	}
}

package dnsres_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

func writeHosts(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Names in the hosts file have their addresses without a question, under every name of the line, whatever its case.
func TestHosts_namesInTheFileNeedNoQuestion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	writeHosts(t, path, `# a comment
127.0.0.1	localhost
192.0.2.7	docs.test  Www.Docs.Test	# and another
2001:db8::7 docs.test
192.0.2.8   docs.test
fe80::1%eth0 zone.test
not-an-address bad.test
192.0.2.9
`)
	story(t, dnsres.Options{HostsFile: path, IPv6: true}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("other.test", dnstest.Script{Addrs: []netip.Addr{ip1}})
		four, also, six := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8"),
			netip.MustParseAddr("2001:db8::7")
		wantAddrs(t, r.Resolve(t.Context(), "docs.test"), four, also, six)
		wantAddrs(t, r.Resolve(t.Context(), "WWW.docs.test."), four)
		if n := r.Stats().Exchanges; n != 0 {
			t.Errorf("%d questions", n)
		}
		wantAddrs(t, r.Resolve(t.Context(), "other.test"), ip1)
		for _, name := range []string{"bad.test", "zone.test"} {
			wantErr(t, r.Resolve(t.Context(), name), dnsres.ErrNotFound)
		}
	})
}

// Without IPv6 the file's addresses of that family do not count.
func TestHosts_keepsToTheFamily(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	writeHosts(t, path, "2001:db8::7 six.test both.test\n192.0.2.7 both.test\n")
	story(t, dnsres.Options{HostsFile: path}, func(t *testing.T, r *dnsres.Resolver, _ *dnstest.Server) {
		wantAddrs(t, r.Resolve(t.Context(), "both.test"), netip.MustParseAddr("192.0.2.7"))
		wantErr(t, r.Resolve(t.Context(), "six.test"), dnsres.ErrNotFound)
	})
}

// A changed file counts, and so does one that is removed or comes later.
func TestHosts_aChangedFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	story(t, dnsres.Options{HostsFile: path}, func(t *testing.T, r *dnsres.Resolver, _ *dnstest.Server) {
		wantErr(t, r.Resolve(t.Context(), "a.test"), dnsres.ErrNotFound)
		for i, want := range []string{"192.0.2.1", "192.0.2.20"} {
			writeHosts(t, path, want+" b.test\n")
			time.Sleep(2 * time.Second)
			wantAddrs(t, r.Resolve(t.Context(), "b.test"), netip.MustParseAddr(want))
			if a := r.Resolve(t.Context(), "b.test"); time.Until(a.Expires) > time.Hour {
				t.Errorf("change %d: the answer is valid for %v", i, time.Until(a.Expires))
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		wantErr(t, r.Resolve(t.Context(), "b.test"), dnsres.ErrNotFound)
	})
}

// FuzzHosts: no hosts file panics the reader, and every address that it gives is one that can be connected to.
func FuzzHosts(f *testing.F) {
	for _, text := range []string{
		"127.0.0.1 a.test b", "::1\tlocalhost # x", "\x00 y", "1.2.3.4 " + string(make([]byte, 300)),
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "hosts")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := new(dnstest.Server)
		r, err := dnsres.New(dnsres.Options{HostsFile: path, Upstreams: []netip.AddrPort{up1}, IPv6: true}, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.test", "b", "y"} {
			for _, addr := range r.Resolve(t.Context(), name).Addrs {
				if !addr.IsValid() || addr.Zone() != "" {
					t.Errorf("%s has %v", name, addr)
				}
			}
		}
	})
}

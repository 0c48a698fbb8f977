package load

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/origin"
)

// A proxy listens in the namespace that is named with it, which must be there; that is as well its own.
func TestProxyInANamespace(t *testing.T) {
	w, err := origin.New(simweb.Plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), w, Options{Proxy: "127.0.0.1:0@" + t.TempDir() + "/none"}); !errors.Is(
		err,
		fs.ErrNotExist,
	) ||
		!strings.Contains(err.Error(), "network namespace") {
		t.Errorf("no such namespace: %v", err)
	}
	if _, err := Start(t.Context(), w, Options{Proxy: "192.0.2.1:0@/proc/self/ns/net"}); err == nil ||
		!strings.Contains(err.Error(), "loopback only") {
		t.Errorf("not on loopback: %v", err)
	}
	s, err := Start(t.Context(), w, Options{Proxy: "127.0.0.1:0@/proc/self/ns/net"})
	if errors.Is(err, unix.EPERM) {
		t.Skip(err) // to enter a namespace takes CAP_SYS_ADMIN; bench/netns has a test that gets it
	}
	if err != nil {
		t.Fatal(err)
	}
	if p := s.ProxyAddr(); p.Port() == 0 || !p.Addr().IsLoopback() {
		t.Errorf("listens at %v", p)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

package journal

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine/state/limits"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
)

// servers answers by name.
type servers map[string]struct {
	err              error
	records, denials string
}

func (s servers) ResolveHeard(_ context.Context, name string, h *dnsres.Heard) dnsres.Answer {
	h.At, h.Server = time.Unix(1e9, 0), netip.MustParseAddrPort("192.0.2.53:53")
	h.Records, h.Denials = []byte(s[name].records), []byte(s[name].denials)
	return dnsres.Answer{Err: s[name].err}
}

// Addresses and denials are stored, a failure of name servers the first time only, and what was not heard never.
func TestRecorder_storesWhatNameServersAnswered(t *testing.T) {
	disk := vfstest.WithDir(t, "warc")
	w, err := warc.OpenWriter(disk, warc.Options{Dir: "warc", Prefix: "p", Host: "h", Compression: warc.None}, nil)
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := warc.NewEncoder(warc.EncoderOptions{Compression: warc.None})
	if err != nil {
		t.Fatal(err)
	}
	store := NewStore()
	store.Writer = w
	r := NewDNSRecorder(servers{
		"a.test":      {records: "a.test.\t60\tIN\tA\t192.0.2.1\n", denials: "; AAAA: no record\n"},
		"none.test":   {err: fmt.Errorf("%w: none.test", dnsres.ErrNotFound), denials: "; A: NXDOMAIN\n"},
		"failed.test": {err: fmt.Errorf("%w: failed.test", dnsres.ErrServer), denials: "; A: SERVFAIL\n"},
		"mute.test":   {err: fmt.Errorf("%w: mute.test", dnsres.ErrTimeout)},
	}, store, new(limits.Limits), encoder)
	first := true
	for _, name := range []string{"a.test", "none.test", "failed.test", "failed.test", "mute.test"} {
		if _, err := r.Resolve(t.Context(), name, func() bool { was := first; first = false; return was }); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := archived(t, disk)
	for part, want := range map[string]int{
		"WARC-Target-URI: dns:a.test\r\n": 1, "WARC-Target-URI: dns:none.test\r\n": 1,
		"WARC-Target-URI: dns:failed.test\r\n": 1, "mute.test": 0, "20010909014640\n": 3,
		"IN\tA\t192.0.2.1": 1, "AAAA: no record": 0, "; A: NXDOMAIN": 1, "; A: SERVFAIL": 1,
		"WARC-IP-Address: 192.0.2.53": 3, "Content-Type: " + warc.MediaDNS: 3,
	} {
		if got := strings.Count(text, part); got != want {
			t.Errorf("%q is there %d times, want %d", part, got, want)
		}
	}
}

// archived is the content of the WARC files.
func archived(t *testing.T, disk vfs.FS) string {
	t.Helper()
	files, err := warc.Files(disk, "warc")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range files {
		b, err := vfs.ReadFile(disk, "warc/"+f.Name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	return text.String()
}

type plain struct{ asked int }

func (p *plain) Resolve(context.Context, string) dnsres.Answer {
	p.asked++
	return dnsres.Answer{Err: dnsres.ErrName}
}

// A Source without records asks the resolver, and does not ask whether a failure is the first.
func TestUnrecorded_asksTheResolver(t *testing.T) {
	p := new(plain)
	answer, err := Unrecorded{p}.Resolve(t.Context(), "a.test", nil)
	if err != nil || answer.Err == nil || p.asked != 1 {
		t.Errorf("%+v, %v, asked %d times", answer, err, p.asked)
	}
}

package identity

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"
)

const year = 365 * 24 * time.Hour

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func makeAuthority(t testing.TB) *Authority {
	t.Helper()
	a, err := New("crawl-1", noon(), 10*year)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func fileOf(t testing.TB, a *Authority, id string, life time.Duration, after uint64) []byte {
	t.Helper()
	card, err := a.Issue(id, noon(), life, after)
	if err != nil {
		t.Fatal(err)
	}
	b, err := card.File()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What was issued is read back: the ID of the agent, its crawl and the common gossip key, signed by the authority for
// both ends.
func TestParse_readsWhatWasIssued(t *testing.T) {
	a := makeAuthority(t)
	id, err := Parse(fileOf(t, a, "agent-1", year, 0), noon().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if id.ID != "agent-1" || id.Crawl != "crawl-1" || !id.NotAfter().Equal(noon().Add(year)) {
		t.Errorf("%+v", id)
	}
	if !sameKeys(id.GossipKeys, a.GossipKeys) || len(id.GossipKeys) != 1 || len(id.GossipKeys[0].Key) != GossipKeySize {
		t.Errorf("%+v", id)
	}
	roots := x509.NewCertPool()
	roots.AddCert(id.Authority)
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
		if _, err := id.Certificate.Leaf.Verify(x509.VerifyOptions{
			Roots: roots, CurrentTime: noon(), DNSName: ServerName, KeyUsages: []x509.ExtKeyUsage{use},
		}); err != nil {
			t.Error(err)
		}
	}
	other := makeAuthority(t)
	if sameKeys(other.GossipKeys, a.GossipKeys) {
		t.Error("two crawls have one key")
	}
}

// An agent's certificate cannot sign another's: not by the file that is made, nor on the wire.
func TestIssue_anAgentIsNoAuthority(t *testing.T) {
	a := makeAuthority(t)
	id, err := a.Issue("agent-1", noon(), year, 0)
	if err != nil {
		t.Fatal(err)
	}
	usurper := &Authority{
		Crawl: a.Crawl, GossipKeys: a.GossipKeys, Leaf: id.Certificate.Leaf,
		key: id.Certificate.PrivateKey.(crypto.Signer),
	}
	forged, err := usurper.Issue("agent-2", noon(), year, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := forged.File()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(file, noon()); err == nil {
		t.Error("the file is taken")
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(a.Leaf)
	between.AddCert(id.Certificate.Leaf)
	if _, err := forged.Certificate.Leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: noon(), DNSName: ServerName,
	}); err == nil {
		t.Error("the certificate is taken")
	}
}

// The authority's files are read back, and go on issuing for the same crawl.
func TestParseAuthority_readsItsFiles(t *testing.T) {
	a := makeAuthority(t)
	certificate, secret, err := a.Files()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseAuthority(certificate, secret)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(fileOf(t, b, "agent-2", year, 0), noon()); err != nil || !sameKeys(b.GossipKeys, a.GossipKeys) {
		t.Error(err)
	}
	if bytes.Contains(certificate, []byte("PRIVATE")) {
		t.Error("the certificate's file holds the key")
	}
	other, _, err := makeAuthority(t).Files()
	if err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string][2][]byte{
		"do not belong together": {other, secret},
		"0 blocks CERTIFICATE":   {nil, secret},
		"0 blocks PRIVATE KEY":   {certificate, nil},
		"1 blocks PRIVATE KEY":   {secret, secret},
	} {
		if _, err := ParseAuthority(files[0], files[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

// A certificate is not good for longer than its authority, and what comes later is of a later generation, even if the
// clock went back.
func TestIssue_endsWithItsAuthorityAndGenerationsGrow(t *testing.T) {
	a, err := New("crawl-1", noon(), 10*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	id, err := a.Issue("x", noon(), year, 0)
	if err != nil || !id.NotAfter().Equal(a.Leaf.NotAfter) {
		t.Fatal(err)
	}
	warning := id.Warning(noon())
	if !strings.Contains(warning, "ends in 10 days") || !strings.Contains(warning, "orbweaver ca init") {
		t.Error(warning)
	}
	first := Generation(id.Certificate.Leaf)
	later, err := a.Issue("x", noon().Add(-time.Hour), time.Hour, first)
	if err != nil || Generation(later.Certificate.Leaf) <= first {
		t.Error(err)
	}
	_, err = a.Issue("x", noon().Add(year), year, 0)
	if err == nil || !strings.Contains(err.Error(), "orbweaver ca init") {
		t.Error(err)
	}
	for _, bad := range []string{"", ".x", "a/b", "a b", strings.Repeat("x", 65), "ä"} {
		if _, err := a.Issue(bad, noon(), year, 0); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	if _, err := a.Issue("x", noon(), 0, 0); err == nil {
		t.Error("it ends before it begins")
	}
}

// An end that is near is warned of; one that is past, or a beginning that is to come, is a fault. Each says what to do.
func TestParse_timeAndItsRemedies(t *testing.T) {
	file := fileOf(t, makeAuthority(t), "x", year, 0)
	for _, c := range []struct {
		after          time.Duration
		warning, fault string
	}{
		{0, "", ""},
		{year - 31*24*time.Hour, "", ""},
		{year - 29*24*time.Hour, "ends in 29 days, on 2027-11-01: make a new file (\"orbweaver ca issue x --force\"", ""},
		{year + time.Second, "", "ended on 2027-11-01: make a new file (\"orbweaver ca issue x --force\""},
		{11 * year, "", "its authority ends with it"},
		{-24 * time.Hour, "", ""},
		{-48 * time.Hour, "", "is the clock of this machine right?"},
	} {
		now := noon().Add(c.after)
		id, err := Parse(file, now)
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("after %v: %v", c.after, err)
		}
		if id == nil {
			continue
		}
		if said := id.Warning(now); (said == "") != (c.warning == "") || !strings.Contains(said, c.warning) {
			t.Errorf("after %v: %q", c.after, said)
		}
	}
}

// A machine whose clock is a day behind, or ahead, takes a file that was made a moment ago.
func TestG09_aClockThatIsADayOff(t *testing.T) {
	file := fileOf(t, makeAuthority(t), "x", year, 0)
	for _, off := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		if _, err := Parse(file, noon().Add(off)); err != nil {
			t.Errorf("a clock that is off by %v: %v", off, err)
		}
	}
}

// Whatever is wrong with a file is told, all at once.
func TestParse_tellsAllFaults(t *testing.T) {
	a, b := makeAuthority(t), makeAuthority(t)
	one, two := blocks(fileOf(t, a, "one", year, 0)), blocks(fileOf(t, b, "two", year, 0))
	b.Crawl = "crawl-2"
	three := blocks(fileOf(t, b, "three", year, 0))
	short := &pem.Block{Type: blockCrawl, Headers: map[string]string{headerCrawl: "a b"}, Bytes: []byte("short")}
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"empty": {nil, []string{"0 blocks CERTIFICATE", "0 blocks PRIVATE KEY", "0 blocks ORBWEAVER CRAWL"}},
		"text":  {[]byte("hello"), []string{"5 bytes at its end are no PEM"}},
		"key of another": {joined(one[0], two[1], one[2], one[3]),
			[]string{"key and certificate do not belong together"}},
		"others' parts": {joined(one[0], two[1], two[2], three[3]),
			[]string{"parts of two files", "do not belong together", "was not signed by"}},
		"two keys":        {joined(one[0], one[1], one[1], one[2], one[3]), []string{"2 blocks PRIVATE KEY"}},
		"no authority":    {joined(one[0], one[0], one[1], one[3]), []string{"was not signed by"}},
		"two authorities": {joined(one[2], one[2], one[1], one[3]), []string{"is not an agent's", "do not belong together"}},
		"damaged": {
			joined(&pem.Block{Type: blockCertificate, Bytes: []byte("x")}, &pem.Block{Type: blockKey}, short,
				&pem.Block{Type: "EC PARAMETERS"}),
			[]string{"a certificate cannot be read", "the key cannot be read", "the gossip key has 5 bytes", `"a b"`,
				`"EC PARAMETERS" does not belong`},
		},
		"huge": {make([]byte, FileMax+1), []string{"want at most"}},
	} {
		_, err := Parse(c.file, noon())
		if !errors.Is(err, ErrFile) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v lacks %q", name, err, want)
			}
		}
	}
	if _, err := Parse(joined(one[3], one[2], one[1], one[0]), noon()); err != nil {
		t.Errorf("in another order: %v", err)
	}
	if GenerationIn(joined(one[2], one[0])) == 0 || GenerationIn([]byte("nothing")) != 0 {
		t.Error("generations are not found")
	}
}

func blocks(file []byte) (all []*pem.Block) {
	for {
		block, rest := pem.Decode(file)
		if block == nil {
			return all
		}
		all, file = append(all, block), rest
	}
}

func joined(all ...*pem.Block) (file []byte) {
	for _, b := range all {
		file = append(file, pem.EncodeToMemory(b)...)
	}
	return file
}

// Whatever comes is refused or is what a file of it would say.
func FuzzParse(f *testing.F) {
	a := makeAuthority(f)
	file := fileOf(f, a, "agent-1", year, 0)
	_, secret, err := a.Files()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(secret)
	for _, b := range blocks(file) {
		f.Add(pem.EncodeToMemory(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = ParseAuthority(b, b)
		_ = GenerationIn(b)
		id, err := Parse(b, noon())
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Fatal(err)
			}
			return
		}
		again, err := id.File()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(again, noon()); err != nil || back.ID != id.ID || back.Crawl != id.Crawl {
			t.Fatal(err)
		}
	})
}

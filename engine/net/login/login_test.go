package login

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
)

func read(r io.Reader) (*Logins, error) {
	l := new(Logins)
	return l, l.Add(r)
}

// passwordFor is the name and password that a site gets; empty for none.
func passwordFor(t *testing.T, l *Logins, site string) string {
	t.Helper()
	line, trustedOnly := l.Line([]byte(site))
	word := strings.TrimSuffix(strings.TrimPrefix(string(line), "Authorization: Basic "), "\r\n")
	secret, err := base64.StdEncoding.DecodeString(word)
	if err != nil {
		t.Error(err)
	}
	if trustedOnly && line != nil {
		return string(secret) + " (trusted)"
	}
	return string(secret)
}

// A password goes to its host over HTTPS, to the sites of its seeds, and to no other port, scheme or host.
func TestRead_passwordsGoToTheirSites(t *testing.T) {
	l, err := read(strings.NewReader("machine Private.Example.org login me password s3cret\n" +
		"machine 192.0.2.1\n  login you\n  password \"x\n  account none\n" +
		"machine http://intranet:8080 login we password y\n"))
	if err != nil || l.Count() != 3 {
		t.Fatal(l, err)
	}
	l.AddSeed([]byte("http://192.0.2.1:8000/start?q"))
	l.AddSeed([]byte("http://other.example.org/"))
	for site, want := range map[string]string{
		"https://private.example.org": "me:s3cret (trusted)", "http://private.example.org": "",
		"https://private.example.org:8443": "", "http://private.example.org:443": "",
		"https://192.0.2.1": `you:"x (trusted)`, "http://192.0.2.1:8000": `you:"x`, "http://192.0.2.1": "",
		"https://192.0.2.1:8000": "",
		"http://intranet:8080":   "we:y", "https://intranet": "", "http://intranet": "",
		"https://example.org": "", "https://a.private.example.org": "", "http://other.example.org": "",
	} {
		if got := passwordFor(t, l, site); got != want {
			t.Errorf("%s: %q, want %q", site, got, want)
		}
	}
	if line, _ := new(Logins).Line([]byte("https://a.test")); line != nil {
		t.Errorf("without a file: %q", line)
	}
	new(Logins).AddSeed([]byte("https://a.test/"))
}

// What would send a password to the wrong host, or none, is refused, and the message does not tell it.
func TestRead_refusesWhatIsNotNetrc(t *testing.T) {
	for _, text := range []string{
		"default login me password s3cret", "machine a.test", "machine a.test password s3cret", "login me password s3cret",
		"s3cretword", "machine a/b login me password s3cret", "machine a.test login a:b password s3cret",
		"machine a.test:8080 login me password s3cret", "machine ftp://a.test login me password s3cret",
		"machine http://a.test/b login me password s3cret",
	} {
		if l, err := read(strings.NewReader(text)); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
}

// A file that an editor has saved in another form has the same passwords. A mistake is named by its line.
func TestRead_ofAllEditors(t *testing.T) {
	const text = "# ours\nmachine a.test\n  login me password p#1\n\n#machine b.test login you password x\n"
	var wide []byte
	for _, c := range text {
		wide = append(wide, 0, byte(c))
	}
	for what, in := range map[string]string{
		"LF": text, "BOM, CR LF": "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), "UTF-16": string(wide),
		"CR": strings.ReplaceAll(text, "\n", "\r"),
	} {
		l, err := read(strings.NewReader(in))
		if err != nil || l.Count() != 1 || passwordFor(t, l, "https://a.test") != "me:p#1 (trusted)" {
			t.Errorf("%s: %v, %v", what, l, err)
		}
	}
	for _, wrong := range []string{"login me\nsecret", "login me password x\nmachine", "password x\n\nmachine b.test"} {
		_, err := read(strings.NewReader("\nmachine a.test " + wrong))
		if err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// FuzzRead: no file panics the reader, and no line of a head that it makes is two lines.
func FuzzRead(f *testing.F) {
	f.Add("machine a.test login me password x")
	f.Add("machine \x00 login")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, lines := range []map[string][]byte{l.hosts, l.sites} {
			for host, line := range lines {
				if strings.Count(string(line), "\n") != 1 || host == "" {
					t.Errorf("%q: %q", host, line)
				}
			}
		}
	})
}

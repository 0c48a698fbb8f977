package login

import (
	"encoding/base64"
	"strings"
	"testing"
)

// Each host of a file has its own line, under its normal form.
func TestRead_hostsHaveTheirOwnPasswords(t *testing.T) {
	l, err := Read(strings.NewReader("machine Private.Example.org login me password s3cret\n" +
		"machine 192.0.2.1\n  login you\n  password \"x\n  account none\n"))
	if err != nil || l.Count() != 2 {
		t.Fatal(l, err)
	}
	for host, want := range map[string]string{
		"private.example.org": "me:s3cret", "192.0.2.1": `you:"x`, "example.org": "", "a.private.example.org": "",
	} {
		line := strings.TrimSuffix(strings.TrimPrefix(string(l.Line([]byte(host))), "Authorization: Basic "), "\r\n")
		if got, err := base64.StdEncoding.DecodeString(line); err != nil || string(got) != want {
			t.Errorf("%s: %q, want %q: %v", host, got, want, err)
		}
	}
	if line := new(Logins).Line([]byte("a.test")); line != nil {
		t.Errorf("without a file: %q", line)
	}
}

// What would send a password to the wrong host, or none, is refused, and the message does not tell it.
func TestRead_refusesWhatIsNotNetrc(t *testing.T) {
	for _, text := range []string{
		"default login me password s3cret", "machine a.test", "machine a.test password s3cret", "login me password s3cret",
		"s3cretword", "machine a/b login me password s3cret", "machine a.test login a:b password s3cret",
	} {
		if l, err := Read(strings.NewReader(text)); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
}

// FuzzRead: no file panics the reader, and no line of a head that it makes is two lines.
func FuzzRead(f *testing.F) {
	f.Add("machine a.test login me password x")
	f.Add("machine \x00 login")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for host, line := range l.lines {
			if strings.Count(string(line), "\n") != 1 || host == "" {
				t.Errorf("%q: %q", host, line)
			}
		}
	})
}

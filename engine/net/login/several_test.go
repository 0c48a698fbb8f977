package login

import (
	"strings"
	"testing"
)

// Of two files the later one decides about a host that both name. Each counts its lines from 1.
func TestLogins_ofSeveralFiles(t *testing.T) {
	l := new(Logins)
	for _, text := range []string{
		"machine a.test login old password x\nmachine b.test login b password y\n", "machine a.test login new password z\n",
	} {
		if err := l.Add(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	for site, want := range map[string]string{"https://a.test": "new:z (trusted)", "https://b.test": "b:y (trusted)"} {
		if got := passwordFor(t, l, site); got != want {
			t.Errorf("%s gets %q, want %q", site, got, want)
		}
	}
	err := l.Add(strings.NewReader("\ndefault login a password b\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("a default entry: %v", err)
	}
}
